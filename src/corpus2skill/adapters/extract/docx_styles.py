"""What Word's styles say of paragraphs: heading levels, numbering, lists of contents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from corpus2skill.adapters.extract.xml_element import Element, child, local, value, whole

_HEADING = re.compile(r"(?:heading|見出し|überschrift|titre)\s*([1-9１-９])$", re.IGNORECASE)
_TITLE = re.compile(r"(?:title|表題|タイトル)$", re.IGNORECASE)
_CONTENTS = re.compile(
    r"(?:toc|目次)(?:\s*[1-9]|\s*heading|\s*の見出し)?$|table of figures$|図表目次$", re.IGNORECASE
)
_T = TypeVar("_T")
_BODY_LEVEL = 9
_DEEPEST = 20
"""Styles one upon the other; a circle ends here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParagraphStyle:
    """One paragraph style with what it inherits."""

    style_id: str
    name: str = ""
    outline: int | None = None
    """0 to 8 for headings, 9 for body text."""
    number: str | None = None
    """Its list, `w:numId`."""
    number_level: int | None = None

    @property
    def level(self) -> int | None:
        """The heading level, 1 to 9; None for body text."""
        if self.outline is not None:
            return self.outline + 1 if self.outline < _BODY_LEVEL else None
        named = _HEADING.match(self.name)
        return int(named.group(1)) if named else None

    @property
    def is_title(self) -> bool:
        return bool(_TITLE.match(self.name))

    @property
    def is_contents(self) -> bool:
        """True for the lines of a table of contents, which repeat the headings."""
        return bool(_CONTENTS.match(self.name))


class Styles:
    """The styles of one document."""

    def __init__(self, part: Element | None) -> None:
        self._elements: dict[str, Element] = {}
        self._known: dict[str, ParagraphStyle] = {}
        self.default = ParagraphStyle(style_id="")
        for style in part if part is not None else ():
            style_id = value(style, "styleId")
            if local(style) == "style" and style_id:
                self._elements.setdefault(style_id, style)
                if value(style, "type") == "paragraph" and value(style, "default") in {"1", "true", "on"}:
                    self.default = self.style(style_id)

    def style(self, style_id: str | None) -> ParagraphStyle:
        """Return a style by its id; an unknown one, or none, is the default style."""
        if not style_id or style_id not in self._elements:
            return self.default
        if style_id not in self._known:
            self._known[style_id] = self._resolved(style_id)
        return self._known[style_id]

    def _resolved(self, style_id: str) -> ParagraphStyle:
        chain = list(self._chain(style_id))
        properties = [child(style, "pPr") for style in chain]
        return ParagraphStyle(
            style_id=style_id,
            name=self._telling_name(chain),
            outline=_first([whole(child(each, "outlineLvl")) for each in properties]),
            number=_first([value(child(each, "numPr", "numId")) for each in properties]),
            number_level=_first([whole(child(each, "numPr", "ilvl")) for each in properties]),
        )

    def _telling_name(self, chain: list[Element]) -> str:
        """Return the style's name, or that of a heading it is based on."""
        names = [value(child(style, "name")) or "" for style in chain]
        telling = (
            name for name in names if _HEADING.match(name) or _TITLE.match(name) or _CONTENTS.match(name)
        )
        return next(telling, names[0] if names else "")

    def _chain(self, style_id: str) -> Iterator[Element]:
        for _ in range(_DEEPEST):
            style = self._elements.get(style_id)
            if style is None:
                return
            yield style
            style_id = value(child(style, "basedOn")) or ""


def _first(values: list[_T | None]) -> _T | None:
    return next((each for each in values if each is not None), None)
