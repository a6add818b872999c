"""From the lines of a PDF to its paragraphs: what goes on, what begins a line, what begins a paragraph."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from corpus2skill.adapters.extract.heading_patterns import heading_rank
from corpus2skill.adapters.extract.pdf_join import LineJoiner, is_ideographic
from corpus2skill.adapters.extract.pdf_lines import Line
from corpus2skill.adapters.extract.pdf_listings import Listing, with_listings
from corpus2skill.adapters.extract.pdf_ruled_tables import with_ruled_tables
from corpus2skill.adapters.extract.pdf_rules import Grid
from corpus2skill.adapters.extract.pdf_tables import Table, with_tables

_MARKER = re.compile(
    r"[(（]?(?:[0-9０-９]{1,3}|[A-Za-z]|[ア-ン]|[一二三四五六七八九十]{1,3}|[ivx]{1,4})[)）.．][\s　]*(?=\D)"
    r"|[①-⑳・•●○■□◆◇▪▸►※*]|[-–—]\s"
    r"|第\s?[0-9０-９一二三四五六七八九十百]+\s?[編章節款条]|Q[0-9.．:：]|A[.．:：]"
)
_BULLET = re.compile("[・•●○■□◆◇▪▸►]")
_SENTENCE_END = re.compile(r"[。．.！？!?」』）):：]$")
_STRONG_END = re.compile(r"[。．.！？!?]$")
_WIDER = 1.25
"""A line pitch this much above the usual begins a paragraph."""
_SAME_SIZE = 0.08
_INDENT = 0.8
_DEEPEST_INDENT = 4.0
_SHORT = 2.0
"""A line that leaves this many sizes free, though more text follows, was ended there."""
_FLOW_AT_LEAST = 15
_COLUMN = 6.0
"""Lines that begin within this many sizes of each other are of one column."""
_ENOUGH_LINES = 5


class _Join(Enum):
    FLOW = "flow"
    LINE = "line"
    PARAGRAPH = "paragraph"


@dataclass(slots=True, kw_only=True)
class Paragraph:
    """Lines that belong together; `texts` has one entry a line that is to stay a line."""

    lines: list[Line]
    texts: list[str] = field(default_factory=list[str])
    page_breaks: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Page number and the length of the text where that page begins."""

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    @property
    def page(self) -> int:
        return self.lines[0].page


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """What is usual in one document."""

    size: float
    is_bold: bool
    is_mono: bool
    right: float
    """Where full lines end."""
    left: float

    @classmethod
    def of(cls, lines: Sequence[Line]) -> Measures:
        sizes: Counter[float] = Counter()
        bold: Counter[bool] = Counter()
        mono: Counter[bool] = Counter()
        rights: Counter[int] = Counter()
        for line in lines:
            weight = len(line.text)
            sizes[round(line.size, 1)] += weight
            bold[line.is_bold] += weight
            mono[line.is_mono] += weight
            rights[round(line.x1)] += weight
        size = sizes.most_common(1)[0][0] if sizes else 10.0
        return cls(
            size=size,
            is_bold=bool(bold) and bold.most_common(1)[0][0],
            is_mono=bool(mono) and mono.most_common(1)[0][0],
            right=_high(rights),
            left=min((line.x0 for line in lines), default=0.0),
        )


def paragraphs(
    pages: Sequence[tuple[Sequence[Line], Sequence[Grid]]], measures: Measures
) -> Iterator[Paragraph | Table | Listing]:
    """Yield what stands on all pages in order; a paragraph may run on over a page's end."""
    joiner = LineJoiner(line.text for lines, _ in pages for line in lines)
    current: Paragraph | None = None
    for lines, grids in pages:
        pitch = _pitch(lines)
        ruled = with_ruled_tables(lines, grids)
        for item in with_tables(ruled if measures.is_mono else with_listings(ruled)):
            if not isinstance(item, Line):
                if current:
                    yield current
                    current = None
                yield item
                continue
            right = _right(lines, current.lines[-1], measures) if current else measures.right
            join = _judged(current, item, pitch, right) if current else _Join.PARAGRAPH
            if current is None or join is _Join.PARAGRAPH:
                if current:
                    yield current
                current = Paragraph(lines=[item], texts=[item.text])
            else:
                _add(current, item, join, joiner)
    if current:
        yield current


def _add(paragraph: Paragraph, line: Line, join: _Join, joiner: LineJoiner) -> None:
    last = paragraph.lines[-1]
    if last.page != line.page:
        paragraph.page_breaks.append((line.page, len(paragraph.text) + 1))
    if last.is_hyphenated:
        paragraph.texts[-1] = joiner.dehyphenated(paragraph.texts[-1], line.text)
    elif join is _Join.LINE:
        paragraph.texts.append(line.text)
    else:
        paragraph.texts[-1] = joiner.joined(paragraph.texts[-1], line.text)
    paragraph.lines.append(line)


