"""Attempts of jobs as workflows of DBOS, the one place that knows it.

An attempt is never replayed: the stages hand each other values that are too big to be noted down, and what a
replay would skip is answered from the result store and the cached texts anyway. Another attempt takes the
place of one that broke off, so that documents which have changed meanwhile are no contradiction.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, SetWorkflowID, StepOptions
from dbos import error as dbos_error
from sqlalchemy import URL, Engine, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from corpus2skill.domain.job import Stage
from corpus2skill.errors import Busy, Conflict, Corpus2SkillError, WorkspaceUnusable
from corpus2skill.ports.job_engine import StepNote, Unfinished
from corpus2skill.ports.steps import Steps

Result = TypeVar("Result")
Work = Callable[[Steps], Awaitable[str]]

_log = logging.getLogger(__name__)

_NAME = "corpus2skill"
_WORKFLOW = "compile_attempt"
_SCHEMA = "corpus2skill_jobs"
"""In PostgreSQL: the engine's tables stand apart from ours."""
_TRIES = 6
"""Of a step: with pauses of 1, 2, 4, 8 and 16 seconds, as long as a database may be gone."""
_TRIES_OF_THE_UNEXPECTED = 2
_BUSY_SECONDS = 30.0
_FAILED = -1
"""The count of a step that ended with an error which another try would not change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineAddress:
    """Where the engine keeps its log, and who it is."""

    url: URL
    executor: str
    """Unique for each process: two of one name would carry out a job twice."""
    release: str
    """Set by hand: left to itself DBOS makes it from its own source, and strands what another began."""


class DbosEngine:
    """`ports.job_engine.JobEngine`. One a process, since DBOS is."""

    def __init__(self, address: EngineAddress, first_pause: float = 1.0) -> None:
        """Begin; returns when attempts can be carried out. `first_pause`: seconds before a step's second try."""
        works = self._works = dict[str, _Attempt]()

        async def compile_attempt(attempt: str) -> str:
            under_way = works.get(attempt)
            return "not here" if under_way is None else await under_way.run()

        self._first_pause = first_pause
        self._label = address.url.render_as_string()
        self._engine = _sqlite_engine(address.url) if address.url.get_backend_name() == "sqlite" else None
        logging.getLogger("dbos").setLevel(logging.ERROR)  # what matters of its doings is told by the jobs
        DBOS(config=_config(address, self._engine))
        DBOS.listen_queues([])
        self._workflow = DBOS.workflow(name=_WORKFLOW)(compile_attempt)
        DBOS.launch()

    async def carry_out(self, attempt: str, work: Work) -> str:
        if await DBOS.get_workflow_status_async(attempt) is not None:
            raise Conflict("attempt_begun", attempt=attempt)
        under_way = self._works[attempt] = _Attempt(work, _DurableSteps(self._first_pause))
        try:
            with SetWorkflowID(attempt):
                handle = await DBOS.start_workflow_async(self._workflow, attempt)
            await _waited_for(asyncio.ensure_future(handle.get_result()), under_way.cancel)
        except DBAPIError as error:
            raise WorkspaceUnusable("workspace_io", path=self._label, reason=str(error.orig)) from error
        finally:
            del self._works[attempt]
        return under_way.result()

    def unfinished(self) -> tuple[Unfinished, ...]:
        found = DBOS.list_workflows(status="PENDING", name=_WORKFLOW, load_input=False, load_output=False)
        return tuple(
            Unfinished(
                attempt=status.workflow_id,
                release=status.app_version or "",
                executor=status.executor_id or "",
            )
            for status in found
            if status.workflow_id not in self._works
        )

    def give_up(self, attempt: str) -> None:
        DBOS.cancel_workflow(attempt)

    def steps(self, attempt: str) -> tuple[StepNote, ...]:
        return tuple(
            StepNote(
                stage=step["function_name"],
                count=step["output"] if isinstance(step["output"], int) else _FAILED,
                started_ms=step["started_at_epoch_ms"] or 0,
                ended_ms=step["completed_at_epoch_ms"] or 0,
            )
            for step in DBOS.list_workflow_steps(attempt)
        )

    def close(self) -> None:
        DBOS.destroy(destroy_registry=True)
        if self._engine is not None:
            self._engine.dispose()


