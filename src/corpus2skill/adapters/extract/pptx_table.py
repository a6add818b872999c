"""Tables of a slide as rows of words."""

from __future__ import annotations

from collections.abc import Iterator

from corpus2skill.adapters.extract.office_relations import children
from corpus2skill.adapters.extract.pptx_text import words_of
from corpus2skill.adapters.extract.xml_element import Element, child, local, value

_ON = frozenset({"1", "true"})


def table_rows(table: Element) -> list[list[str]]:
    """Return the rows of an `a:tbl`; a cell merged downwards is repeated, one merged sideways leaves empty ones."""
    rows: list[list[str]] = []
    above: list[str] = []
    for row in table:
        if local(row) == "tr":
            above = list(_cells(row, above))
            rows.append(above)
    return rows


def has_header(table: Element) -> bool:
    return value(child(table, "tblPr"), "firstRow") in _ON


def _cells(row: Element, above: list[str]) -> Iterator[str]:
    cells = [each for each in children(row) if local(each) == "tc"]
    for column, cell in enumerate(cells):
        if value(cell, "hMerge") in _ON:
            yield ""
        elif value(cell, "vMerge") in _ON:
            yield above[column] if column < len(above) else ""
        else:
            yield words_of(child(cell, "txBody"))
