"""Attempts of jobs as workflows of DBOS, the one place that knows it.

An attempt is never replayed: the stages hand each other values that are too big to be noted down, and what a
replay would skip is answered from the result store and the cached texts anyway. Another attempt takes the
place of one that broke off, so that documents which have changed meanwhile are no contradiction.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, SetWorkflowID, StepOptions
from dbos.error import DBOSException
from sqlalchemy import URL, Engine, create_engine
from sqlalchemy.pool import QueuePool

from corpus2skill.domain.job import Stage
from corpus2skill.errors import Busy, Conflict, Corpus2SkillError, WorkspaceUnusable
from corpus2skill.ports.job_engine import StepNote, Unfinished
from corpus2skill.ports.steps import Steps

Result = TypeVar("Result")
Work = Callable[[Steps], Awaitable[str]]

_NAME = "corpus2skill"
_SCHEMA = "corpus2skill_jobs"
"""In PostgreSQL: the engine's tables stand apart from ours."""
_TRIES = 6
"""Of a step: with pauses of 1, 2, 4, 8 and 16 seconds, as long as a database may be gone."""
_TRIES_OF_THE_UNEXPECTED = 2
_BUSY_SECONDS = 30.0
_POLLING_SECONDS = 0.5


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
        """Begin; returns when attempts can be carried out."""
        _keep_quiet()
        self._first_pause = first_pause
        self._works: dict[str, _Attempt] = {}
        self._engine = _sqlite_engine(address.url) if address.url.get_backend_name() == "sqlite" else None
        DBOS(config=_config(address, self._engine))
        DBOS.listen_queues([])
        DBOS.workflow(name="compile_attempt")(self._workflow)
        DBOS.launch()

    async def carry_out(self, attempt: str, work: Work) -> str:
        if await DBOS.get_workflow_status_async(attempt) is not None:
            raise Conflict("attempt_begun", attempt=attempt)
        under_way = self._works[attempt] = _Attempt(work, _DurableSteps(self._first_pause))
        try:
            with SetWorkflowID(attempt):
                handle = await DBOS.start_workflow_async(_workflow_of(self), attempt)
            await _shielded(under_way, handle.get_result())
        finally:
            del self._works[attempt]
        return under_way.result()

    def unfinished(self) -> tuple[Unfinished, ...]:
        found = DBOS.list_workflows(
            status=["PENDING", "ENQUEUED"], load_input=False, load_output=False, name="compile_attempt"
        )
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
                count=step["output"] if isinstance(step["output"], int) else 0,
                started_ms=step["started_at_epoch_ms"] or 0,
                ended_ms=step["completed_at_epoch_ms"] or 0,
            )
            for step in DBOS.list_workflow_steps(attempt)
        )

    def close(self) -> None:
        DBOS.destroy(destroy_registry=True)
        if self._engine is not None:
            self._engine.dispose()


def _keep_quiet() -> None:
    """DBOS tells of its own doings on the terminal; what matters of them is told by the jobs."""
    logging.getLogger("dbos").setLevel(logging.ERROR)
