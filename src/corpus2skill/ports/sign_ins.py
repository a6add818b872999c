"""Links that work once, and the sessions of browsers."""

from __future__ import annotations

from typing import Protocol

from corpus2skill.domain.sign_in import LinkKind, OneTimeLink, WebSession


class LinkStore(Protocol):
    def add(self, link: OneTimeLink, digest: str) -> None:
        """Keep a new link under the digest of its secret. Those that ran out a month ago are forgotten."""
        ...

    def by_digest(self, kind: LinkKind, digest: str) -> OneTimeLink | None:
        """The link of this kind whose secret has this digest, whatever its state."""
        ...

    def links(self, tenant: str, kind: LinkKind) -> tuple[OneTimeLink, ...]:
        """Oldest first, used and revoked ones too."""
        ...

    def use(self, kind: LinkKind, digest: str, now: str) -> OneTimeLink:
        """Use up a link; of several who try at once one succeeds.

        Raises:
            NotFound: there is no such link, or it is used, revoked or run out.
        """
        ...

    def revoke(self, tenant: str, kind: LinkKind, link: str, now: str) -> OneTimeLink:
        """Revoke at once and for good; one that is used or revoked stays as it is.

        Raises:
            ThingNotFound: the tenant has no such link.
        """
        ...

    def revoke_of(self, person: str, kind: LinkKind, now: str) -> None:
        """Revoke all living links of a kind that are for a person."""
        ...


class WebSessionStore(Protocol):
    def add(self, session: WebSession, digest: str) -> None:
        """Keep a new session under the digest of its cookie. Those that are over are forgotten."""
        ...

    def by_digest(self, digest: str) -> WebSession | None:
        """The session whose cookie has this digest; None where there is none or it was ended."""
        ...

    def sessions(self, person: str) -> tuple[WebSession, ...]:
        """Of a person, in all tenants, oldest first."""
        ...

    def touch(self, session: str, now: str) -> None:
        """Note when it was last used."""
        ...

    def move(self, session: str, tenant: str) -> None:
        """Have it look at another tenant."""
        ...

    def end(self, person: str, session: str) -> None:
        """End a session of a person at once.

        Raises:
            ThingNotFound: the person has no such session.
        """
        ...

    def end_all(self, person: str, *, but: str | None = None) -> int:
        """End all sessions of a person, or all others; return how many."""
        ...
