"""Events that are kept, by topic: whoever watches may come late, leave and come back."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from corpus2skill.domain.event_log import LoggedEvent, NewEvent


class EventLog(Protocol):
    def append(self, tenant: str, topic: str, events: Sequence[NewEvent]) -> int:
        """Append events in order and return the number of the last one."""
        ...

    def append_all(self, batches: Sequence[tuple[str, str, Sequence[NewEvent]]]) -> tuple[int, ...]:
        """Append events to several topics, given as `(tenant, topic, events)`, in one step.

        Returns the number of the last event of each. The disk is not waited for: the machine's own death may
        take the last ones, the death of the process not.
        """
        ...

    def since(self, tenant: str, topic: str, after: int, limit: int = 500) -> tuple[LoggedEvent, ...]:
        """Events numbered above `after`, in order; empty for a topic that there is not."""
        ...

    def newest(self, topics: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], int]:
        """Number of the last event of each `(tenant, topic)`; one question for all that are watched."""
        ...

    def forget(self, tenant: str, topic: str) -> None:
        """Remove a topic with all its events."""
        ...