class _Attempt:
    """The work of one workflow, which ends well in the engine's eyes however the work ends."""

    def __init__(self, work: Work, steps: Steps) -> None:
        self._work = work
        self._steps = steps
        self._task: asyncio.Task[str] | None = None
        self._is_cancelled = False

    async def run(self) -> str:
        task = self._task = asyncio.ensure_future(self._work(self._steps))
        if self._is_cancelled:
            task.cancel()
        await asyncio.wait({task})
        if task.cancelled():
            return "cancelled"
        return task.result() if task.exception() is None else "failed"

    def cancel(self) -> None:
        self._is_cancelled = True
        if self._task is not None:
            self._task.cancel()

    def result(self) -> str:
        assert self._task is not None
        return self._task.result()


class _DurableSteps:
    """`ports.steps.Steps`: each one a step of the workflow that runs."""

    def __init__(self, first_pause: float) -> None:
        self._first_pause = first_pause

    async def run(
        self, stage: Stage, work: Callable[[], Awaitable[Result]], count: Callable[[Result], int]
    ) -> Result:
        step = _Step(work, count)
        options = StepOptions(
            name=stage,
            retries_allowed=True,
            interval_seconds=self._first_pause,
            max_attempts=_TRIES,
            backoff_rate=2.0,
        )
        try:
            await DBOS.run_step_async(options, step.once)
        except dbos_error.DBOSMaxStepRetriesExceeded:
            _log.warning("a step of stage %s failed %d times", stage, _TRIES)
        return step.result()


class _Step:
    """One piece of work. Its result and its errors stay here: neither belongs into the engine's log."""

    def __init__(self, work: Callable[[], Awaitable[Result]], count: Callable[[Result], int]) -> None:
        self._work = work
        self._count = count
        self._made: list[Any] = []
        self._failures: list[Exception] = []

    async def once(self) -> int:
        try:
            made = await self._work()
        except Exception as error:  # noqa: BLE001 - it is raised again outside of the engine
            self._failures.append(error)
            if self._is_worth_another_try(error):
                _log.warning("a step is tried again", exc_info=error)
                raise _TryAgain from None
            return _FAILED
        self._failures.clear()
        self._made.append(made)
        return self._count(made)

    def result(self) -> Any:  # noqa: ANN401 - what `work` made
        if self._made:
            return self._made[-1]
        raise self._failures[-1]

    def _is_worth_another_try(self, error: Exception) -> bool:
        """True for what passes by itself. Calls were tried again often enough where they are paid for."""
        if isinstance(error, Corpus2SkillError):
            return isinstance(error, WorkspaceUnusable | Busy)
        return len(self._failures) < _TRIES_OF_THE_UNEXPECTED


class _TryAgain(Exception):
    """A step failed and is to be done once more."""


async def _waited_for(ending: asyncio.Future[str], cancel: Callable[[], None]) -> None:
    """Wait for the end; whoever is cancelled while it waits cancels the work and waits for that."""
    try:
        await asyncio.shield(ending)
    except asyncio.CancelledError:
        cancel()
        await asyncio.wait({ending})
        raise


def _config(address: EngineAddress, engine: Engine | None) -> DBOSConfig:
    return DBOSConfig(
        name=_NAME,
        system_database_url=address.url.render_as_string(hide_password=False),
        system_database_engine=engine,
        dbos_system_schema=_SCHEMA,
        db_engine_kwargs={"pool_size": 5, "max_overflow": 5, "pool_pre_ping": True},
        executor_id=address.executor,
        application_version=address.release,
        serializer=DBOSPortableJSONSerializer(),
        use_listen_notify=False,
        notification_listener_polling_interval_sec=5.0,
        log_level="ERROR",
        enable_otlp=False,
    )


def _sqlite_engine(url: URL) -> Engine:
    """Return an engine whose commits outlast a power cut: by itself DBOS leaves SQLite's own defaults."""
    file = Path(url.database or "")

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"file:{quote(str(file.absolute()))}?mode=rwc",
            uri=True,
            timeout=_BUSY_SECONDS,
            isolation_level="IMMEDIATE",
            check_same_thread=False,
        )
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        return connection

    return create_engine("sqlite+pysqlite://", creator=connect, poolclass=QueuePool)
