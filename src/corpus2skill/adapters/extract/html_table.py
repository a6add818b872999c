"""Tables of a page as rows of words."""

from __future__ import annotations

from collections.abc import Iterator

from lxml.html import HtmlElement

from corpus2skill.adapters.extract.html_parts import HEADINGS, is_left_out, text_of

_WIDEST = 100
"""Columns or rows that one cell may span; a page may claim any number."""


def table_rows(table: HtmlElement) -> list[list[str]]:
    """Return the rows; a cell that spans rows is repeated in each, one that spans columns leaves them empty."""
    rows: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}
    for row in _rows(table):
        cells: list[str] = []
        for cell in row.iterchildren("td", "th"):
            _fill_hanging(cells, hanging)
            words = "" if is_left_out(cell) else text_of(cell)
            width, height = _span(cell, "colspan"), _span(cell, "rowspan")
            if height > 1:
                hanging.update(
                    {len(cells) + at: (height - 1, words if at == 0 else "") for at in range(width)}
                )
            cells += [words, *[""] * (width - 1)]
        _fill_hanging(cells, hanging)
        rows.append(cells)
    return rows


def has_header(table: HtmlElement) -> bool:
    """True where the first row is marked as a header: in a `thead`, or all of `th`."""
    first = next(_rows(table), None)
    if first is None:
        return False
    cells = list(first.iterchildren("td", "th"))
    parent = first.getparent()
    is_in_head = parent is not None and parent.tag == "thead"
    return is_in_head or (len(cells) > 1 and all(cell.tag == "th" for cell in cells))


def is_layout(table: HtmlElement) -> bool:
    """True for a table that only places things: it holds tables or headings, or has a single cell a row."""
    if table.get("role") in {"presentation", "none"}:
        return True
    if any(inner is not table for inner in table.iter("table", "pre", *HEADINGS)):
        return True
    return all(sum(1 for _ in row.iterchildren("td", "th")) < 2 for row in _rows(table))


def _rows(table: HtmlElement) -> Iterator[HtmlElement]:
    for part in table.iterchildren("thead", "tbody", "tfoot", "tr"):
        if is_left_out(part):
            continue
        rows = [part] if part.tag == "tr" else part.iterchildren("tr")
        yield from (row for row in rows if not is_left_out(row))


def _fill_hanging(cells: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    """Add the cells that hang down from rows above at the place that comes next."""
    while (at := len(cells)) in hanging:
        left, words = hanging.pop(at)
        cells.append(words)
        if left > 1:
            hanging[at] = (left - 1, words)


def _span(cell: HtmlElement, name: str) -> int:
    value = cell.get(name, "1")
    return min(max(int(value), 1), _WIDEST) if value.isascii() and value.isdigit() else 1
