"""Where a server keeps whose conversations and runs are."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from corpus2skill.domain.hosted import Asker, HostedRun, HostedSession


class HostedStore(Protocol):
    def add_session(self, session: HostedSession) -> None: ...

    def session(self, tenant: str, session: str) -> HostedSession:
        """Raises: ThingNotFound."""
        ...

    def sessions(self, asker: Asker, *, before: str | None = None, limit: int) -> tuple[HostedSession, ...]:
        """Those that belong to `asker`, newest first; `before` is the id of the last one seen."""
        ...

    def sessions_of(self, tenant: str, end_user: str) -> tuple[str, ...]:
        """Ids of all conversations of an end user, or of a person by their own id, whichever program they used."""
        ...

    def drop_sessions(self, tenant: str, sessions: Collection[str]) -> None:
        """Forget these conversations, and which runs were of them. Unknown ones are passed over."""
        ...

    def add_run(self, run: HostedRun) -> None:
        """Note that a run begins; its conversation is marked as asked."""
        ...

    def run(self, tenant: str, run: str) -> HostedRun:
        """Raises: ThingNotFound."""
        ...

    def runs(
        self, tenant: str, session: str, *, before: str | None = None, limit: int
    ) -> tuple[HostedRun, ...]:
        """Runs of a conversation, newest first; `before` is the id of the last one seen."""
        ...

    def renew(self, owner: str, lease_until: float) -> None:
        """Prolong the lease of all unfinished runs of `owner`."""
        ...

    def unfinished(self) -> tuple[HostedRun, ...]:
        """Of all tenants and owners."""
        ...

    def claim(self, run: HostedRun, owner: str, lease_until: float) -> bool:
        """Make `owner` the owner of an unfinished run; False where it has another one than `run` says by now."""
        ...

    def finish(self, tenant: str, run: str, at: str) -> None:
        """Mark a run as finished."""
        ...

    def drop_run(self, tenant: str, run: str) -> None:
        """Forget a run that never came about."""
        ...

    def finished_before(self, at: str, limit: int) -> tuple[HostedRun, ...]:
        """Runs finished before then whose events were not forgotten yet, oldest first."""
        ...

    def events_forgotten(self, tenant: str, run: str) -> None:
        """Note that the events of a finished run are gone."""
        ...
