"""One attempt of a job: a compile in a thread of its own, so that its computing holds up nothing else."""

from __future__ import annotations

import asyncio
import logging
import threading
from dataclasses import dataclass, replace
from typing import Literal

from corpus2skill.application.compile_documents import compile_documents
from corpus2skill.application.compile_options import CompileOptions
from corpus2skill.application.server.corpora import corpus_settings
from corpus2skill.application.server.job_estimate import job_compile_options, job_host
from corpus2skill.application.server.job_reporter import JobReporter, ReportedSteps
from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.job import CompileReport
from corpus2skill.domain.server_job import Ending, Progress, ServerJob, ending_of
from corpus2skill.ports.job_engine import JobEngine
from corpus2skill.ports.steps import Steps

_log = logging.getLogger(__name__)

StopReason = Literal["cancelled", "leaving"]
"""Somebody wants no more of it, or this worker goes and another one is to go on."""
_PULSE_SECONDS = 1.0
_SETTLING_SECONDS = 0.2
"""A cancelled compile has passed the word on to every call that waits after so long: none is sent any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How an attempt ended."""

    ending: Ending
    report: CompileReport | None = None


class JobAttempt:
    """Begins when it is made. All of it may be asked from another thread."""

    def __init__(self, server: Server, engine: JobEngine, job: ServerJob) -> None:
        self._server = server
        self._engine = engine
        self.job = job
        self.keys = server.keys(job.tenant).revision()
        """The revision of the keys that it was begun with, or of older ones."""
        self.outcome: Outcome | None = None
        """Set when it has ended."""
        self.is_quiet = False
        """True once it was told to stop and sends no call any more."""
        self.pulse = server.clock.monotonic()
        """When its loop last turned."""
        self._reporter = JobReporter(job.progress.money, server.clock)
        self._report: CompileReport | None = None
        self._reason: StopReason | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[str] | None = None
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=job.attempt_id, daemon=True)
        self._thread.start()

    def progress(self) -> Progress:
        return self._reporter.progress()

    def stop(self, reason: StopReason) -> None:
        """Break it off; what was sent is waited for."""
        with self._lock:
            if self._reason is not None:
                return
            self._reason = reason
            if self._loop is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._break_off)

    def wait(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
            outcome = Outcome(ending=Ending(state="succeeded"), report=self._report)
        except asyncio.CancelledError:
            state = "cancelled" if self._reason == "cancelled" else "queued"
            outcome = Outcome(ending=Ending(state=state))
        except Exception as error:  # noqa: BLE001 - the step runner's door: every failure becomes a state
            outcome = Outcome(ending=ending_of(error))
            _log.log(self._level(outcome), "%s ended: %s", self.job.attempt_id, error, exc_info=error)
        self.is_quiet = True
        self.outcome = outcome

    def _level(self, outcome: Outcome) -> int:
        cause = outcome.ending.cause
        return logging.ERROR if cause is not None and cause.code == "job_broken" else logging.INFO

    async def _main(self) -> None:
        with self._lock:
            self._loop = asyncio.get_running_loop()
            self._task = asyncio.create_task(self._engine.carry_out(self.job.attempt_id, self._work))
            if self._reason is not None:
                self._break_off()
        pulse = asyncio.create_task(self._beat())
        try:
            await self._task
        finally:
            pulse.cancel()

    def _break_off(self) -> None:
        assert self._task is not None
        self._task.cancel()
        asyncio.get_running_loop().call_later(_SETTLING_SECONDS, self._become_quiet)

    def _become_quiet(self) -> None:
        self.is_quiet = True

    async def _beat(self) -> None:
        while True:
            self.pulse = self._server.clock.monotonic()
            await asyncio.sleep(_PULSE_SECONDS)

    async def _work(self, steps: Steps) -> str:
        job = self.job
        host = replace(
            job_host(self._server, job.tenant, job.corpus),
            steps=ReportedSteps(steps, self._reporter),
            watch=self._reporter.watch,
        )
        self._report = await compile_documents(
            self._server.workspace(job.tenant),
            self._options(),
            self._reporter,
            lambda _estimate: job.estimate is not None,
            host,
        )
        self._reporter.finish()
        return "succeeded"

    def _options(self) -> CompileOptions:
        """The job's, with what earlier attempts have left of its cap."""
        options = job_compile_options(self._server, self.job.tenant, self.job.corpus, self.job.options)
        if corpus_settings(self._server, self.job.tenant, self.job.corpus).tests_required:
            options = replace(options, is_held_back=True)  # its tests switch to it, when they go well
        if options.max_cost is None:
            return options
        return replace(
            options, max_cost=max(0.0, options.max_cost - (self.job.progress.money.dollars or 0.0))
        )
