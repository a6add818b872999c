"""Where the queue of runs to be looked at is kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from corpus2skill.domain.review import USUAL_REASONS, BranchCount, ReviewEntry, ReviewReason, ReviewState
from corpus2skill.ports.store import RecordFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewFilter:
    """Which entries. Of `records` all is heeded but `limit`; what people said of answers is `reasons`."""

    reasons: Collection[ReviewReason] = USUAL_REASONS
    states: Collection[ReviewState] = ("open",)
    branch: str | None = None
    records: RecordFilter = RecordFilter()


class ReviewStore(Protocol):
    def put(self, entry: ReviewEntry) -> None:
        """Keep what is known of a run: a new entry, or, of one that is here, all but what somebody made of it.

        One without a reason is not kept, and taken away where nobody has made anything of it.
        """
        ...

    def entry(self, tenant: str, run: str) -> ReviewEntry:
        """Raises: ThingNotFound."""
        ...

    def entries(self, tenant: str, which: ReviewFilter, limit: int) -> tuple[ReviewEntry, ...]:
        """The newest first."""
        ...

    def branches(self, tenant: str, which: ReviewFilter, limit: int) -> tuple[BranchCount, ...]:
        """Entries by corpus and branch, most of them first; what a list goes on from is not heeded."""
        ...

    def change(self, tenant: str, run: str, turn: Callable[[ReviewEntry], ReviewEntry]) -> ReviewEntry:
        """Replace what somebody made of an entry. No two changes of an entry are made at the same time.

        Raises:
            ThingNotFound.
        """
        ...

    def forget(self, tenant: str, runs: Collection[str]) -> None:
        """Remove the entries of these runs; those without one are passed over."""
        ...


class BranchVisits(Protocol):
    """How often the nodes of a version were come to. Nothing of who or why."""

    def count(self, tenant: str, corpus: str, version: int, visits: Mapping[str, int]) -> None:
        """Add so many visits to node paths."""
        ...

    def visits(self, tenant: str, corpus: str, version: int, paths: Collection[str]) -> Mapping[str, int]:
        """How often each was come to; those never come to are left out."""
        ...

    def forget(self, tenant: str, corpus: str | None = None, version: int | None = None) -> None:
        """Begin again from nothing: all of the tenant, of a corpus, or of a version."""
        ...
