"""Tables of a Word document as rows of words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from corpus2skill.adapters.extract.xml_element import Element, child, is_on, local, value, whole

_WIDEST = 100
_HOLDERS = frozenset({"sdt", "sdtContent", "customXml", "ins"})
_FIRST_ROW = 0x0020


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    cells: tuple[str, ...]
    is_header: bool = False


def is_box(table: Element) -> bool:
    """True for a table of one column: a frame around paragraphs."""
    return all(sum(1 for _ in _inside(row, "tc")) < 2 for row in _inside(table, "tr"))


def cells_of(table: Element) -> Iterator[Element]:
    """Yield the table's own cells, not those of tables in them."""
    for row in _inside(table, "tr"):
        yield from _inside(row, "tc")


def rows_of(table: Element, words: Callable[[Element], str]) -> tuple[Row, ...]:
    """Return the rows; a cell merged downwards is repeated in each row, one merged sideways leaves empty ones."""
    rows: list[Row] = []
    above: dict[int, str] = {}
    for element in _inside(table, "tr"):
        if child(element, "trPr", "del") is None:
            cells = tuple(_cells(element, words, above))
            rows.append(Row(cells=cells, is_header=_is_marked_header(element)))
    if rows and len(rows) > 1 and _first_row_stands_out(table) and _is_mostly_filled(rows[0]):
        rows[0] = Row(cells=rows[0].cells, is_header=True)
    return tuple(rows)


def _cells(row: Element, words: Callable[[Element], str], above: dict[int, str]) -> Iterator[str]:
    """Yield a row's cells; `above` keeps the words that vertically merged cells of each column repeat."""
    column = 0
    for _ in range(min(whole(child(row, "trPr", "gridBefore")) or 0, _WIDEST)):
        yield ""
        column += 1
    for cell in _inside(row, "tc"):
        merge = child(cell, "tcPr", "vMerge")
        width = min(max(whole(child(cell, "tcPr", "gridSpan")) or 1, 1), _WIDEST)
        own = words(cell)
        if merge is not None and value(merge) != "restart":
            own = own or above.get(column, "")
        above[column] = own
        yield own
        yield from ("" for _ in range(width - 1))
        column += width


def _is_marked_header(row: Element) -> bool:
    return is_on(child(row, "trPr", "tblHeader"))


def _first_row_stands_out(table: Element) -> bool:
    """True where the table's style sets the first row apart; a table of two columns may still be of terms."""
    look = child(table, "tblPr", "tblLook")
    if (named := value(look, "firstRow")) is not None:
        return named in {"1", "true", "on"}
    bits = value(look) or "0"
    try:
        return bool(int(bits, 16) & _FIRST_ROW)
    except ValueError:
        return False


def _inside(parent: Element, name: str) -> Iterator[Element]:
    """Yield rows or cells, through the wrappers that Word may put around them."""
    for element in parent:
        if local(element) == name:
            yield element
        elif local(element) in _HOLDERS:
            yield from _inside(element, name)


def _is_mostly_filled(row: Row) -> bool:
    """The corner of a table may be empty; a row that is half empty heads nothing."""
    return sum(map(bool, row.cells)) * 2 > len(row.cells)
