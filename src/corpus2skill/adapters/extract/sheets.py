"""Sheets of a workbook as text: every block of rows a table, what stands alone a paragraph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.text_builder import TextBuilder, require_characters
from corpus2skill.domain.corpus import ExtractedText, Notice
from corpus2skill.errors import SourceRefused

_WIDTH_OF_MARKS = 3
"""Characters that a cell takes in a row beside its own."""
_MOST_MERGED = 1_000_000
"""Cells that are filled from merged ones; a hostile workbook may claim any number."""
_A_NUMBER = set("0123456789")


@dataclass(slots=True)
class Sheet:
    """One sheet: its rows by number, each cell's words by column; empty cells are not there."""

    name: str
    rows: dict[int, dict[int, str]] = field(default_factory=dict[int, dict[int, str]])
    merged: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])
    """Cells merged downwards: column, first and last row. The words stand in the first."""


class Workbook:
    """Collects the sheets of one document and holds them to its limits while they come."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._characters = 0
        self._rows = self._cells = 0
        self._sheets: list[Sheet] = []
        self._hidden: list[str] = []

    def begin(self, name: str) -> None:
        self._sheets.append(Sheet(name))

    def hidden(self, name: str) -> None:
        """Note a sheet that its author hid; it is not read."""
        self._hidden.append(name)

    def row(self, number: int, cells: dict[int, str]) -> None:
        """Add a row, or more of one, to the sheet that was begun last. Words come in one line; a cell without any is not there.

        Raises:
            SourceRefused: `too_large` with the limit's name.
        """
        if not cells:
            return
        rows = self._sheets[-1].rows
        self._rows += number not in rows
        if self._rows > self._limits.max_rows:
            raise SourceRefused("too_large", "rows", limit=self._limits.max_rows)
        self._cells += len(cells)
        if self._cells > self._limits.max_cells:
            raise SourceRefused("too_large", "cells", limit=self._limits.max_cells)
        self._characters += sum(map(len, cells.values())) + _WIDTH_OF_MARKS * len(cells)
        require_characters(self._characters, self._limits.max_characters)
        rows[number] = {**rows[number], **cells} if number in rows else cells

    def merge(self, column: int, first: int, last: int) -> None:
        """Note that a cell of the sheet that was begun last reaches down over rows `first` to `last`."""
        if last > first and len(self._sheets[-1].merged) < _MOST_MERGED:
            self._sheets[-1].merged.append((column, first, last))

    def text(self) -> ExtractedText:
        """Return all sheets as one text.

        Raises:
            SourceRefused: `too_large`.
        """
        builder = TextBuilder(characters=self._limits.max_characters)
        for sheet in self._sheets:
            if sheet.rows:
                _fill_merged(sheet)
                builder.page(sheet.name, "sheet")
                builder.heading(sheet.name, 1)
                for block in _blocks(sheet):
                    _build(block, builder, self._limits)
        return builder.build(notices=self._notices())

    def _notices(self) -> tuple[Notice, ...]:
        if not self._hidden:
            return ()
        names = ", ".join(self._hidden[:10])
        return (Notice(code="sheets_hidden", values=(("count", len(self._hidden)), ("names", names))),)


def _fill_merged(sheet: Sheet) -> None:
    """Repeat what is merged downwards in each of its rows: a row must say all by itself."""
    left = _MOST_MERGED
    for column, first, last in sheet.merged:
        words = sheet.rows.get(first, {}).get(column)
        if not words:
            continue
        numbers = range(first + 1, last + 1) if last - first < len(sheet.rows) else sorted(sheet.rows)
        for number in numbers:
            left -= 1
            if left < 0:
                return
            if first < number <= last and (row := sheet.rows.get(number)) is not None:
                row.setdefault(column, words)


def _blocks(sheet: Sheet) -> Iterator[list[Mapping[int, str]]]:
    """Yield runs of rows; an empty row parts them."""
    block: list[Mapping[int, str]] = []
    before = None
    for number in sorted(sheet.rows):
        if before is not None and number > before + 1:
            yield block
            block = []
        block.append(sheet.rows[number])
        before = number
    if block:
        yield block


def _build(block: Sequence[Mapping[int, str]], builder: TextBuilder, limits: Limits) -> None:
    """Put one block into the text; lone cells above and below a table are its title and its notes."""
    first = next((at for at, row in enumerate(block) if len(row) > 1), len(block))
    last = next((at for at in range(len(block), 0, -1) if len(block[at - 1]) > 1), first)
    if last - first < 1:
        first = last = len(block)
    for row in block[:first]:
        builder.paragraph(" ".join(row.values()))
    _build_table(block[first:last], builder, limits)
    for row in block[last:]:
        builder.paragraph(" ".join(row.values()))


def _build_table(rows: Sequence[Mapping[int, str]], builder: TextBuilder, limits: Limits) -> None:
    columns = sorted({column for row in rows for column in row})
    words = sum(len(cell) for row in rows for cell in row.values())
    require_characters(words + len(rows) * len(columns) * _WIDTH_OF_MARKS, limits.max_characters)
    table = [[row.get(column, "") for column in columns] for row in rows]
    if len(table) == 1:
        builder.paragraph(" ".join(filter(None, table[0])))
    elif table:
        builder.table(table, has_header=_is_header(table))


def _is_header(table: Sequence[Sequence[str]]) -> bool:
    """True where the first row names the columns: nearly all of it is filled, and with words."""
    first = table[0]
    words = [cell for cell in first if cell and not _is_number(cell)]
    return len(words) * 4 >= len(first) * 3


def _is_number(cell: str) -> bool:
    return sum(character in _A_NUMBER for character in cell) * 2 > len(cell)
