"""Word's automatic numbers, computed: they stand in no text of the file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from corpus2skill.adapters.extract.docx_styles import ParagraphStyle
from corpus2skill.adapters.extract.numerals import numeral
from corpus2skill.adapters.extract.xml_element import Element, child, is_on, local, value, whole

_PLACE = re.compile("%([1-9])")
_LEVELS = 9
_BULLET = "・"
_NO_GAP_BEFORE = ("（", "(", "【", "「", "　", " ", "、", "：")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    start: int = 1
    style: str = "decimal"
    text: str = ""
    gap: str = " "
    is_legal: bool = False
    """All numbers of the text are decimal."""
    restart: int | None = None
    """0: never restarts; N: restarts after a paragraph of level N or above (counted from 1)."""
    paragraph_style: str | None = None


@dataclass(slots=True, kw_only=True)
class _Sequence:
    """The counters of one abstract list; several lists may go on counting in it."""

    levels: dict[int, _Level]
    counters: dict[int, int] = field(default_factory=dict[int, int])


@dataclass(frozen=True, slots=True, kw_only=True)
class _List:
    abstract: str
    overrides: dict[int, int]
    """Level to the number that it starts from in this list."""
    levels: dict[int, _Level]
    """Levels that this list redefines."""


class Numbering:
    """The lists of one document and how far each has counted. Paragraphs must come in document order."""

    def __init__(self, part: Element | None) -> None:
        self._sequences: dict[str, _Sequence] = {}
        self._lists: dict[str, _List] = {}
        self._style_links: dict[str, str] = {}
        self._begun: set[tuple[str, int]] = set()
        borrowed: dict[str, str] = {}
        for element in part if part is not None else ():
            if local(element) == "abstractNum":
                self._add_sequence(element, borrowed)
            elif local(element) == "num":
                self._add_list(element)
        for abstract, style in borrowed.items():
            if style in self._style_links:
                self._sequences[abstract] = self._sequences[self._style_links[style]]

    def label(self, properties: Element | None, style: ParagraphStyle) -> str:
        """Count a paragraph and return its number or bullet with the gap after it; empty where it has none.

        `properties` is the paragraph's `w:numPr`.
        """
        own = value(child(properties, "numId"))
        number = own or style.number
        found = self._lists.get(number or "")
        if found is None or (sequence := self._sequences.get(found.abstract)) is None:
            return ""
        level = whole(child(properties, "ilvl"))
        if level is None:
            level = style.number_level if own is None else 0
        if level is None:
            level = _level_of_style(sequence, style)
        return self._counted(number or "", found, sequence, min(max(level, 0), _LEVELS - 1))

    def _counted(self, number: str, found: _List, sequence: _Sequence, level: int) -> str:
        levels = {**sequence.levels, **found.levels}
        counters = sequence.counters
        if (number, level) not in self._begun and level in found.overrides:
            counters[level] = found.overrides[level]
        else:
            counters[level] = counters.get(level, levels.get(level, _Level()).start - 1) + 1
        self._begun.add((number, level))
        for deeper in [other for other in counters if other > level]:
            if _restarts(levels.get(deeper, _Level()), level):
                del counters[deeper]
        return _written(levels, counters, level)

    def _add_sequence(self, element: Element, borrowed: dict[str, str]) -> None:
        abstract = value(element, "abstractNumId") or ""
        self._sequences[abstract] = _Sequence(levels=_levels(element))
        if link := value(child(element, "styleLink")):
            self._style_links[link] = abstract
        if link := value(child(element, "numStyleLink")):
            borrowed[abstract] = link

    def _add_list(self, element: Element) -> None:
        overrides: dict[int, int] = {}
        levels: dict[int, _Level] = {}
        for override in element:
            level = whole(override, "ilvl")
            if local(override) != "lvlOverride" or level is None:
                continue
            start = whole(child(override, "startOverride"))
            if start is not None:
                overrides[level] = start
            levels |= _levels(override)
        self._lists[value(element, "numId") or ""] = _List(
            abstract=value(child(element, "abstractNumId")) or "", overrides=overrides, levels=levels
        )


def _levels(element: Element) -> dict[int, _Level]:
    return {
        level: _level(inner)
        for inner in element
        if local(inner) == "lvl" and (level := whole(inner, "ilvl")) is not None
    }


def _level(element: Element) -> _Level:
    start = whole(child(element, "start"))
    return _Level(
        start=1 if start is None else start,
        style=value(child(element, "numFmt")) or "decimal",
        text=value(child(element, "lvlText")) or "",
        gap="" if value(child(element, "suff")) == "nothing" else " ",
        is_legal=is_on(child(element, "isLgl")),
        restart=whole(child(element, "lvlRestart")),
        paragraph_style=value(child(element, "pStyle")),
    )


def _level_of_style(sequence: _Sequence, style: ParagraphStyle) -> int:
    linked = (level for level, each in sequence.levels.items() if each.paragraph_style == style.style_id)
    return next(linked, 0)


def _restarts(deeper: _Level, level: int) -> bool:
    return deeper.restart is None or level < deeper.restart


def _written(levels: dict[int, _Level], counters: dict[int, int], level: int) -> str:
    own = levels.get(level, _Level())
    if own.style == "bullet":
        return f"{_bullet(own.text)} "

    def shown(match: re.Match[str]) -> str:
        other = int(match.group(1)) - 1
        each = levels.get(other, _Level())
        return numeral(counters.get(other, each.start), "decimal" if own.is_legal else each.style)

    text = _PLACE.sub(shown, own.text).strip()
    return f"{text}{own.gap}" if text else ""


def _bullet(text: str) -> str:
    """Bullets of symbol fonts are letters or private characters; a plain mark stands for them."""
    is_mark = (
        len(text) == 1 and not text.isalnum() and not text.isspace() and not "\ue000" <= text <= "\uf8ff"
    )
    return text if is_mark else _BULLET


def joined(label: str, text: str) -> str:
    """Put a number before its paragraph; 第1条 and （目的） stand together."""
    return f"{label.rstrip()}{text}" if text.startswith(_NO_GAP_BEFORE) else f"{label}{text}"