def _judged(paragraph: Paragraph, line: Line, pitch: float, right: float) -> _Join:
    before = paragraph.lines[-1]
    if before.is_hyphenated and abs(before.size - line.size) <= _SAME_SIZE * before.size:
        return _Join.FLOW
    if not _is_alike(before, line):
        return _Join.PARAGRAPH
    if before.page != line.page or before.y - line.y < -line.size:
        return _over_a_break(before, line, right)
    if _is_heading_line(paragraph, before, right) or _is_heading_line(None, line, right, before=before):
        return _Join.PARAGRAPH
    if before.y - line.y > _WIDER * max(pitch, line.size):
        return _Join.PARAGRAPH
    return _within(paragraph, before, line, right)


def _within(paragraph: Paragraph, before: Line, line: Line, right: float) -> _Join:
    """Judge two lines at the usual distance by indents, list marks and the end of the first."""
    is_ended = _is_ended(before, line, right)
    if _MARKER.match(line.text) and (is_ended or _STRONG_END.search(before.text)):
        return _Join.LINE
    if line.text.startswith("　"):
        return _Join.PARAGRAPH
    indent = (line.x0 - before.x0) / line.size
    if indent > _INDENT:
        hangs = len(paragraph.lines) == 1 or _MARKER.match(before.text)
        if hangs and _MARKER.match(before.text):
            return _Join.FLOW
        return _Join.PARAGRAPH if is_ended or _STRONG_END.search(before.text) else _Join.FLOW
    if is_ended and _BULLET.match(paragraph.texts[-1]):
        return _Join.PARAGRAPH
    if indent < -_INDENT:
        is_first = len(paragraph.lines) == 1 and -indent <= _DEEPEST_INDENT and not is_ended
        return _Join.FLOW if is_first or not _SENTENCE_END.search(before.text) else _Join.PARAGRAPH
    return _Join.LINE if is_ended else _Join.FLOW


def _over_a_break(before: Line, line: Line, right: float) -> _Join:
    """At a new page or column a sentence goes on if it had not ended and its line was full."""
    is_open = not _SENTENCE_END.search(before.text) and len(before.text) >= _FLOW_AT_LEAST
    is_flow = is_open and not _MARKER.match(line.text) and not line.text.startswith("　")
    is_head = heading_rank(before.text) is not None or heading_rank(line.text) is not None
    return _Join.FLOW if is_flow and not is_head and not _is_ended(before, line, right) else _Join.PARAGRAPH


def _is_heading_line(
    paragraph: Paragraph | None, line: Line, right: float, *, before: Line | None = None
) -> bool:
    """True for a line that names itself as a heading and has a line of its own."""
    if heading_rank(line.text) is None or right - line.x1 < _SHORT * line.size:
        return False
    if paragraph is not None:
        return len(paragraph.lines) == 1
    return (
        before is None or bool(_SENTENCE_END.search(before.text)) or right - before.x1 > _SHORT * before.size
    )


def _is_alike(before: Line, line: Line) -> bool:
    is_same_size = abs(before.size - line.size) <= _SAME_SIZE * max(before.size, line.size)
    return is_same_size and before.is_bold == line.is_bold and before.is_vertical == line.is_vertical


def _is_ended(before: Line, line: Line, right: float) -> bool:
    """True where `before` left room that the next word would have fitted into."""
    free = right - before.x1
    if free <= _SHORT * before.size:
        return False
    if is_ideographic(line.text[0]) or is_ideographic(before.text[-1]):
        return True
    first_word = line.text.split(" ", 1)[0]
    share = len(first_word) / max(len(line.text), 1)
    return free > share * (line.x1 - line.x0) + before.size


def _pitch(lines: Sequence[Line]) -> float:
    """Return the usual distance of two lines of the page; the smaller one where two are as usual."""
    gaps = [
        round((above.y - below.y) * 2) / 2
        for above, below in itertools.pairwise(lines)
        if 0.8 * below.size < above.y - below.y < 3 * below.size
    ]
    if not gaps:
        return 0.0
    counts = Counter(gaps)
    often = counts.most_common(1)[0][1]
    return min(gap for gap, number in counts.items() if number * 2 >= often)


def _right(lines: Sequence[Line], line: Line, measures: Measures) -> float:
    """Return where full lines of the column that `line` stands in end."""
    if line.column_end is not None:
        return line.column_end
    ends = [
        other.x1
        for other in lines
        if abs(other.x0 - line.x0) < _COLUMN * line.size
        and abs(other.size - line.size) <= _SAME_SIZE * line.size
    ]
    within = [
        end for end in ends if end <= measures.right + line.size
    ]  # a single line may run over the margin
    return max(within or ends) if len(ends) >= _ENOUGH_LINES else max([*ends, measures.right])


def _high(ends: Counter[int]) -> float:
    """Return the place that all but the last few per cent of the text stay left of."""
    total, passed = ends.total(), 0
    for end in sorted(ends, reverse=True):
        passed += ends[end]
        if passed > 0.03 * total:
            return float(end)
    return 0.0
