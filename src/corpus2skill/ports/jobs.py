"""Where jobs are kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from corpus2skill.domain.server_job import Estimate, JobState, Progress, ServerJob


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedJob:
    """The oldest queued job of one corpus."""

    tenant: str
    corpus: str
    job: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningJob:
    """A job that somebody works on, in few words."""

    tenant: str
    corpus: str
    job: str
    attempt: int
    worker: str
    beats: int
    is_cancelling: bool


class JobStore(Protocol):
    def add(self, job: ServerJob) -> None:
        """Keep a new job."""
        ...

    def job(self, tenant: str, job: str) -> ServerJob:
        """
        Raises:
            ThingNotFound: the tenant has no such job.
        """
        ...

    def jobs(
        self,
        tenant: str,
        *,
        corpus: str | None = None,
        states: Collection[JobState] = (),
        before: str | None = None,
        limit: int = 100,
    ) -> tuple[ServerJob, ...]:
        """The newest first; no states: all of them. `before` is the id of the oldest one seen so far."""
        ...

    def change(
        self, tenant: str, job: str, turn: Callable[[ServerJob], ServerJob | None]
    ) -> ServerJob | None:
        """Replace a job by what `turn` makes of it; None leaves it, and None is returned.

        No two changes of a job are made at the same time. `progress` and `beats` have their own methods and
        stay what they are.

        Raises:
            ThingNotFound: the tenant has no such job.
        """
        ...

    def save_progress(self, tenant: str, job: str, attempt: int, progress: Progress) -> bool:
        """Replace how far a running job is; False where another attempt, or none, is running now."""
        ...

    def count_by_state(self) -> Mapping[str, int]:
        """How many jobs of all tenants there are in each state that any is in."""
        ...

    def queued(self) -> tuple[QueuedJob, ...]:
        """The oldest queued job of every corpus of every tenant, oldest first."""
        ...

    def running(self) -> tuple[RunningJob, ...]:
        """All tenants' running jobs, oldest first."""
        ...

    def stalled_with_retry(self) -> tuple[ServerJob, ...]:
        """All tenants' stalled jobs that are to be tried again by themselves."""
        ...

    def beat(self, worker: str, jobs: Collection[str]) -> None:
        """Say that `worker` works on these jobs. What is lost in a power cut is only the saying."""
        ...

    def add_estimate(self, estimate: Estimate) -> None:
        """Keep what was shown."""
        ...

    def estimate(self, tenant: str, estimate: str) -> Estimate:
        """
        Raises:
            ThingNotFound: the tenant has no such estimate.
        """
        ...
