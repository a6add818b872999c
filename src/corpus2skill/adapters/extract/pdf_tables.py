"""Tables of a PDF page, found by gaps that stand one below the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from corpus2skill.adapters.extract.pdf_columns import lines_by_column
from corpus2skill.adapters.extract.pdf_join import joined_lines
from corpus2skill.adapters.extract.pdf_lines import Cell, Line
from corpus2skill.adapters.extract.pdf_stretches import by_stretches

_MARKER = re.compile(
    r"[(（]?(?:[0-9０-９]{1,3}|[A-Za-z]|[ア-ンｱ-ﾝ]|[一二三四五六七八九十]{1,3}|[ivx]{1,4})[)）.．]|[①-⑳・•●○■□◆◇*\-–—]"
)
"""A number or bullet with the mark that makes it one; a bare number may be a cell."""
_FEWEST_ROWS = 2
_MOST_ROWS = 200
"""Rows of one page that are weighed against each other; more begin another table."""
_LONGEST_CELL = 60
_SAME_ROW = 0.35
_WRAPPED = 1.7
"""A wrapped line of a cell is at most this many sizes away from its row."""
_ROW_PITCH = 4.5
_PROSE = 0.75
_NARROW = 0.3
_WIDE = 1.1
"""A gap of this many sizes is no space between words."""

_Other = TypeVar("_Other")
"""What is no line any more."""
_Column = tuple[float, float]
"""Where it begins and ends, in points from the left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of one table in order; every row has the same number of cells."""

    page: int
    rows: tuple[tuple[str, ...], ...]
    top: Line
    """Its first line, to tell what is before it."""


def with_tables(items: Sequence[Line | _Other]) -> list[Line | Table | _Other]:
    """Return what is on a page with the lines that make up tables replaced by them."""
    return by_stretches(items, _parted)


def _parted(unjoined: Sequence[Line]) -> list[Line | Table]:
    lines = _with_rows_joined([_without_marker_gaps(line) for line in unjoined])
    found: list[Line | Table] = []
    at = 0
    while at < len(lines):
        end = _table_end(lines, at)
        if end is None:
            found.append(lines[at])
            at += 1
        else:
            found += _as_prose(lines[at:end]) or [_table(lines[at:end])]
            at = end
    return found


def _as_prose(lines: Sequence[Line]) -> list[Line] | None:
    """The lines of a table that is none, column by column."""
    columns = _grid(lines).columns
    return lines_by_column(lines, len(columns), lambda cell: _column_of(cell, columns))


def _without_marker_gaps(line: Line) -> Line:
    """A number or bullet and its text are one cell, however wide the gap."""
    if len(line.cells) < 2 or not _MARKER.fullmatch(line.cells[0].text):
        return line
    first, second, *rest = line.cells
    joined = Cell(text=f"{first.text} {second.text}", x0=first.x0, x1=second.x1)
    return _with_cells(line, (joined, *rest))


def _with_rows_joined(lines: Sequence[Line]) -> list[Line]:
    """Join lines that follow each other to the right on one base line."""
    joined: list[Line] = []
    for line in lines:
        before = joined[-1] if joined else None
        if before is not None and _is_same_row(before, line):
            joined[-1] = _with_cells(before, (*before.cells, *line.cells))
        else:
            joined.append(line)
    return joined


def _is_same_row(before: Line, line: Line) -> bool:
    return (
        before.page == line.page
        and before.is_vertical == line.is_vertical
        and abs(before.y - line.y) < _SAME_ROW * min(before.size, line.size)
        and line.x0 > before.x1 - 0.1 * line.size
        and not before.is_hyphenated
    )


def _with_cells(line: Line, cells: tuple[Cell, ...]) -> Line:
    return replace(line, cells=cells)


def _table_end(lines: Sequence[Line], start: int) -> int | None:
    """Return where the table that begins at `start` ends; None where none begins."""
    if not _is_row(lines[start]):
        return None
    grid = _Grid(lines[start])
    last, at = start, start + 1
    while at < len(lines) and _is_near(lines[last], lines[at]):
        if grid.takes(lines[at]):
            last = at
        elif not grid.columns or not _is_wrapped_cell(lines[at], grid.columns, lines, at):
            break
        at += 1
    while at > last + 1 and not _belongs_to_row(lines[at - 1], lines[last]):
        at -= 1
    is_enough = len(grid.rows) > _FEWEST_ROWS or not any(map(_is_filled, grid.rows))
    return at if len(grid.rows) >= _FEWEST_ROWS and is_enough else None


class _Grid:
    """Rows of one table so far, and the columns that they share."""

    def __init__(self, first: Line) -> None:
        self.rows = [first]
        self.columns: list[_Column] = []

    def takes(self, line: Line) -> bool:
        """Take a line in if it is a row of this table: it has cells in two columns and bridges none."""
        if not _is_row(line) or len(self.rows) >= _MOST_ROWS:
            return False
        widened = _columns([*self.rows, line])
        if len(widened) < max(2, len(self.columns)) or _touched(line, widened) < 2:
            return False
        self.rows.append(line)
        self.columns = widened
        return True


def _grid(lines: Sequence[Line]) -> _Grid:
    grid = _Grid(lines[0])
    for line in lines[1:]:
        grid.takes(line)
    return grid


def _is_row(line: Line) -> bool:
    return len(line.cells) >= 2 and all(len(cell.text) <= _LONGEST_CELL for cell in line.cells)


def _is_filled(line: Line) -> bool:
    """True for a line that is nearly all text: two such lines with gaps are justified prose."""
    return sum(cell.x1 - cell.x0 for cell in line.cells) > _PROSE * (line.x1 - line.x0)


def _is_near(before: Line, line: Line) -> bool:
    return before.page == line.page and -2 * line.size < before.y - line.y < _ROW_PITCH * before.size


def _columns(rows: Sequence[Line]) -> list[_Column]:
    """Return the columns of some rows: what no row's cells bridge, and what most rows part widely."""
    merged: list[_Column] = []
    for x0, x1 in sorted((cell.x0, cell.x1) for row in rows for cell in row.cells):
        if merged and x0 < merged[-1][1] + _NARROW * rows[0].size:
            merged[-1] = (merged[-1][0], max(merged[-1][1], x1))
        else:
            merged.append((x0, x1))
    columns = merged[:1]
    for column in merged[1:]:
        if _is_parted(rows, columns[-1], column):
            columns.append(column)
        else:
            columns[-1] = (columns[-1][0], column[1])
    return columns


