"""Which paragraphs of a PDF are headings: by its outline, by size and weight, by their own words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from pypdfium2 import PdfDocument, PdfiumError

from corpus2skill.adapters.extract.heading_patterns import heading_rank, loose_rank
from corpus2skill.adapters.extract.pdf_paragraphs import Measures, Paragraph

_LARGER = 1.12
_LONGEST = 120
_MOST_LINES = 3
_DEEPEST = 6
_DEEPEST_OUTLINE = 15
_MOST_ENTRIES = 20_000
_NUMBER = re.compile(
    r"^(?:第?[0-9.一二三四五六七八九十]+[編章節款条]?|chapter[0-9]+|appendix[a-z])[.:：]?", re.IGNORECASE
)
_OUTLINE_ENOUGH = 3
_UNRANKED = 50

_Style = tuple[float, int, int]
"""How a heading looks, outer looks first: size (negative, the larger is outer), weight, rank of its words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineEntry:
    title: str
    """Folded: see `_folded`."""
    level: int
    page: int


def outline_of(document: PdfDocument) -> list[OutlineEntry]:
    """Return the bookmarks of a file in order; a broken outline is none."""
    entries: list[OutlineEntry] = []
    try:
        for bookmark in document.get_toc(max_depth=_DEEPEST_OUTLINE):
            target = bookmark.get_dest()
            page = target.get_index() if target else None
            title = _folded(bookmark.get_title())
            if page is not None and title and len(entries) < _MOST_ENTRIES:
                entries.append(OutlineEntry(title=title, level=bookmark.level + 1, page=page))
    except PdfiumError:
        return []
    return entries


def heading_levels(
    paragraphs: Sequence[Paragraph], outline: Sequence[OutlineEntry], measures: Measures
) -> dict[int, int]:
    """Return the levels of the paragraphs that are headings, by their number in the list."""
    levels = _by_outline(paragraphs, outline)
    styled = {
        number: style
        for number, paragraph in enumerate(paragraphs)
        if number not in levels and (style := _style(paragraph, measures)) is not None
    }
    styled = _with_like_ranks(styled)
    known = {_look(paragraphs[number]): level for number, level in sorted(levels.items(), reverse=True)}
    deepest = max(levels.values(), default=0) if len(levels) >= _OUTLINE_ENOUGH else 0
    ranking = {style: deepest + place for place, style in enumerate(sorted(set(styled.values())), start=1)}
    for number, style in styled.items():
        levels[number] = min(known.get(_look(paragraphs[number]), ranking[style]), deepest + _DEEPEST)
    return levels


def _by_outline(paragraphs: Sequence[Paragraph], outline: Sequence[OutlineEntry]) -> dict[int, int]:
    """Find each bookmark's words on its page (or the next, for a target at a page's very end)."""
    by_page: dict[int, list[tuple[int, str]]] = {}
    for number, paragraph in enumerate(paragraphs):
        if len(paragraph.lines) <= _MOST_LINES and len(paragraph.text) <= _LONGEST * 2:
            by_page.setdefault(paragraph.page, []).append((number, _folded(paragraph.text)))
    levels: dict[int, int] = {}
    for entry in outline:
        candidates = [*by_page.get(entry.page, ()), *by_page.get(entry.page + 1, ())]
        found = next(
            (number for number, words in candidates if number not in levels and _is_same(words, entry.title)),
            None,
        )
        if found is not None:
            levels[found] = entry.level
    return levels


def _is_same(words: str, title: str) -> bool:
    return words == title or _NUMBER.sub("", words) == _NUMBER.sub("", title) != ""


def _style(paragraph: Paragraph, measures: Measures) -> _Style | None:
    """Return how a heading looks, None for what is none."""
    text = paragraph.text
    if len(paragraph.lines) > _MOST_LINES or len(text) > _LONGEST or text.endswith(("。", "、", "，")):
        return None
    line = paragraph.lines[0]
    is_larger = line.size >= _LARGER * measures.size
    is_bolder = line.is_bold and not measures.is_bold and line.size >= 0.95 * measures.size
    rank = heading_rank(text)
    if not is_larger and not is_bolder and (rank is None or len(paragraph.lines) > 1):
        return None
    if not any(character.isalpha() for character in text):
        return None
    if rank is None:
        rank = loose_rank(text.rstrip(".．"))
    size = round(line.size * 2) / 2 if is_larger else 0.0
    return -size, 0 if is_bolder or is_larger else 1, _UNRANKED if rank is None else rank


def _with_like_ranks(styled: dict[int, _Style]) -> dict[int, _Style]:
    """Rank headings without a number with the outermost numbered ones of the same look."""
    outermost: dict[tuple[float, int], int] = {}
    for size, weight, rank in styled.values():
        outermost[size, weight] = min(rank, outermost.get((size, weight), rank))
    return {
        number: (size, weight, outermost[size, weight] if rank == _UNRANKED else rank)
        for number, (size, weight, rank) in styled.items()
    }


def _look(paragraph: Paragraph) -> tuple[float, bool, int | None]:
    line = paragraph.lines[0]
    return round(line.size * 2) / 2, line.is_bold, heading_rank(paragraph.text)


def _folded(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).lower().split())
