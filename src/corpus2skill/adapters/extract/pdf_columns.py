"""Prose in columns that was written line by line across the page: it looks like a table and is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from corpus2skill.adapters.extract.pdf_lines import Cell, Line

_FEWEST_LINES = 6
_FULL = 0.85
"""Share of its column's width from which a line is full: prose is broken at the margin, entries are not."""
_MOSTLY = 0.7
_SHORTEST = 14
"""Characters of a line of prose; narrower columns hold entries."""
_MARKS = frozenset("、。，．,.;；")


def lines_by_column(
    lines: Sequence[Line], columns: int, column_of: Callable[[Cell], int]
) -> list[Line] | None:
    """Return the lines column by column where they are prose in two or three columns, else None."""
    if columns not in (2, 3) or len(lines) < _FEWEST_LINES:
        return None
    parts = [_part(lines, column, column_of) for column in range(columns)]
    return [line for part in parts for line in part] if all(map(_is_prose, parts)) else None


def _part(lines: Sequence[Line], column: int, column_of: Callable[[Cell], int]) -> list[Line]:
    """The lines of one column, each with that column's text alone."""
    cells = [(line, tuple(cell for cell in line.cells if column_of(cell) == column)) for line in lines]
    end = max((cell.x1 for _, own in cells for cell in own), default=0.0)
    return [replace(line, cells=own, column_end=end) for line, own in cells if own]


def _is_prose(lines: Sequence[Line]) -> bool:
    """True for lines that mostly fill their column, are long, have stops within, and do not all end in one."""
    if len(lines) < _FEWEST_LINES:
        return False
    width = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    full = sum(line.x1 - line.x0 >= _FULL * width for line in lines)
    long = sum(len(line.text) >= _SHORTEST for line in lines)
    marked = sum(bool(_MARKS & set(line.text)) for line in lines)
    ended = sum(line.text[-1] in "。．." for line in lines)
    least = _MOSTLY * len(lines)
    return full >= least and long >= least and marked * 3 >= len(lines) and ended < least