def _touched(line: Line, columns: Sequence[_Column]) -> int:
    """Return how many columns a line has cells in."""
    return len({_column_of(cell, columns) for cell in line.cells})


def _is_parted(rows: Sequence[Line], left: _Column, right: _Column) -> bool:
    """True where most of the rows that have cells on both sides have a wide gap there."""
    gaps: list[bool] = []
    for row in rows:
        before = [cell.x1 for cell in row.cells if left[0] <= cell.x0 and cell.x1 <= left[1]]
        after = [cell.x0 for cell in row.cells if right[0] <= cell.x0 and cell.x1 <= right[1]]
        if before and after:
            gaps.append(min(after) - max(before) > _WIDE * row.size)
    return sum(gaps) * 2 > len(gaps)


def _is_wrapped_cell(line: Line, columns: list[_Column], lines: Sequence[Line], at: int) -> bool:
    """True for the second line of a cell: it keeps within one column and near a row."""
    touched = [number for number, (x0, x1) in enumerate(columns) if line.x0 < x1 and x0 < line.x1]
    if len(touched) != 1:
        return False
    x0, _ = columns[touched[0]]
    is_within = line.x0 >= x0 - line.size and (
        touched[0] + 1 == len(columns) or line.x1 <= columns[touched[0] + 1][0]
    )
    neighbours = [other for other in (*lines[max(at - 4, 0) : at], *lines[at + 1 : at + 4]) if _is_row(other)]
    return is_within and any(_belongs_to_row(line, row) for row in neighbours)


def _belongs_to_row(line: Line, row: Line) -> bool:
    return line.page == row.page and abs(line.y - row.y) <= _WRAPPED * line.size


def _table(lines: Sequence[Line]) -> Table:
    grid = _grid(lines)
    columns, heads = grid.columns, grid.rows
    parts: list[list[list[tuple[float, float, str]]]] = [[[] for _ in columns] for _ in heads]
    for line in lines:
        nearest = min(range(len(heads)), key=lambda number: abs(heads[number].y - line.y))
        for cell in line.cells:
            parts[nearest][_column_of(cell, columns)].append((-line.y, cell.x0, cell.text))
    rows = tuple(tuple(_joined(cell) for cell in row) for row in parts)
    return Table(page=lines[0].page, rows=rows, top=lines[0])


def _column_of(cell: Cell, columns: Sequence[_Column]) -> int:
    middle = (cell.x0 + cell.x1) / 2
    return min(range(len(columns)), key=lambda at: _distance(middle, columns[at]))


def _distance(place: float, column: _Column) -> float:
    x0, x1 = column
    return max(x0 - place, place - x1, 0.0)


def _joined(parts: list[tuple[float, float, str]]) -> str:
    """Join what stands in one cell: from above, then from the left with the gaps it had."""
    lines: dict[float, list[str]] = {}
    for y, _, text in sorted(parts):
        lines.setdefault(y, []).append(text)
    return joined_lines([" ".join(texts) for texts in lines.values()])
