"""Where is kept what is kept for how long, and what is past its time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

from corpus2skill.domain.retention import LegalHold, RetentionPolicy, RetentionState

PastKind = Literal["audit", "events", "deliveries"]
"""What is found by its age alone."""


class RetentionStore(Protocol):
    def state(self, tenant: str) -> RetentionState:
        """A policy that keeps everything, where none was set."""
        ...

    def set_policy(self, tenant: str, policy: RetentionPolicy, at: str) -> RetentionState: ...

    def note_run(self, tenant: str, at: str, counts: Mapping[str, int]) -> None: ...

    def tenants(self) -> tuple[str, ...]:
        """Those that have set a policy, by name."""
        ...

    def holds(self, tenant: str) -> tuple[LegalHold, ...]:
        """Oldest first."""
        ...

    def place(self, hold: LegalHold) -> None: ...

    def lift(self, tenant: str, hold: str) -> LegalHold:
        """Raises: ThingNotFound."""
        ...

    def count_past(self, tenant: str, kind: PastKind, before: str) -> int:
        """How many `forget_past` would remove."""
        ...

    def forget_past(self, tenant: str, kind: PastKind, before: str) -> int:
        """Remove what is older and return how many it were.

        Events of runs are left to those who delete conversations. The last event of a topic stays, so that its
        numbers go on.
        """
        ...

    def wipe(self) -> None:
        """Make what was deleted from the server's database unreadable in its files, too.

        Raises:
            Busy: somebody has been reading for too long; it may still stand in a log, until the next time.
        """
        ...

    def idle_sessions(self, tenant: str, before: str) -> tuple[tuple[str, str, str | None], ...]:
        """Session, corpus and end user of all conversations that were last asked something before then."""
        ...
