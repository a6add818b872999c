"""How far a compile is: bars where a person watches, else one line for each finished stage."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from corpus2skill.domain.job import CompileEvent, Stage, StageProgress
from corpus2skill.entrypoints.cli.output import Output
from corpus2skill.ports.events import CompileListener


@contextmanager
def compile_progress(out: Output) -> Generator[CompileListener]:
    """Yield a listener that shows the stages on standard error."""
    if out.is_watched:
        with _bars(out) as listener:
            yield listener
    else:
        lines = _Lines(out)
        yield lines
        lines.finish()


@contextmanager
def _bars(out: Output) -> Generator[CompileListener]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    bars: dict[Stage, TaskID] = {}
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(file=out.err),
    )

    def listener(event: CompileEvent) -> None:
        if not isinstance(event, StageProgress):
            return
        if event.stage not in bars:
            bars[event.stage] = progress.add_task(stage_name(out, event.stage), total=event.total)
        progress.update(bars[event.stage], completed=event.done, total=event.total)

    with progress:
        yield listener


class _Lines:
    """Says what each stage came to once the next one begins: a log is not filled with steps."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._last: StageProgress | None = None

    def __call__(self, event: CompileEvent) -> None:
        if not isinstance(event, StageProgress):
            return
        if self._last is not None and self._last.stage != event.stage:
            self.finish()
        self._last = event

    def finish(self) -> None:
        if self._last is not None:
            name = stage_name(self._out, self._last.stage)
            self._out.note(f"{name} {self._last.done}/{self._last.total}")
        self._last = None


def stage_name(out: Output, stage: Stage) -> str:
    return out.say(f"stage.{stage}")
