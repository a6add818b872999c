"""Where the tokens of programs are kept."""

from __future__ import annotations

from typing import Protocol

from corpus2skill.domain.api_token import ApiToken


class TokenStore(Protocol):
    def add(self, token: ApiToken, digest: str) -> None:
        """Keep a new token under the digest of its secret.

        Raises:
            Conflict: the tenant has a token of this name that is neither revoked nor run out.
        """
        ...

    def by_digest(self, digest: str) -> ApiToken | None:
        """The token whose secret has this digest, whatever its state; None where there is none."""
        ...

    def tokens(self, tenant: str) -> tuple[ApiToken, ...]:
        """Oldest first, revoked ones too."""
        ...

    def revoke(self, tenant: str, token: str, at: str) -> ApiToken:
        """Revoke at once and for good; one that was revoked before keeps its time.

        Raises:
            ThingNotFound: the tenant has no such token.
        """
        ...

    def touch(self, token: str, at: str) -> None:
        """Note when it was last used."""
        ...
