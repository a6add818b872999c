"""CSV and TSV: a table whose rows read as text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.text_builder import TextBuilder, require_characters
from corpus2skill.adapters.extract.text_encoding import decoded
from corpus2skill.domain.corpus import ExtractedText, Notice
from corpus2skill.errors import SourceRefused

_DELIMITERS = (",", "\t", ";", "|")
_SAMPLE_ROWS = 50
_FEWEST_ROWS = 2
"""A header and a row: from there on it is clear how many cells a row has."""


def extract_csv(data: bytes, limits: Limits) -> ExtractedText:
    """Return a .csv file as one table; the delimiter is the one that gives the most even rows.

    Raises:
        SourceRefused: `undecodable`, `corrupt` (quotes that never close) or `too_large`.
    """
    text = decoded(data)
    return _table(text, _delimiter(text), limits)


def extract_tsv(data: bytes, limits: Limits) -> ExtractedText:
    """As `extract_csv`, with tabs."""
    return _table(decoded(data), "\t", limits)


def _table(text: str, delimiter: str, limits: Limits) -> ExtractedText:
    require_characters(len(text), limits.max_characters)
    builder = TextBuilder(characters=limits.max_characters)
    rows = list(_rows(text, delimiter))
    notices = list(_cut_row(rows, is_ended=text.endswith(("\n", "\r"))))
    builder.table([_bare(row) for row in rows])
    return builder.build(notices=notices)


def _cut_row(rows: list[list[str]], *, is_ended: bool) -> Iterator[Notice]:
    """Say it where a file seems to end in the middle of a row: it has no line end, and cells that all others have."""
    *others, last = rows or [[]]
    widths = {len(row) for row in others if row}
    if (
        not is_ended
        and len(others) >= _FEWEST_ROWS
        and len(widths) == 1
        and len(last) < (usual := widths.pop())
    ):
        yield Notice(code="last_row_cut", values=(("row", len(rows)), ("cells", len(last)), ("usual", usual)))


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    csv.field_size_limit(max(len(text), 131_072))
    lines = io.StringIO(text.replace("\0", ""), newline="")
    try:
        yield from csv.reader(lines, delimiter=delimiter)
    except csv.Error as error:
        raise SourceRefused("corrupt", "table") from error


def _bare(row: list[str]) -> list[str]:
    """Drop the empty cells at the end, which a spreadsheet writes out to its widest row."""
    while row and not row[-1].strip():
        row.pop()
    return row


def _delimiter(text: str) -> str:
    sample = "\n".join(text.splitlines()[: _SAMPLE_ROWS * 2])
    return max(_DELIMITERS, key=lambda delimiter: _evenness(sample, delimiter))


def _evenness(sample: str, delimiter: str) -> float:
    """How many rows have the most usual number of cells, when that number is above one; more cells win ties."""
    try:
        widths = [len(row) for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter) if row]
    except csv.Error:
        return 0.0
    usual = max(set(widths), key=widths.count, default=0)
    return widths.count(usual) / len(widths) + usual / 10_000 if usual > 1 else 0.0
