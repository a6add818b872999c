"""Rows of CSV that a spreadsheet takes for text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

Cell = str | int | float | None

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""A spreadsheet runs a cell that begins like this."""


def csv_row(cells: Iterable[Cell]) -> str:
    """Return one line; no cell of it can be taken for a formula."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(map(_harmless, cells))
    return line.getvalue()


def _harmless(cell: Cell) -> Cell:
    is_formula = isinstance(cell, str) and cell.lstrip(" \u3000").startswith(_FORMULA_STARTS)
    return f"'{cell}" if is_formula else cell
