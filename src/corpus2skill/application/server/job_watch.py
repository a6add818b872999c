"""Who has died: told by beats that no longer grow. No clock is asked that could jump."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from corpus2skill.application.server.job_turns import becoming, turn_job
from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.server_job import Cause, ServerJob
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.ports.clock import Clock

_log = logging.getLogger(__name__)

LEASE_SECONDS = 30.0
"""Whoever has not moved for so long is taken for dead."""
_LOOKS_OF_A_LEASE = 6
"""So often at least somebody is looked at before."""


class Stillness:
    """Which counters have stood still for how long, by this process's own steady clock."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._seen: dict[str, tuple[int, float]] = {}
        self._looked_at = clock.monotonic()

    def still(self, counters: Mapping[str, int]) -> frozenset[str]:
        """Names of the counters that have not changed for so long; those never seen before begin now."""
        now = self._clock.monotonic()
        # A gap in which nobody could look says nothing of those who could not be seen.
        passed = min(now - self._looked_at, self._seconds / _LOOKS_OF_A_LEASE)
        self._looked_at = now
        before, self._seen = self._seen, {}
        for name, count in counters.items():
            was = before.get(name)
            is_still = was is not None and was[0] == count
            self._seen[name] = (count, was[1] + passed if was is not None and is_still else 0.0)
        return frozenset(name for name, (_, still) in self._seen.items() if still >= self._seconds)


class JobWatch:
    """Turns running jobs that nobody works on any more into stalled ones. Any process may watch."""

    def __init__(self, server: Server, lease_seconds: float = LEASE_SECONDS) -> None:
        self._server = server
        self._jobs = Stillness(server.clock, lease_seconds)
        self._workers = Stillness(server.clock, lease_seconds)
        self.has_worker = False
        """True where a worker has been seen to live, within the lease."""

    def look(self) -> None:
        """Look once; to be called every few seconds.

        Raises:
            WorkspaceUnusable, Busy: the database cannot be read or written.
        """
        alive = {worker.worker: worker.beats for worker in self._server.workers.alive()}
        still = self._workers.still(alive)
        self.has_worker = len(still) < len(alive)
        running = {job.job: job for job in self._server.jobs.running()}
        counters = {name: job.attempt * 1_000_000_000 + job.beats for name, job in running.items()}
        for name in self._jobs.still(counters):
            stall(self._server, running[name].tenant, name, running[name].attempt)


async def watch_jobs(server: Server, stop: asyncio.Event) -> None:
    """Look again and again until `stop` is set: the worker itself cannot say that it is dead."""
    watch = JobWatch(server)
    while not stop.is_set():
        with suppress(TimeoutError):
            async with asyncio.timeout(LEASE_SECONDS / _LOOKS_OF_A_LEASE):
                await stop.wait()
        try:
            await asyncio.to_thread(watch.look)
        except Corpus2SkillError:
            _log.warning("jobs cannot be looked after now; tried again", exc_info=True)


def stall(server: Server, tenant: str, job: str, attempt: int) -> None:
    """Turn a running job whose worker is gone into a stalled one, to be taken up by the next worker."""

    def turn(was: ServerJob) -> ServerJob | None:
        if was.state != "running" or was.attempt != attempt:
            return None
        if was.is_cancelling:
            return becoming(server, was, "cancelled")
        stalled = becoming(server, was, "stalled", Cause(code="worker_gone"))
        return replace(stalled, retry_at=moment_of(server.clock.now()))

    if turn_job(server, tenant, job, turn) is not None:
        _log.warning("job %s stalled: nobody has worked on its attempt %d for a while", job, attempt)
