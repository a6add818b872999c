"""A run on a terminal while it lasts: what was visited stays, below it what is under way is drawn again and again."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from corpus2skill.domain.run import AnswerDelta, NodeVisited, RoundDelayed, RoundStarted, RunEvent
from corpus2skill.entrypoints.cli.chat_screen import Screen
from corpus2skill.entrypoints.cli.output import visible
from corpus2skill.entrypoints.cli.trail import delay_line
from corpus2skill.entrypoints.cli.wrapping import wrapped

_DRAFT_LINES = 6
_A_SECOND = 10
"""Drawings."""


class LiveRun:
    """A listener with a state line and a grey draft. A draft may become a reason, the answer or nothing."""

    def __init__(self, screen: Screen, console: Console, fetch_limit: int) -> None:
        self._screen = screen
        self._fetch_limit = fetch_limit
        self._fetches = 0
        self._draft = ""
        self._began = time.monotonic()
        self._spinner = Spinner("dots" if console.encoding.startswith("utf") else "line", style="cyan")
        self._live = Live(
            self,
            console=console,
            refresh_per_second=_A_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> LiveRun:
        self._live.start(refresh=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def __call__(self, event: RunEvent, /) -> None:
        match event:
            case RoundStarted():
                self._draft = ""
            case AnswerDelta():
                self._draft += event.text
            case NodeVisited():
                self._draft = ""
                self._fetches += not event.visit.is_prefetched
                self._screen.visit(event.visit)
            case RoundDelayed():
                self._draft = delay_line(self._screen.out, event)
            case _:
                pass

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        said = self._screen.out.say
        seconds = time.monotonic() - self._began
        state = said("chat.thinking_state", fetches=self._fetches, limit=self._fetch_limit, seconds=seconds)
        self._spinner.update(text=Text(f"{said('chat.thinking')}  {state}", style="dim", no_wrap=True))
        yield self._spinner
        for line in self._draft_lines():
            yield Text(line, style="dim", no_wrap=True)

    def _draft_lines(self) -> list[str]:
        """The newest lines of the draft: all of it may be more than the screen has room for."""
        width = self._screen.notes.width
        shown = visible(self._draft.expandtabs(4)).strip()
        lines = [line[where] for line in shown.splitlines() for where in wrapped(line, width)]
        return lines[-_DRAFT_LINES:]
