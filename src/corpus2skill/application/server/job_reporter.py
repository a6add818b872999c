"""How far an attempt is, gathered from what the compile says while it runs. Any thread may ask."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from corpus2skill.application.compile_engine import CompileEngine
from corpus2skill.domain.job import (
    STAGES,
    BatchWaiting,
    CompileEvent,
    ModelWaiting,
    SourceJudged,
    SpendingKnown,
    Stage,
    StageProgress,
)
from corpus2skill.domain.money import Spending
from corpus2skill.domain.server_job import (
    MOST_FAILED_ITEMS,
    Cause,
    FailedItem,
    JobMoney,
    Progress,
    StageState,
    failed_item,
    money_of,
)
from corpus2skill.ports.clock import Clock
from corpus2skill.ports.steps import Steps

Result = TypeVar("Result")


class JobReporter:
    """A `CompileListener` that remembers. `before` is what earlier attempts came to."""

    def __init__(self, before: JobMoney, clock: Clock) -> None:
        self._before = before
        self._clock = clock
        self._lock = threading.Lock()
        self._progress = Progress(money=before)
        self._spending: Callable[[], tuple[Spending, ...]] = tuple
        self._last: tuple[Spending, ...] | None = None

    def watch(self, engine: CompileEngine) -> None:
        """Ask this engine from now on what was spent."""
        self._spending = engine.spending

    def __call__(self, event: CompileEvent, /) -> None:
        with self._lock:
            match event:
                case StageProgress(stage, done, total):
                    self._set(stage, done=done, total=total)
                case SourceJudged(report):
                    self._judge(failed_item(report))
                case SpendingKnown(spending):
                    self._last = spending
                case ModelWaiting():
                    values = {"model": event.model, "seconds": round(event.seconds), "tries": event.tries}
                    self._wait(Cause(code=event.code, values=values))
                case BatchWaiting():
                    values = {"model": event.model, "calls": event.calls, "done": event.done}
                    self._wait(None if event.is_ended else Cause(code="batch_under_way", values=values))

    def begin(self, stage: Stage) -> float:
        """Note that a step of `stage` is begun; returns when."""
        with self._lock:
            self._set(stage, tries=self._progress.stage(stage).tries + 1)
        return self._clock.monotonic()

    def end(self, stage: Stage, begun: float, *, is_done: bool) -> None:
        """Note that it ended, well or not."""
        took = round(1000 * (self._clock.monotonic() - begun))
        with self._lock:
            was = self._progress.stage(stage)
            self._set(stage, ms=was.ms + max(0, took), is_done=is_done and was.done >= was.total)

    def finish(self) -> None:
        """Note that all stages are behind it, those with nothing to do too."""
        with self._lock:
            stages = tuple(_changed(state, {"is_done": True}) for state in self._progress.stages)
            self._progress = replace(self._progress, stages=stages, waiting=None)

    def progress(self) -> Progress:
        """How far it is now."""
        with self._lock:
            spending = self._last if self._last is not None else self._now_spent()
            return replace(self._progress, money=self._before + money_of(spending))

    def _now_spent(self) -> tuple[Spending, ...]:
        for _ in range(3):
            try:
                return self._spending()
            except RuntimeError:  # a first call of its kind was just noted
                continue
        return ()

    def _set(self, stage: Stage, **values: int) -> None:
        place = STAGES.index(stage)
        stages = tuple(
            _changed(state, values)
            if at == place
            else _changed(state, {"is_done": at < place or state.is_done})
            for at, state in enumerate(self._progress.stages)
        )
        self._progress = replace(self._progress, stages=stages, waiting=None)

    def _judge(self, item: FailedItem | None) -> None:
        if item is None:
            return
        known = self._progress.failed_items
        items = (*known, item) if len(known) < MOST_FAILED_ITEMS else known
        self._progress = replace(
            self._progress, failed_items=items, failed_count=self._progress.failed_count + 1
        )

    def _wait(self, cause: Cause | None) -> None:
        self._progress = replace(self._progress, waiting=cause)


class ReportedSteps:
    """`ports.steps.Steps` that counts the tries and the time of each stage."""

    def __init__(self, within: Steps, reporter: JobReporter) -> None:
        self._within = within
        self._reporter = reporter

    async def run(
        self, stage: Stage, work: Callable[[], Awaitable[Result]], count: Callable[[Result], int]
    ) -> Result:
        async def reported() -> Result:
            begun, is_done = self._reporter.begin(stage), False
            try:
                made = await work()
                is_done = True
            finally:
                self._reporter.end(stage, begun, is_done=is_done)
            return made

        return await self._within.run(stage, reported, count)


def _changed(state: StageState, values: dict[str, int]) -> StageState:
    return replace(state, **values)
