"""How far a compile is: bars where a person watches, else one line for each finished stage."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from corpus2skill.domain.corpus import SourceReport
from corpus2skill.domain.job import (
    BatchWaiting,
    CompileEvent,
    ModelWaiting,
    SourceJudged,
    SpendingKnown,
    Stage,
    StageProgress,
)
from corpus2skill.domain.money import Spending
from corpus2skill.entrypoints.cli.money import spending_lines
from corpus2skill.entrypoints.cli.output import Output
from corpus2skill.entrypoints.cli.verdicts import is_warning, judged_line
from corpus2skill.errors import NothingToCompile, StrictRefusal
from corpus2skill.messages import has_message

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class CompileProgress(Protocol):
    """A `CompileListener` that a question can be asked beside."""

    def __call__(self, event: CompileEvent, /) -> None: ...

    def paused(self) -> AbstractContextManager[None]:
        """Leave the screen alone for as long as the block lasts."""
        ...


@contextmanager
def compile_progress(out: Output) -> Generator[CompileProgress]:
    """Yield a listener that shows the stages on standard error; where the compile fails, what was paid."""
    told, batches = _Told(), _Batches(out)
    try:
        if out.is_watched:
            with _bars(out, told, batches) as bars:
                yield bars
        else:
            lines = _Lines(out, told, batches)
            yield lines
            lines.finish()
    except BaseException as error:
        for line in (*told.lines(out, error), *batches.left()):
            out.note(line)
        raise


@dataclass(slots=True)
class _Told:
    """What a compile that fails has to say at its end."""

    spending: tuple[Spending, ...] = ()
    refused: list[SourceReport] = field(default_factory=list[SourceReport])

    def hear(self, event: SourceJudged | SpendingKnown) -> None:
        if isinstance(event, SpendingKnown):
            self.spending = event.spending
        elif is_warning(event.report):
            self.refused.append(event.report)

    def lines(self, out: Output, error: BaseException) -> Iterator[str]:
        """The refused documents where they are why nothing was compiled, and what was paid."""
        if isinstance(error, NothingToCompile | StrictRefusal):
            yield from (judged_line(out, report) for report in self.refused)
        yield from spending_lines(out, self.spending, out.note_room)
        if self.spending and isinstance(error, KeyboardInterrupt):
            yield out.say("cli.goes_on")


@contextmanager
def _bars(out: Output, told: _Told, batches: _Batches) -> Generator[CompileProgress]:
    bars = _Bars(out, told, batches)
    try:
        yield bars
    finally:
        bars.stop()


def _drawn(out: Output) -> Progress:
    """Bars that are drawn from where the cursor is now."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(file=out.err),
    )
    progress.start()
    return progress


class _Bars:
    def __init__(self, out: Output, told: _Told, batches: _Batches) -> None:
        self._out = out
        self._progress = _drawn(out)
        self._told = told
        self._waits = _Waits(out)
        self._batches = batches
        self._bars: dict[Stage, TaskID] = {}
        self._batch_bars: dict[str, TaskID] = {}

    def __call__(self, event: CompileEvent, /) -> None:
        match event:
            case StageProgress():
                if event.total:
                    self._show(event)
            case SourceJudged() | SpendingKnown():
                self._told.hear(event)
            case ModelWaiting():
                if line := self._waits.line(event):
                    self._progress.console.print(line, markup=False, highlight=False)
            case BatchWaiting():
                if line := self._batches.line(event):
                    self._progress.console.print(line, markup=False, highlight=False)
                self._progress.update(self._bar_of(event), completed=event.done, total=event.calls)

    def _show(self, event: StageProgress) -> None:
        if event.stage not in self._bars:
            name = stage_name(self._out, event.stage)
            self._bars[event.stage] = self._progress.add_task(name, total=event.total)
        self._progress.update(self._bars[event.stage], completed=event.done, total=event.total)

    def _bar_of(self, event: BatchWaiting) -> TaskID:
        if event.batch_id not in self._batch_bars:
            name = self._out.say("cli.batch_bar", batch=event.batch_id)
            self._batch_bars[event.batch_id] = self._progress.add_task(name, total=event.calls)
        return self._batch_bars[event.batch_id]

    @contextmanager
    def paused(self) -> Generator[None]:
        """What was drawn stays above; bars that go on moving there would be drawn over what is said meanwhile."""
        self.stop()
        try:
            yield
        finally:
            self._progress = _drawn(self._out)
            self._bars.clear()
            self._batch_bars.clear()

    def stop(self) -> None:
        self._progress.stop()


class _Lines:
    """Says what each stage came to once the next one begins: a log is not filled with steps."""

    def __init__(self, out: Output, told: _Told, batches: _Batches) -> None:
        self._out = out
        self._told = told
        self._batches = batches
        self._last: StageProgress | None = None
        self._waits = _Waits(out)

    def __call__(self, event: CompileEvent, /) -> None:
        match event:
            case StageProgress():
                if self._last is not None and self._last.stage != event.stage:
                    self.finish()
                self._last = event
            case SourceJudged() | SpendingKnown():
                self._told.hear(event)
            case ModelWaiting():
                if line := self._waits.line(event):
                    self._out.note(line)
            case BatchWaiting():
                if line := self._batches.line(event):
                    self._out.note(line)

    def paused(self) -> AbstractContextManager[None]:
        return nullcontext()

    def finish(self) -> None:
        if self._last is not None and self._last.total:
            name = stage_name(self._out, self._last.stage)
            self._out.note(f"{name} {self._last.done}/{self._last.total}")
        self._last = None


class _Waits:
    """Says of each model and cause once that it is waited for: in a storm every call waits."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._told: set[tuple[str, str]] = set()

    def line(self, event: ModelWaiting) -> str | None:
        if (event.model, event.code) in self._told:
            return None
        self._told.add((event.model, event.code))
        key = f"waiting.{event.code}"
        cause = self._out.say(key if has_message(key) else "waiting.other")
        seconds = max(1, round(event.seconds))
        return self._out.say("cli.waiting", model=event.model, cause=cause, seconds=seconds)


class _Batches:
    """Says of each batch when it is first waited for, when its results are there, and that it is left behind."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._open: dict[str, BatchWaiting] = {}

    def line(self, event: BatchWaiting) -> str | None:
        if event.is_ended:
            self._open.pop(event.batch_id, None)
            return self._out.say("cli.batch_ended", batch=event.batch_id)
        is_first = event.batch_id not in self._open
        self._open[event.batch_id] = event
        return self._said("cli.batch_waiting", event) if is_first else None

    def left(self) -> Iterator[str]:
        """A line for each batch that a compile which ends now leaves with its provider."""
        return (self._said("cli.batch_left", event) for event in self._open.values())

    def _said(self, key: str, event: BatchWaiting) -> str:
        return self._out.say(key, model=event.model, batch=event.batch_id, calls=event.calls)


def stage_name(out: Output, stage: Stage) -> str:
    return out.say(f"stage.{stage}")
