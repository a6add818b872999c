"""Figures under each other, in as many columns of the screen as there are."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from corpus2skill.entrypoints.cli.output import width_of

_GAP = 2
_KANA, _OTHERS = "\u30a1-\u30fa\u30fc", "\u3041-\u3096\u4e00-\u9fff"
_BREAK = re.compile(
    rf"(?<=[\s:/_\-\u2013\uff5e])|(?<=[{_KANA}])(?=[{_OTHERS}])|(?<=[{_OTHERS}])(?=[{_KANA}])"
)
"""Where a cell may go on in the next line: behind a mark, and where katakana begin or end."""


def table(
    rows: Sequence[Sequence[str]], figures: Collection[int], room: int | None = None
) -> list[list[str]]:
    """Return each of `rows` as one line, or more where it is folded, with their cells under each other, wide characters counted as two.

    Columns whose number is among `figures` stand to the right. Where the lines would be longer than `room`,
    cells are folded, the widest first, as far as their words let them; None: nobody's screen ends.
    """
    columns = [_Column.of(cells) for cells in zip(*rows, strict=True)]
    _narrow(columns, room)
    folded = [[column.folded(number) for column in columns] for number in range(len(rows))]
    return [[_line(cells, columns, figures) for cells in zip_longest(*row, fillvalue="")] for row in folded]


def width_of_table(lines: Sequence[Sequence[str]]) -> int:
    """Columns of the screen that its longest line takes."""
    return max(width_of(line) for row in lines for line in row)


@dataclass(slots=True)
class _Column:
    """The cells of one column, each in pieces that stay whole."""

    cells: Sequence[Sequence[str]]
    width: int

    @classmethod
    def of(cls, cells: Sequence[str]) -> _Column:
        return cls(
            [list(filter(None, _BREAK.split(cell))) or [""] for cell in cells], max(map(width_of, cells))
        )

    @property
    def least(self) -> int:
        return max(width_of(piece.rstrip()) for cell in self.cells for piece in cell)

    def folded(self, number: int) -> list[str]:
        """The cell of one row in lines."""
        lines = [""]
        for piece in self.cells[number]:
            if lines[-1] and width_of((lines[-1] + piece).rstrip()) > self.width:
                lines.append("")
            lines[-1] += piece
        return [line.rstrip() for line in lines]

    def narrow(self) -> None:
        """Fold to the next smaller width that makes a difference."""
        self.width = max(self.width - 1, self.least)
        self.width = max(width_of(line) for number in range(len(self.cells)) for line in self.folded(number))


def _narrow(columns: Sequence[_Column], room: int | None) -> None:
    while room is not None and sum(column.width + _GAP for column in columns) - _GAP > room:
        foldable = [column for column in columns if column.width > column.least]
        if not foldable:
            return
        max(foldable, key=lambda column: column.width).narrow()


def _line(cells: Sequence[str], columns: Sequence[_Column], figures: Collection[int]) -> str:
    parts: list[str] = []
    for number, (cell, column) in enumerate(zip(cells, columns, strict=True)):
        space = " " * (column.width - width_of(cell))
        parts.append(space + cell if number in figures else cell + space)
    return (" " * _GAP).join(parts).rstrip()
