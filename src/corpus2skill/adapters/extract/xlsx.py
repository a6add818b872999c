"""Excel: every visible sheet, its cells as Excel shows them. Rows are streamed; nothing is calculated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.office_relations import children, main_part, relations
from corpus2skill.adapters.extract.sheets import Workbook
from corpus2skill.adapters.extract.text_shape import in_one_line
from corpus2skill.adapters.extract.xlsx_styles import Styles
from corpus2skill.adapters.extract.xml_element import Element, child, local, value
from corpus2skill.adapters.extract.xml_stream import events
from corpus2skill.adapters.extract.zip_parts import ZipParts
from corpus2skill.domain.corpus import ExtractedText
from corpus2skill.errors import SourceRefused

_RANGE = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7}):[A-Za-z]{1,3}([0-9]{1,7})")
_LONGEST_COLUMN = 3
_LEFT_OUT = frozenset({"rPh", "phoneticPr", "rPr"})
"""Readings above kanji, which would stand in the middle of the words."""
_MAX_STRINGS = 2_000_000


def extract_xlsx(data: bytes, limits: Limits) -> ExtractedText:
    """Return the text of an .xlsx file.

    Raises:
        SourceRefused: `corrupt`, `hostile`, `encrypted`, `too_large`.
    """
    parts = ZipParts(data, max_inflated_bytes=limits.max_inflated_bytes)
    reader = _WorkbookReader(parts, limits)
    return reader.read()


class _WorkbookReader:
    def __init__(self, parts: ZipParts, limits: Limits) -> None:
        self._parts = parts
        self._main = main_part(parts, "xl/workbook.xml")
        root = parts.xml(self._main)
        if root is None:
            raise SourceRefused("corrupt", "not_as_named", suffix=".xlsx", beginning="ZIP")
        self._root = root
        self._relations = relations(parts, self._main)
        is_from_1904 = value(child(root, "workbookPr"), "date1904") in {"1", "true"}
        self._styles = Styles(self._xml("styles"), is_from_1904=is_from_1904)
        self._strings = self._shared_strings()
        self._workbook = Workbook(limits)

    def read(self) -> ExtractedText:
        for sheet in children(self._root, "sheets"):
            relation = self._relations.get(value(sheet, "id") or "")
            name = value(sheet, "name") or ""
            if relation is None or relation.kind != "worksheet" or relation.target not in self._parts.names:
                continue
            if value(sheet, "state") in {"hidden", "veryHidden"}:
                self._workbook.hidden(name)
            else:
                self._read_sheet(name, relation.target)
        return self._workbook.text()

    def _read_sheet(self, name: str, part: str) -> None:
        self._workbook.begin(name)
        number = -1
        with self._parts.stream(part) as stream:
            for _, element in events(stream, ("row", "mergeCell")):
                if local(element) == "row":
                    number = _row_number(element, number)
                    self._workbook.row(number, dict(self._cells(element)))
                elif span := _span(value(element, "ref") or ""):
                    self._workbook.merge(*span)

    def _cells(self, row: Element) -> Iterator[tuple[int, str]]:
        column = -1
        for cell in row:
            named = _column(cell.get("r", "").rstrip("0123456789"))
            column = column + 1 if named is None else named
            if words := self._words(cell):
                yield column, words

    def _words(self, cell: Element) -> str:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return in_one_line(_string(child(cell, "is")))
        text = ""
        for inner in cell:
            if local(inner) == "v":
                text = inner.text or ""
        if kind == "s":
            return self._shared(text)
        if kind == "b":
            return "TRUE" if text == "1" else "FALSE"
        return self._number(text, cell.get("s", "")) if kind == "n" and text else in_one_line(text)

    def _shared(self, text: str) -> str:
        number = int(text) if text.isdecimal() and len(text) < 9 else -1
        return self._strings[number] if 0 <= number < len(self._strings) else ""

    def _number(self, text: str, style: str) -> str:
        try:
            return self._styles.shown(float(text), style)
        except (ValueError, OverflowError):
            return in_one_line(text)

    def _xml(self, kind: str) -> Element | None:
        part = self._part(kind)
        return self._parts.xml(part) if part else None

    def _part(self, kind: str) -> str | None:
        found = (relation.target for relation in self._relations.values() if relation.kind == kind)
        return next((target for target in found if target in self._parts.names), None)

    def _shared_strings(self) -> list[str]:
        part = self._part("sharedStrings")
        if part is None:
            return []
        strings: list[str] = []
        with self._parts.stream(part) as stream:
            for _, item in events(stream, ("si",)):
                strings.append(in_one_line(_string(item)))
                if len(strings) > _MAX_STRINGS:
                    raise SourceRefused("too_large", "strings", limit=_MAX_STRINGS)
        return strings


def _string(item: Element | None) -> str:
    """Return a string without the readings of its kanji."""
    if item is None:
        return ""
    pieces: list[str] = []
    for inner in item:
        name = local(inner)
        if name == "t":
            pieces.append(inner.text or "")
        elif name not in _LEFT_OUT:
            pieces.append(_string(inner))
    return "".join(pieces)


def _row_number(row: Element, before: int) -> int:
    number = row.get("r", "")
    return int(number) - 1 if number.isdecimal() and len(number) < 9 else before + 1


@lru_cache(maxsize=20_000)
def _column(letters: str) -> int | None:
    """Return the column `B`, counted from 0; None for what is no name of a column."""
    if not letters.isascii() or not letters.isalpha() or len(letters) > _LONGEST_COLUMN:
        return None
    column = 0
    for letter in letters.upper():
        column = column * 26 + ord(letter) - ord("A") + 1
    return column - 1


def _span(reference: str) -> tuple[int, int, int] | None:
    """Return column, first and last row of a merged range `A1:B7`."""
    match = _RANGE.fullmatch(reference)
    column = _column(match.group(1)) if match else None
    if match is None or column is None:
        return None
    return column, int(match.group(2)) - 1, int(match.group(3)) - 1
