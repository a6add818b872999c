"""A job engine that keeps its log in memory and tries nothing again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from corpus2skill.domain.job import Stage
from corpus2skill.errors import Conflict
from corpus2skill.ports.job_engine import StepNote, Unfinished
from corpus2skill.ports.steps import Steps

Result = TypeVar("Result")


class MemoryEngine:
    """`ports.job_engine.JobEngine`. Give two of them one `log` and the second comes after the first died."""

    def __init__(self, executor: str = "worker_1", release: str = "1", log: MemoryLog | None = None) -> None:
        self._me = Unfinished(attempt="", release=release, executor=executor)
        self.log = log or MemoryLog()

    async def carry_out(self, attempt: str, work: Callable[[Steps], Awaitable[str]]) -> str:
        if attempt in self.log.steps:
            raise Conflict("attempt_begun", attempt=attempt)
        notes = self.log.steps[attempt] = list[StepNote]()
        self.log.unfinished[attempt] = replace(self._me, attempt=attempt)
        try:
            return await work(_NotedSteps(notes))
        finally:
            self.log.unfinished.pop(attempt, None)

    def unfinished(self) -> tuple[Unfinished, ...]:
        return tuple(self.log.unfinished.values())

    def give_up(self, attempt: str) -> None:
        self.log.unfinished.pop(attempt, None)

    def steps(self, attempt: str) -> tuple[StepNote, ...]:
        return tuple(self.log.steps.get(attempt, ()))

    def close(self) -> None: ...


class MemoryLog:
    """What outlasts an engine."""

    def __init__(self) -> None:
        self.steps: dict[str, list[StepNote]] = {}
        self.unfinished: dict[str, Unfinished] = {}


class _NotedSteps:
    def __init__(self, notes: list[StepNote]) -> None:
        self._notes = notes

    async def run(
        self, stage: Stage, work: Callable[[], Awaitable[Result]], count: Callable[[Result], int]
    ) -> Result:
        made = await work()
        self._notes.append(StepNote(stage=stage, count=count(made), started_ms=0, ended_ms=0))
        return made
