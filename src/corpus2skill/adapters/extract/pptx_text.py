"""The words of one text frame of a slide, a line a paragraph."""

from __future__ import annotations

from collections.abc import Iterator

from corpus2skill.adapters.extract.numerals import numeral
from corpus2skill.adapters.extract.office_relations import children
from corpus2skill.adapters.extract.text_shape import in_one_line
from corpus2skill.adapters.extract.xml_element import Element, child, local, value, whole

_STYLES = {
    "arabic": "decimal",
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
    "circleNum": "decimalEnclosedCircle",
}
_LEFT_OUT = frozenset({"pPr", "rPr", "endParaRPr"})


def lines_of(frame: Element | None, *, is_list: bool = False) -> list[str]:
    """Return the lines of an `a:txBody`. `is_list`: its paragraphs have bullets unless they say otherwise."""
    return list(_lines(frame, is_list=is_list))


def words_of(frame: Element | None) -> str:
    """Return all of a text frame in one line."""
    return " ".join(line.strip() for line in _lines(frame, is_list=False))


def _lines(frame: Element | None, *, is_list: bool) -> Iterator[str]:
    counts: dict[int, int] = {}
    paragraphs = [each for each in children(frame) if local(each) == "p"]
    is_list = is_list and sum(1 for each in paragraphs if _words(each)) > 1
    for paragraph in paragraphs:
        properties = child(paragraph, "pPr")
        level = min(max(whole(properties, "lvl") or 0, 0), 8)
        numbering = child(properties, "buAutoNum")
        words = _words(paragraph)
        if not words:
            continue
        for deeper in [each for each in counts if each > level or (each == level and numbering is None)]:
            del counts[deeper]
        if numbering is not None:
            counts[level] = counts.get(level, (whole(numbering, "startAt") or 1) - 1) + 1
            mark = f"{_number(counts[level], numbering)} "
        else:
            mark = "- " if _has_bullet(properties, is_list=is_list) else ""
        yield f"{'  ' * level}{mark}{words}"


def _words(element: Element) -> str:
    return in_one_line("".join(_pieces(element)))


def _pieces(element: Element) -> Iterator[str]:
    for inner in element:
        name = local(inner)
        if name == "t":
            yield inner.text or ""
        elif name in {"br", "tab"}:
            yield " "
        elif name not in _LEFT_OUT:
            yield from _pieces(inner)


def _has_bullet(properties: Element | None, *, is_list: bool) -> bool:
    if child(properties, "buChar") is not None:
        return True
    return is_list and child(properties, "buNone") is None


def _number(number: int, numbering: Element) -> str:
    kind = value(numbering, "type") or ""
    style = next((style for name, style in _STYLES.items() if kind.startswith(name)), "decimal")
    shown = numeral(number, style)
    if kind.endswith("ParenBoth"):
        return f"({shown})"
    if kind.endswith("ParenR"):
        return f"{shown})"
    return shown if style == "decimalEnclosedCircle" or kind.endswith("Plain") else f"{shown}."
