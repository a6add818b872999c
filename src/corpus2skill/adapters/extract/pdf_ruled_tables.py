"""Tables of a PDF page whose cells are drawn: each cell's words belong together, however they wrap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from corpus2skill.adapters.extract.pdf_join import joined_lines
from corpus2skill.adapters.extract.pdf_lines import Line
from corpus2skill.adapters.extract.pdf_rules import Grid
from corpus2skill.adapters.extract.pdf_tables import Table

_LONGEST_CELL = 600
"""Characters; cells that hold more are frames around prose."""
_MIDDLE = 0.3
"""The middle of a line is this many sizes above its base line."""

_Cells = dict[tuple[int, int], list[str]]


def with_ruled_tables(lines: Sequence[Line], grids: Sequence[Grid]) -> list[Line | Table]:
    """Return a page's lines with those within `grids` replaced by tables."""
    items: list[Line | Table] = list(lines)
    for grid in grids:
        within = [item for item in items if isinstance(item, Line) and _is_within(item, grid)]
        table = _table(within, grid)
        if table is not None:
            inside = set(map(id, within))
            first = next(number for number, item in enumerate(items) if id(item) in inside)
            items[first] = table
            items = [item for item in items if id(item) not in inside]
    return items


def _is_within(line: Line, grid: Grid) -> bool:
    return not line.is_vertical and grid.holds(line.x0 + _MIDDLE * line.size, line.y + _MIDDLE * line.size)


def _table(lines: Sequence[Line], grid: Grid) -> Table | None:
    """Return the table of a grid; None where it holds prose, or only one row or column has words."""
    words = _words(lines, grid)
    longest = max((sum(map(len, texts)) for texts in words.values()), default=0)
    if longest > _LONGEST_CELL or len({row for row, _ in words}) < 2 or len({at for _, at in words}) < 2:
        return None
    rows = [[""] * (len(grid.xs) - 1) for _ in grid.ys[1:]]
    for (row, column), texts in words.items():
        for number in grid.rows_of(row, column):
            rows[number][column] = joined_lines(texts)
    return Table(page=lines[0].page, rows=tuple(map(tuple, rows)), top=lines[0])


def _words(lines: Sequence[Line], grid: Grid) -> _Cells:
    words: _Cells = defaultdict(list)
    for line in sorted(lines, key=lambda line: -line.y):
        within: _Cells = defaultdict(list)
        for cell in line.cells:
            place = grid.cell(cell.x0 + _MIDDLE * line.size, line.y + _MIDDLE * line.size)
            within[place].append(cell.text)
        for place, texts in within.items():
            words[place].append(" ".join(texts))
    return words
