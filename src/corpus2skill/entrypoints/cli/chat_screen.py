"""A chat on the screen: plain lines, or where a person reads a terminal wrapped and coloured ones, and live."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from corpus2skill.domain.run import NodeVisited, RoundDelayed, RunEvent
from corpus2skill.domain.trail import Visit
from corpus2skill.entrypoints.cli.output import Output, visible
from corpus2skill.entrypoints.cli.trail import delay_line, visit_title
from corpus2skill.entrypoints.cli.wrapping import wrapped

if TYPE_CHECKING:
    from rich.console import Console

_READABLE = 100
"""Columns: longer lines are hard to follow."""
_NARROWEST = 20
_TABS = 4

Part = str | tuple[str, str]
"""Text, or text with a style of rich's."""


class Sheet:
    """One of the two streams. Where no terminal is behind it, styles and widths mean nothing."""

    def __init__(self, stream: TextIO, write: Callable[[str], None]) -> None:
        self._write = write
        self.console = _console(stream)

    def line(self, *parts: Part, hanging: int = 0) -> None:
        """Write a line; what does not fit beside the margin goes on below it, indented by `hanging`."""
        plain = "".join(part if isinstance(part, str) else part[0] for part in parts)
        if self.console is None:
            self._write(plain)
            return
        from rich.text import Text

        styled = Text.assemble(*(_shown(part) for part in parts))
        pieces = [styled[where] for where in wrapped(styled.plain, self.width, hanging)]
        whole = Text("\n" + " " * hanging).join(pieces)
        self.console.print(whole, soft_wrap=True, highlight=False)

    def lines(self, text: str, style: str = "", margin: str = "", margin_style: str = "") -> None:
        """Write a text of several lines, each with `margin` before it, also where it is wrapped."""
        for line in text.splitlines() or [""]:
            if self.console is None:
                self._write((margin + line).rstrip())
                continue
            shown = visible(line.expandtabs(_TABS))
            for where in wrapped(shown, self.width - len(margin)):
                self.line((margin, margin_style), (shown[where], style))

    @property
    def width(self) -> int:
        """Columns to write in; without a terminal as many as are readable."""
        width = _READABLE if self.console is None else self.console.width
        return max(_NARROWEST, min(width, _READABLE))


def _console(stream: TextIO) -> Console | None:
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        return None
    from rich.console import Console

    return Console(file=stream, highlight=False, markup=False, emoji=False)


def _shown(part: Part) -> tuple[str, str]:
    text, style = (part, "") if isinstance(part, str) else part
    return visible(text.expandtabs(_TABS)), style


class Screen:
    """The answers' sheet and the one for everything beside them."""

    def __init__(self, out: Output) -> None:
        self.out = out
        self.answers = Sheet(out.out, out.answer)
        self.notes = Sheet(out.err, out.note)

    def error(self, sentence: str) -> None:
        self.notes.line((self.out.say("cli.error", message=sentence), "red"))

    def visit(self, visit: Visit) -> None:
        """One step of the trail as it is lit."""
        is_found = visit.status == "found"
        title = visit_title(self.out, visit)
        self.notes.line(
            (f"{visit.number}. ", "cyan"),
            (title, "bold" if is_found else "yellow"),
            (f"  {visit.path}  {visit.elapsed_ms} ms", "dim"),
            hanging=3,
        )
        self.notes.line("   " + " ".join(visit.reason.split()), hanging=3)


class Steps:
    """Writes each visit as it happens, and why it takes longer."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def __call__(self, event: RunEvent, /) -> None:
        match event:
            case NodeVisited(visit=visit):
                self._screen.visit(visit)
            case RoundDelayed():
                self._screen.notes.line((delay_line(self._screen.out, event), "yellow"), hanging=3)
            case _:
                pass
