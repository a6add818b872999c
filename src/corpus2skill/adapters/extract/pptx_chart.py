"""Charts as the tables that they draw, and diagrams as their words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from corpus2skill.adapters.extract.number_format import plain_number
from corpus2skill.adapters.extract.pptx_text import words_of
from corpus2skill.adapters.extract.text_shape import in_one_line
from corpus2skill.adapters.extract.xml_element import Element, child, local, value, whole

_MOST_POINTS = 100
"""Rows of a chart that people read as numbers; a curve of more says what it says by its title and its series."""
_TALKING_POINTS = frozenset({None, "node", "asst"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    title: str
    rows: tuple[tuple[str, ...], ...]
    """A header with the names of the series, then a row a category."""


def chart_of(part: Element) -> Chart:
    """Return a chart part's title and its numbers."""
    chart = child(part, "chart")
    title = in_one_line(words_of(child(chart, "title", "tx", "rich")))
    series = [each for each in _within(child(chart, "plotArea")) if local(each) == "ser"]
    names = [_first(_points(child(each, "tx"))) for each in series]
    categories = next((points for each in series if (points := _categories(each))), {})
    columns = [_points(child(each, "val")) or _points(child(each, "yVal")) for each in series]
    numbers = sorted({number for column in (categories, *columns) for number in column})
    if len(numbers) > _MOST_POINTS:
        return Chart(title=" ".join(filter(None, (title, *names))), rows=())
    rows = [
        (categories.get(number, ""), *(column.get(number, "") for column in columns)) for number in numbers
    ]
    return Chart(title=title, rows=(("", *names), *rows) if rows else ())


def diagram_lines(part: Element) -> list[str]:
    """Return the words of a diagram's points."""
    points = [
        each for each in _within(part) if local(each) == "pt" and value(each, "type") in _TALKING_POINTS
    ]
    return [words for each in points if (words := in_one_line(words_of(child(each, "t"))))]


def _categories(series: Element) -> dict[int, str]:
    return _points(child(series, "cat")) or _points(child(series, "xVal"))


def _points(holder: Element | None) -> dict[int, str]:
    found: dict[int, str] = {}
    for point in _within(holder):
        if local(point) == "pt":
            number = whole(point, "idx")
            words = _shown(in_one_line("".join(held.text or "" for held in point if local(held) == "v")))
            known = found.get(number or 0)
            found[number or 0] = f"{words} {known}" if known else words
    return found


def _within(element: Element | None) -> Iterator[Element]:
    if element is not None:
        yield from element.iter()


def _first(points: dict[int, str]) -> str:
    return next(iter(points.values()), "")


def _shown(text: str) -> str:
    """A number as it is kept has digits that only a computer writes."""
    try:
        return plain_number(round(float(text), 10))
    except (ValueError, OverflowError):
        return text
