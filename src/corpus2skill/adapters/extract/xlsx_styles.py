"""Which number format a cell's style names."""

from __future__ import annotations

from collections.abc import Callable

from corpus2skill.adapters.extract.number_format import BUILT_IN, number_format, plain_number
from corpus2skill.adapters.extract.office_relations import children
from corpus2skill.adapters.extract.xml_element import Element, value, whole


class Styles:
    """The number formats of one workbook."""

    def __init__(self, part: Element | None, *, is_from_1904: bool) -> None:
        own = {whole(each, "numFmtId"): value(each, "formatCode") for each in children(part, "numFmts")}
        self._shown: list[Callable[[float], str]] = []
        for each in children(part, "cellXfs"):
            number = whole(each, "numFmtId") or 0
            code = own.get(number) or BUILT_IN.get(number) or ""
            self._shown.append(number_format(code, is_from_1904=is_from_1904))

    def shown(self, number: float, style: str) -> str:
        """Return a number as the cell's style, its `s`, shows it."""
        at = int(style) if style.isdecimal() and len(style) < 9 else 0
        return self._shown[at](number) if at < len(self._shown) else plain_number(number)
