"""What a PDF repeats on its pages: running heads, page numbers, dotted lists of contents."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from corpus2skill.adapters.extract.pdf_lines import Line

_ZONE = 0.12
"""Share of the page's height, above and below, where running heads stand."""
_OUTER_LINES = 3
_NEAR = 3.0
"""Points within which two base lines are at the same height."""
_REPEATED_SHARE = 0.3
_PLACE_SHARE = 0.5
_ISOLATION = 1.8
"""A running head is this many of its own sizes away from the next line."""
_LONGEST = 90
_DIGITS = re.compile(r"[0-9０-９]+|(?<![A-Za-z])[ivxlcIVXLC]+(?![A-Za-z])")
_PAGE_NUMBER = re.compile(r"[-‐–—―─\s]*(?:p(?:age)?\.?\s*)?#(?:\s*(?:/|of|頁中|ページ中)\s*#)?\s*(?:頁|ページ|page)?[-‐–—―─\s]*", re.IGNORECASE)
_BARE = re.compile(r"#")
_LEADERS = re.compile(r"(?:[.．・…‥·]\s*){4,}(?:[0-9０-９]+|[ivxlc]+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLines:
    """One page: its lines in reading order and its height in points, from `bottom`."""

    number: int
    """From 0."""
    label: str
    bottom: float
    height: float
    lines: list[Line]


@dataclass(frozen=True, slots=True, kw_only=True)
class Undressed:
    """Pages without what repeats on them, and how much was taken off."""

    pages: list[PageLines]
    running: int
    """Running heads and page numbers."""
    contents: int
    """Lines of a list of contents."""


def undressed(pages: Sequence[PageLines]) -> Undressed:
    """Take off running heads, page numbers and dotted lists of contents."""
    running = _running_lines(pages)
    kept: list[PageLines] = []
    contents = 0
    for page in pages:
        lines = [line for line in page.lines if id(line) not in running]
        body = [line for line in lines if not _LEADERS.search(line.text)]
        contents += len(lines) - len(body)
        kept.append(
            PageLines(number=page.number, label=page.label, bottom=page.bottom, height=page.height, lines=body)
        )
    return Undressed(pages=kept, running=len(running), contents=contents)


def _running_lines(pages: Sequence[PageLines]) -> set[int]:
    """Return the identities of the lines that run through the document."""
    by_template: dict[tuple[bool, str], list[Line]] = defaultdict(list)
    by_place: dict[tuple[bool, int], list[Line]] = defaultdict(list)
    found: set[int] = set()
    for page in pages:
        for line, is_top, is_isolated in _outer_lines(page):
            template = _DIGITS.sub("#", line.text)
            by_template[(is_top, template)].append(line)
            if is_isolated:
                by_place[(is_top, round(line.y / _NEAR))].append(line)
            if _PAGE_NUMBER.fullmatch(template) and (len(pages) > 1 or not _BARE.fullmatch(template)):
                found.add(id(line))
    found |= _often(by_template.values(), len(pages), _REPEATED_SHARE)
    return found | _often(by_place.values(), len(pages), _PLACE_SHARE)


def _outer_lines(page: PageLines) -> list[tuple[Line, bool, bool]]:
    """Return lines of the upper and lower zone: the line, whether it is above, whether it stands alone."""
    if page.height <= 0:
        return []
    ordered = sorted((line for line in page.lines if not line.is_vertical), key=lambda line: -line.y)
    outer: list[tuple[Line, bool, bool]] = []
    for at, line in enumerate(ordered):
        place = (line.y - page.bottom) / page.height
        is_top, is_bottom = place > 1 - _ZONE, place < _ZONE
        is_outermost = at < _OUTER_LINES if is_top else at >= len(ordered) - _OUTER_LINES
        if (is_top or is_bottom) and is_outermost and len(line.text) <= _LONGEST:
            outer.append((line, is_top, _is_isolated(ordered, at, is_top=is_top)))
    return outer


def _is_isolated(ordered: list[Line], at: int, *, is_top: bool) -> bool:
    """True where the body is a good way off; lines of the same running head may stand between."""
    line = ordered[at]
    inner = ordered[at + 1 :] if is_top else ordered[:at][::-1]
    gaps = [abs(line.y - other.y) for other in inner if abs(line.y - other.y) > _NEAR]
    return not gaps or gaps[0] > _ISOLATION * line.size


def _often(groups: Iterable[list[Line]], pages: int, share: float) -> set[int]:
    """Return the lines of the groups that are found on enough pages."""
    least = max(2, pages * share) if pages <= 3 else max(3, pages * share)
    return {
        id(line)
        for group in groups
        if len({line.page for line in group}) >= least
        for line in group
    }
