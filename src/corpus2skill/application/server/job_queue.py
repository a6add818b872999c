"""Whose turn it is: one job of a corpus at a time, so many of a tenant, and no tenant behind another's queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from corpus2skill.ports.jobs import QueuedJob, RunningJob


def next_job(
    queued: Sequence[QueuedJob],
    running: Sequence[RunningJob],
    served: Mapping[str, int],
    *,
    per_tenant: int,
) -> QueuedJob | None:
    """Return the job to begin now; None where none may.

    The tenant with the fewest running jobs comes first, of equal ones the one that was served longest ago
    (`served`: a number that grows, by tenant), of its corpora the one whose job is the oldest.
    """
    busy = {(job.tenant, job.corpus) for job in running}
    at_work = Counter(job.tenant for job in running)
    free = [
        job for job in queued if (job.tenant, job.corpus) not in busy and at_work[job.tenant] < per_tenant
    ]
    return min(free, key=lambda job: (at_work[job.tenant], served.get(job.tenant, 0), job.job), default=None)
