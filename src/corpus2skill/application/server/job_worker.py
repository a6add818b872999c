"""The worker's work on jobs: take them up in turn, say how far they are, stop them, let them go on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from corpus2skill.application.server.exams import examine_compiled
from corpus2skill.application.server.job_attempt import JobAttempt, Outcome
from corpus2skill.application.server.job_money import paid_for_corpus, with_all_money
from corpus2skill.application.server.job_pace import is_to_be_told
from corpus2skill.application.server.job_queue import next_job
from corpus2skill.application.server.job_turns import (
    becoming,
    failed_event,
    progress_event,
    tell_state,
    turn_job,
)
from corpus2skill.application.server.job_watch import LEASE_SECONDS, Stillness, stall
from corpus2skill.application.server.waiting_jobs import key_came_meanwhile
from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.event_log import job_topic
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.server_job import Ending, JobMoney, Progress, ServerJob, failed_item
from corpus2skill.ports.job_engine import JobEngine
from corpus2skill.ports.jobs import RunningJob
from corpus2skill.ports.workers import Presence, Worker

_log = logging.getLogger(__name__)

_BEAT_SECONDS = 5.0
_HUNG_SECONDS = 900.0
"""An attempt whose loop has not turned for so long hangs: the longest computing in one piece takes a fraction."""
_LEAVING_SECONDS = 8.0
RETRY_PAUSES = (60.0, 300.0, 1800.0)
"""Before the first, second and third time that a stalled job is tried again by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How patient a worker is, in seconds."""

    beat: float = _BEAT_SECONDS
    lease: float = LEASE_SECONDS
    retry_pauses: tuple[float, ...] = RETRY_PAUSES
    leaving: float = _LEAVING_SECONDS


@dataclass(slots=True, kw_only=True)
class _AtWork:
    """An attempt under way and what was told of it."""

    attempt: JobAttempt
    told: Progress
    told_at: float = 0.0
    failed_told: int = 0
    is_quiet_told: bool = False


class JobWorker:
    """To be turned by one thread. What the database refuses now is done at a later turn."""

    def __init__(
        self, server: Server, engine: JobEngine, presence: Presence, me: Worker, pace: Pace | None = None
    ) -> None:
        self._server = server
        self._engine = engine
        self._presence = presence
        self._me = me
        self._pace = pace or Pace()
        self._at_work: dict[str, _AtWork] = {}
        self._served: dict[str, int] = {}
        self._others = Stillness(server.clock, self._pace.lease)
        self._beaten_at = -1e9
        self._looked_at = -1e9
        self._is_arrived = False
        self._untold: list[ServerJob] = []
        """Jobs whose new state is written and was not told yet."""

    @property
    def is_idle(self) -> bool:
        return not self._at_work

    def turn(self) -> None:
        """Do what there is to do now; to be called several times a second.

        Raises:
            Corpus2SkillError: the database cannot be read or written; the next turn goes on from here.
        """
        if not self._is_arrived:
            self._arrive()
        self._beat()
        self._tell()
        for work in list(self._at_work.values()):
            self._conclude(work) if work.attempt.outcome is not None else self._report(work)
        running = self._server.jobs.running()
        self._obey(running)
        self._look_after(running)
        self._take_up(running)

    def leave(self) -> None:
        """Break off what is under way, so that another worker goes on with it."""
        for work in self._at_work.values():
            work.attempt.stop("leaving")
        until = self._server.clock.monotonic() + self._pace.leaving
        for work in self._at_work.values():
            work.attempt.wait(max(0.0, until - self._server.clock.monotonic()))
        for work in list(self._at_work.values()):
            self._conclude(work, Outcome(ending=Ending(state="queued")))
        self._server.workers.leave(self._me.worker, moment_of(self._server.clock.now()))
        self._presence.release()

    def _arrive(self) -> None:
        """Come, and take over from those of this place who went without a word."""
        self._server.workers.arrive(self._me)
        self._is_arrived = True
        gone = [
            worker
            for worker in self._server.workers.alive()
            if worker.worker != self._me.worker and self._presence.is_gone(worker)
        ]
        self._take_over(gone)

    def _take_over(self, gone: list[Worker]) -> None:
        releases = {worker.worker: worker.release for worker in gone}
        for job in self._server.jobs.running():
            if job.worker in releases:
                _log.warning(
                    "job %s was begun by a worker that is gone (release %s); it goes on with release %s",
                    job.job,
                    releases[job.worker],
                    self._me.release,
                )
                turn_job(self._server, job.tenant, job.job, self._begin_again(job.attempt))
        for attempt in self._engine.unfinished():
            if attempt.executor in releases or attempt.release != self._me.release:
                _log.warning(
                    "attempt %s of release %s is given up; its job goes on", attempt.attempt, attempt.release
                )
                self._engine.give_up(attempt.attempt)
        for worker in gone:
            self._server.workers.leave(worker.worker, moment_of(self._server.clock.now()))

    def _begin_again(self, attempt: int) -> Callable[[ServerJob], ServerJob | None]:
        def turn(was: ServerJob) -> ServerJob | None:
            if was.state != "running" or was.attempt != attempt:
                return None
            return becoming(self._server, was, "cancelled" if was.is_cancelling else "queued")

        return turn

    def _beat(self) -> None:
        now = self._server.clock.monotonic()
        if now - self._beaten_at < self._pace.beat:
            return
        lively = [name for name, work in self._at_work.items() if now - work.attempt.pulse < _HUNG_SECONDS]
        self._server.workers.beat(self._me.worker, moment_of(self._server.clock.now()))
        if lively:
            self._server.jobs.beat(self._me.worker, lively)
        self._beaten_at = now

    def _report(self, work: _AtWork) -> None:
        """Save and tell how far an attempt is, not too often and often enough."""
        now, progress = self._server.clock.monotonic(), work.attempt.progress()
        if is_to_be_told(work.told, progress, now - work.told_at):
            self._tell_progress(work, progress)
            work.told_at = now

    def _tell_progress(self, work: _AtWork, progress: Progress) -> None:
        job = work.attempt.job
        if not self._server.jobs.save_progress(job.tenant, job.job, job.attempt, progress):
            work.attempt.stop("leaving")  # it is somebody else's by now
            return
        failed = progress.failed_items[work.failed_told :]
        events = [*map(failed_event, failed), progress_event(progress)]
        self._server.events.append(job.tenant, job_topic(job.job), events)
        work.told, work.failed_told = progress, len(progress.failed_items)

    def _conclude(self, work: _AtWork, otherwise: Outcome | None = None) -> None:
        """Write how an attempt ended, and tell it."""
        outcome = work.attempt.outcome or otherwise
        assert outcome is not None
        job, progress = work.attempt.job, work.attempt.progress()
        if progress != work.told:
            self._tell_progress(work, progress)
        if outcome.report is not None and outcome.ending.state == "succeeded":
            examine_compiled(self._server, job, outcome.report)
        ended = self._server.jobs.change(job.tenant, job.job, self._ending(job.attempt, outcome))
        del self._at_work[job.job]
        if ended is not None:
            self._untold.append(ended)
        self._tell()
        if ended is not None:
            key_came_meanwhile(self._server, ended, work.attempt.keys)

    def _tell(self) -> None:
        while self._untold:
            tell_state(self._server, self._untold[0])
            self._untold.pop(0)

    def _ending(self, attempt: int, outcome: Outcome) -> Callable[[ServerJob], ServerJob | None]:
        def turn(was: ServerJob) -> ServerJob | None:
            if was.state != "running" or was.attempt != attempt:
                return None
            ending = outcome.ending
            state = "cancelled" if was.is_cancelling and ending.state != "succeeded" else ending.state
            job = becoming(self._server, was, state, ending.cause if state == ending.state else None)
            if outcome.report is not None and state == "succeeded":
                return _with_report(job, outcome)
            return self._with_retry(job) if state == "stalled" else job

        return turn

    def _with_retry(self, job: ServerJob) -> ServerJob:
        if not job.retries_left:
            return job
        pauses = self._pace.retry_pauses
        pause = pauses[max(0, len(pauses) - job.retries_left)]
        retry_at = moment_of(self._server.clock.now() + timedelta(seconds=pause))
        return replace(job, retry_at=retry_at, retries_left=job.retries_left - 1)

    def _obey(self, running: tuple[RunningJob, ...]) -> None:
        """Stop what somebody wants to stop, and say when it is quiet."""
        for job in running:
            work = self._at_work.get(job.job)
            if work is None or not job.is_cancelling or work.is_quiet_told:
                continue
            work.attempt.stop("cancelled")
            if work.attempt.is_quiet:
                self._server.jobs.change(job.tenant, job.job, lambda was: replace(was, is_quiet=True))
                work.is_quiet_told = True

    def _look_after(self, running: tuple[RunningJob, ...]) -> None:
        """See to jobs of workers that died, and to stalled ones whose time has come."""
        now = self._server.clock.monotonic()
        if now - self._looked_at < min(1.0, self._pace.beat):
            return
        self._looked_at = now
        others = {job.job: job for job in running if job.job not in self._at_work}
        counters = {name: job.attempt * 1_000_000_000 + job.beats for name, job in others.items()}
        for name in self._others.still(counters):
            stall(self._server, others[name].tenant, name, others[name].attempt)
        for job in self._server.jobs.stalled_with_retry():
            if self._is_due(job):
                turn_job(self._server, job.tenant, job.job, self._queue_again)

    def _is_due(self, job: ServerJob) -> bool:
        """Also true where the clock was set back: no pause is longer than the longest."""
        left = (datetime.fromisoformat(job.retry_at or "") - self._server.clock.now()).total_seconds()
        return left <= 0 or left > 2 * max(self._pace.retry_pauses)

    def _queue_again(self, was: ServerJob) -> ServerJob | None:
        return becoming(self._server, was, "queued") if was.state == "stalled" else None

    def _take_up(self, running: tuple[RunningJob, ...]) -> None:
        """Begin what may be begun."""
        settings = self._server.server_settings
        if len(self._at_work) >= settings.jobs_at_once:
            return
        mine = list(running)
        queued = [job for job in self._server.jobs.queued() if job.job not in self._at_work]
        while len(self._at_work) < settings.jobs_at_once:
            job = next_job(queued, mine, self._served, per_tenant=settings.jobs_per_tenant)
            if job is None:
                return
            queued.remove(job)
            paid = paid_for_corpus(self._server, job.tenant, job.corpus)
            claimed = turn_job(self._server, job.tenant, job.job, self._claim(paid))
            if claimed is None:
                continue
            self._served[job.tenant] = max(self._served.values(), default=0) + 1
            mine.append(_as_running(claimed))
            attempt = JobAttempt(self._server, self._engine, with_all_money(claimed, paid))
            self._at_work[job.job] = _AtWork(attempt=attempt, told=claimed.progress)

    def _claim(self, paid: JobMoney) -> Callable[[ServerJob], ServerJob | None]:
        def turn(was: ServerJob) -> ServerJob | None:
            if was.state != "queued":
                return None
            running = becoming(self._server, was, "running")
            return replace(
                running,
                attempt=was.attempt + 1,
                worker=self._me.worker,
                started_at=was.started_at or running.state_at,
                paid_before=was.paid_before or paid,
            )

        return turn


def _as_running(job: ServerJob) -> RunningJob:
    return RunningJob(
        tenant=job.tenant,
        corpus=job.corpus,
        job=job.job,
        attempt=job.attempt,
        worker=job.worker or "",
        beats=job.beats,
        is_cancelling=job.is_cancelling,
    )


def _with_report(job: ServerJob, outcome: Outcome) -> ServerJob:
    report = outcome.report
    assert report is not None
    refused = sum(failed_item(source) is not None for source in report.reports)
    return replace(
        job,
        version=report.manifest.version,
        is_new=report.is_new,
        is_activated=report.is_activated,
        stand_ins=report.manifest.stand_ins,
        warnings=refused + report.manifest.stand_ins,
    )
