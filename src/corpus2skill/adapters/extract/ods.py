"""OpenDocument spreadsheets: a cell's words are in the file as the sheet shows them."""

from __future__ import annotations

from collections.abc import Iterator

from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.sheets import Workbook
from corpus2skill.adapters.extract.text_shape import in_one_line
from corpus2skill.adapters.extract.xml_element import Element, child, local, value, whole
from corpus2skill.adapters.extract.xml_stream import events
from corpus2skill.adapters.extract.zip_parts import ZipParts
from corpus2skill.domain.corpus import ExtractedText
from corpus2skill.errors import SourceRefused

_CONTENT = "content.xml"
_MOST_REPEATED = 1_000
"""Copies of a cell or row with words in it; beyond, a sheet is filled to its end and says nothing more."""
_LEFT_OUT = frozenset({"annotation", "ruby-text", "note", "frame"})


def extract_ods(data: bytes, limits: Limits) -> ExtractedText:
    """Return the text of an .ods file.

    Raises:
        SourceRefused: `corrupt`, `hostile`, `encrypted`, `too_large`.
    """
    parts = ZipParts(data, max_inflated_bytes=limits.max_inflated_bytes)
    _require_open(parts)
    reader = _SheetReader(Workbook(limits))
    with parts.stream(_CONTENT) as stream:
        for event, element in events(stream, ("style", "table-row"), starts=("table",)):
            reader.take(event, element)
    return reader.workbook.text()


def _require_open(parts: ZipParts) -> None:
    """Raises: SourceRefused (`encrypted`) where the manifest says so."""
    manifest = parts.data("META-INF/manifest.xml") or b""
    if b"encryption-data" in manifest:
        raise SourceRefused("encrypted")


class _SheetReader:
    """Goes through `content.xml` once."""

    def __init__(self, workbook: Workbook) -> None:
        self.workbook = workbook
        self._hidden_styles: set[str] = set()
        self._is_hidden = False
        self._row = 0

    def take(self, event: str, element: Element) -> None:
        name = local(element)
        if name == "style":
            if value(child(element, "table-properties"), "display") == "false":
                self._hidden_styles.add(value(element, "name") or "")
        elif name == "table-row":
            if not self._is_hidden:
                self._take_row(element)
        elif event == "start":
            self._begin(element)

    def _begin(self, table: Element) -> None:
        name = value(table, "name") or ""
        self._row = 0
        self._is_hidden = (value(table, "style-name") or "") in self._hidden_styles
        if self._is_hidden:
            self.workbook.hidden(name)
        else:
            self.workbook.begin(name)

    def _take_row(self, row: Element) -> None:
        repeated = max(whole(row, "number-rows-repeated") or 1, 1)
        cells = dict(self._cells(row))
        if cells:
            for number in range(min(repeated, _MOST_REPEATED)):
                self.workbook.row(self._row + number, dict(cells))
        self._row += repeated

    def _cells(self, row: Element) -> Iterator[tuple[int, str]]:
        column = 0
        for cell in row:
            if local(cell) not in {"table-cell", "covered-table-cell"}:
                continue
            repeated = max(whole(cell, "number-columns-repeated") or 1, 1)
            words = in_one_line(" ".join(_words(inner) for inner in cell if local(inner) == "p"))
            if words and local(cell) == "table-cell":
                yield from ((column + number, words) for number in range(min(repeated, _MOST_REPEATED)))
                self.workbook.merge(
                    column, self._row, self._row + (whole(cell, "number-rows-spanned") or 1) - 1
                )
            column += repeated


def _words(element: Element) -> str:
    """Return the words in an element; the parser lets none be nested without end."""
    if local(element) in _LEFT_OUT:
        return ""
    pieces = [" " if local(element) in {"s", "tab", "line-break"} else element.text or ""]
    for inner in element:
        pieces += [_words(inner), inner.tail or ""]
    return "".join(pieces)
