"""What a PDF repeats on its pages: running heads, page numbers, dotted lists of contents."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from corpus2skill.adapters.extract.pdf_lines import Line
from corpus2skill.adapters.extract.pdf_rules import Grid

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
_FEWEST_DOTTED = 4
_HEAD_SIZE = 1.05
_FEWEST_WORDS = 4
_PAGES_TO_REPEAT = 3
_PAGES_TO_STAND = 5
_DIGITS = re.compile(r"[0-9０-９]+|(?<![A-Za-z])[ivxlcIVXLC]+(?![A-Za-z])")
_PAGE_NUMBER = re.compile(
    r"[-‐–—―─\s]*(?:p(?:age)?\.?\s*)?#(?:\s*(?:/|of|頁中|ページ中)\s*#)?\s*(?:頁|ページ|page)?[-‐–—―─\s]*",
    re.IGNORECASE,
)
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
    grids: tuple[Grid, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Undressed:
    """Pages without what repeats on them, and how much was taken off."""

    pages: list[PageLines]
    running: int
    """Running heads and page numbers."""
    contents: int
    """Lines of a list of contents."""


def undressed(pages: Sequence[PageLines], body_size: float) -> Undressed:
    """Take off running heads, page numbers and dotted lists of contents.

    A running head whose words stand nowhere else is left at its first place.
    """
    running = _running_lines(pages, body_size)
    running -= _only_here(pages, running)
    kept: list[PageLines] = []
    contents = 0
    for page in pages:
        lines = [line for line in page.lines if id(line) not in running]
        body = _without_contents(lines)
        contents += len(lines) - len(body)
        kept.append(replace(page, lines=body))
    return Undressed(pages=kept, running=len(running), contents=contents)


def _without_contents(lines: list[Line]) -> list[Line]:
    """Take off dotted lines; where they fill a page, its other short lines belong to the same list."""
    dotted = [line for line in lines if _is_dotted(line)]
    is_all_contents = len(dotted) >= _FEWEST_DOTTED and len(dotted) * 2 > len(lines)
    return [
        line
        for line in lines
        if not _is_dotted(line)
        and not (is_all_contents and len(line.text) <= _LONGEST and not line.text.endswith("。"))
    ]


def _is_dotted(line: Line) -> bool:
    return bool(_LEADERS.search(line.text[-_LONGEST * 2 :]))


def _running_lines(pages: Sequence[PageLines], body_size: float) -> set[int]:
    """Return the identities of the lines that run through the document."""
    by_template: dict[tuple[bool, str], list[Line]] = defaultdict(list)
    by_place: dict[tuple[bool, int], list[Line]] = defaultdict(list)
    found: set[int] = set()
    for page in pages:
        for line, is_top in _outer_lines(page):
            by_template[(is_top, _template(line, page, len(pages)))].append(line)
            if line.size <= _HEAD_SIZE * body_size:
                by_place[(is_top, round(line.y / _NEAR))].append(line)
            if _is_page_number(line, len(pages)):
                found.add(id(line))
        found |= {id(line) for line in _ends(page) if line.text.strip() in {page.label, str(page.number + 1)}}
    if len(pages) >= _PAGES_TO_REPEAT:
        found |= _often(by_template.values(), max(3, len(pages) * _REPEATED_SHARE))
    if len(pages) >= _PAGES_TO_STAND:
        found |= _often(by_place.values(), len(pages) * _PLACE_SHARE)
    return found


def _template(line: Line, page: PageLines, pages: int) -> str:
    """Return the line's words with the page's own number, and the number of pages, taken out."""
    own = {page.label, str(page.number + 1), str(pages)}
    return _DIGITS.sub(lambda number: "#" if number.group() in own else number.group(), line.text)


def _is_page_number(line: Line, pages: int) -> bool:
    """A bare number on a single page may be anything."""
    template = _DIGITS.sub("#", line.text)
    return bool(_PAGE_NUMBER.fullmatch(template)) and (pages > 1 or template != "#")


def _only_here(pages: Sequence[PageLines], running: set[int]) -> set[int]:
    """Return the first of each running head whose words no other line has; page numbers have no words."""
    body = _folded(" ".join(line.text for page in pages for line in page.lines if id(line) not in running))
    kept: set[int] = set()
    seen: set[str] = set()
    for line in (line for page in pages for line in page.lines if id(line) in running):
        words = _folded(_DIGITS.sub("", line.text))
        if len(words) > _FEWEST_WORDS and words not in seen and words not in body:
            kept.add(id(line))
        seen.add(words)
    return kept


def _folded(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalpha())


def _outer_lines(page: PageLines) -> list[tuple[Line, bool]]:
    """Return the lines that stand above or below the body, a good way off; True for those above."""
    if page.height <= 0:
        return []
    ordered = sorted((line for line in page.lines if not line.is_vertical), key=lambda line: -line.y)
    above = [line for line in _edge_block(ordered) if (line.y - page.bottom) / page.height > 1 - _ZONE]
    below = [line for line in _edge_block(ordered[::-1]) if (line.y - page.bottom) / page.height < _ZONE]
    return [(line, True) for line in above] + [(line, False) for line in below]


def _ends(page: PageLines) -> list[Line]:
    """Return the first and the last line of a page of several: its number may stand close to the body."""
    ordered = sorted(page.lines, key=lambda line: -line.y)
    return [ordered[0], ordered[-1]] if len(ordered) > _OUTER_LINES else []


def _edge_block(inwards: list[Line]) -> list[Line]:
    """Return the few lines before the first wide gap; none where the body begins at once."""
    for at, (line, inner) in enumerate(pairwise(inwards[: _OUTER_LINES + 1]), start=1):
        if abs(line.y - inner.y) > _ISOLATION * line.size:
            return [each for each in inwards[:at] if len(each.text) <= _LONGEST]
    return [] if len(inwards) > _OUTER_LINES else [each for each in inwards if len(each.text) <= _LONGEST]


def _often(groups: Iterable[list[Line]], least: float) -> set[int]:
    """Return the lines of the groups that are found on enough pages."""
    return {id(line) for group in groups if len({line.page for line in group}) >= least for line in group}
