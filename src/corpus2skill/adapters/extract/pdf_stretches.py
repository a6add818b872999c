"""A page as a stretch of lines, a table, a stretch of lines ...: what makes more of lines never looks over a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from corpus2skill.adapters.extract.pdf_lines import Line

_Other = TypeVar("_Other")
"""What is no line any more."""
_Made = TypeVar("_Made")


def by_stretches(
    items: Sequence[Line | _Other], made: Callable[[Sequence[Line]], Sequence[_Made]]
) -> list[_Made | _Other]:
    """Return what is on a page, each stretch of lines between other things replaced by what is `made` of it."""
    found: list[_Made | _Other] = []
    lines: list[Line] = []
    for item in items:
        if isinstance(item, Line):
            lines.append(item)
        else:
            found += [*made(lines), item]
            lines = []
    return [*found, *made(lines)]
