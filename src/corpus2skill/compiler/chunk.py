"""Step 2: cut each text into chunks at its paragraphs.

The loop is the article's: paragraphs are stuck together until the limit is passed. Before it, paragraphs
over the limit are cut and headings are tied to what follows them; within it, a heading that the document
itself has ends the chunk before it, so that two clauses (annual, monthly) never share a leaf and an edit
shifts no chunk beyond its own section; after it, a tail too short to stand alone joins the chunk before.
Chunks are ordered, disjoint spans of one text with only white space between
them. All lengths are in characters.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace

from corpus2skill.domain.chunk import Chunk, ChunkSizes, Place
from corpus2skill.domain.corpus import ExtractedText, Heading, Region, SourceText
from corpus2skill.domain.ids import chunk_id, chunk_number
from corpus2skill.domain.version import ChunkRow

Span = tuple[int, int]

_LINE = re.compile(r"[^\n]+")
_SENTENCE_END = re.compile(r"[。！？][」』）)\]】\"'”’]*|[.!?][)\]\"'”’]*(?=\s)")
_BREAK = re.compile(r"[、，,;；：]|\s")
_LIST_ITEM = re.compile(
    r"\s*(?:[-*+•・●○◆◇■□▪–]|[（(]?(?:[0-9０-９]{1,2}|[a-zA-Zａ-ｚＡ-Ｚ]|[ア-ン]|[ivx]{1,4})[)）.．、:：]|[①-⑳]|[a-dア-エ](?=\s))\s*\S"
)
_CHOICE_LENGTH = 80
"""Characters of a list line up to which it can be a bare choice; a longer one says something."""


def chunk_texts(
    texts: Sequence[SourceText], sizes: ChunkSizes, known: Sequence[ChunkRow], next_number: int
) -> tuple[tuple[Chunk, ...], int]:
    """Cut `texts` and number the chunks; return them and the next unused number.

    A chunk whose fingerprint is among `known` (the predecessor's) keeps its number: first those of the same
    source, then any, each in text order. Every other chunk gets a number never used before.
    """
    unnumbered = [chunk for text in texts for chunk in _chunks_of(text, sizes)]
    numbers = _kept_numbers(unnumbered, known)
    numbered: list[Chunk] = []
    for position, chunk in enumerate(unnumbered):
        number = numbers.get(position)
        if number is None:
            number, next_number = next_number, next_number + 1
        numbered.append(replace(chunk, chunk_id=chunk_id(number)))
    return tuple(numbered), next_number


def cut(extracted: ExtractedText, sizes: ChunkSizes) -> list[Span]:
    """Return the spans of the chunks of one text, in order."""
    return _Cutter(extracted, sizes).cut()


class _Cutter:
    """One text on its way into spans."""

    def __init__(self, extracted: ExtractedText, sizes: ChunkSizes) -> None:
        self.text = extracted.text
        self.limit, self.minimum = sizes.limit, sizes.minimum
        self.headings = extracted.headings
        self.heading_starts = [heading.start for heading in extracted.headings]
        self.regions = extracted.regions
        self.region_starts = [region.start for region in extracted.regions]

    def cut(self) -> list[Span]:
        pieces = [piece for paragraph in self.paragraphs() for piece in self.split(paragraph)]
        return self.join_tail(self.pack(self.tie_headings(pieces)))

    def paragraphs(self) -> Iterator[Span]:
        """Spans of text between blank lines, without the white space around them."""
        start = end = -1
        last_line_end = 0
        for line in _LINE.finditer(self.text):
            if not line[0].strip():
                continue
            is_new = start < 0 or self.text.count("\n", last_line_end, line.start()) > 1
            if is_new and start >= 0:
                yield start, end
            if is_new:
                start = line.start() + _leading_space(line[0])
            end = line.start() + len(line[0].rstrip())
            last_line_end = line.end()
        if start >= 0:
            yield start, end

    def split(self, paragraph: Span) -> Iterator[Span]:
        """Cut a paragraph over the limit at its last sentence or line end before the limit."""
        start, end = paragraph
        while end - start > self.limit:
            at = self.cut_point(start, end)
            if at >= end:
                break
            yield start, start + len(self.text[start:at].rstrip())
            start = at + _leading_space(self.text[at:end])
        yield start, end

    def cut_point(self, start: int, end: int) -> int:
        """Return where to cut `text[start:end]`: behind a line or sentence, never inside a row or code line."""
        stop = start + self.limit
        line_end = self.text.rfind("\n", start + 1, stop + 1)
        sentences = (match.end() for match in _SENTENCE_END.finditer(self.text, start, stop + 1))
        sentence_end = max(
            (at for at in sentences if start < at <= stop and not self.region_at(at - 1)), default=-1
        )
        at = max(line_end, sentence_end)
        if at > start:
            return at
        if self.region_at(start):
            row_end = self.text.find("\n", start, end)
            return end if row_end < 0 else row_end
        return self.weak_cut_point(start, stop)

    def weak_cut_point(self, start: int, stop: int) -> int:
        """Return a cut for a sentence longer than the limit: behind a comma or space, else at the limit."""
        breaks = [match.end() for match in _BREAK.finditer(self.text, start + self.limit // 2, stop)]
        return breaks[-1] if breaks else stop

    def region_at(self, position: int) -> Region | None:
        index = bisect_right(self.region_starts, position) - 1
        if index < 0 or position >= self.regions[index].end:
            return None
        return self.regions[index]

    def tie_headings(self, pieces: list[Span]) -> list[Span]:
        """Tie each run of headings or bare choices to the piece behind it: alone it would say nothing."""
        tied: list[Span] = []
        open_start: int | None = None
        for start, end in pieces:
            first = start if open_start is None else open_start
            if self.is_headings_only(start, end):
                open_start = first
                continue
            tied.append((first, end))
            open_start = None
        if open_start is not None:
            tied.append((open_start, pieces[-1][1]))
        return tied

    def pack(self, pieces: list[Span]) -> list[Span]:
        """The article's loop: stick pieces together until the limit is passed or a new section begins."""
        chunks: list[Span] = []
        current: Span | None = None
        for piece in pieces:
            if current is None:
                current = piece
                continue
            candidate = (current[0], piece[1])
            is_over = _length(candidate) > self.limit or self.is_heading_at(piece[0])
            is_enough = _length(current) >= self.minimum and not self.says_nothing_alone(*current)
            if is_over and is_enough:
                chunks.append(current)
                current = piece
            else:
                current = candidate
        return chunks if current is None else [*chunks, current]

    def join_tail(self, chunks: list[Span]) -> list[Span]:
        """A last chunk under the minimum joins the one before it."""
        if len(chunks) > 1 and _length(chunks[-1]) < self.minimum:
            (first, _), (_, last) = chunks[-2:]
            return [*chunks[:-2], (first, last)]
        return chunks

    def is_heading_at(self, position: int) -> bool:
        index = bisect_left(self.heading_starts, position)
        return index < len(self.heading_starts) and self.heading_starts[index] == position

    def last_leading_heading(self, start: int) -> int:
        """Where the last of the headings begins that stand at `start` one behind the other."""
        index = bisect_left(self.heading_starts, start)
        at = start
        while index < len(self.headings) and not self.text[at : self.headings[index].start].strip():
            start, at = self.headings[index].start, self.headings[index].end
            index += 1
        return start

    def says_nothing_alone(self, start: int, end: int) -> bool:
        return self.is_headings_only(start, end) or self.is_choices_only(start, end)

    def is_headings_only(self, start: int, end: int) -> bool:
        """True where headings cover all of the span but white space."""
        index = max(bisect_right(self.heading_starts, start) - 1, 0)
        at = start
        while at < end and index < len(self.headings):
            heading = self.headings[index]
            if heading.start > at and self.text[at : heading.start].strip():
                return False
            at = max(at, heading.end)
            index += 1
        return not self.text[at:end].strip()

    def is_choices_only(self, start: int, end: int) -> bool:
        """True for two or more list lines of bare choices, and headings, with no sentence among them."""
        items = 0
        at = start
        for line in self.text[start:end].split("\n"):
            if line.strip() and not self.is_headings_only(at, at + len(line)):
                if (
                    len(line) > _CHOICE_LENGTH
                    or not _LIST_ITEM.match(line)
                    or _SENTENCE_END.search(line + " ")
                ):
                    return False
                items += 1
            at += len(line) + 1
        return items >= 2 and self.region_at(start) is None


def _length(span: Span) -> int:
    return span[1] - span[0]


def _leading_space(text: str) -> int:
    return len(text) - len(text.lstrip())


def _chunks_of(source: SourceText, sizes: ChunkSizes) -> Iterator[Chunk]:
    extracted = source.extracted
    cutter = _Cutter(extracted, sizes)
    headings = _HeadingPath(extracted.headings)
    for start, end in cutter.cut():
        yield Chunk(
            chunk_id="",
            source=source.source,
            start=start,
            end=end,
            text=extracted.text[start:end],
            place=_place(extracted, headings.at(cutter.last_leading_heading(start)), start, end),
            document_title=extracted.title,
            table_header=_table_header(extracted.text, cutter.region_at(start), start),
            is_choices_only=cutter.says_nothing_alone(start, end),
        )


class _HeadingPath:
    """The headings in force at a position; asked in rising order."""

    def __init__(self, headings: Sequence[Heading]) -> None:
        self.waiting = list(reversed(headings))
        self.path: list[Heading] = []

    def at(self, position: int) -> tuple[str, ...]:
        while self.waiting and self.waiting[-1].start <= position:
            heading = self.waiting.pop()
            self.path = [above for above in self.path if above.level < heading.level]
            self.path.append(heading)
        return tuple(heading.title for heading in self.path)


def _place(extracted: ExtractedText, headings: tuple[str, ...], start: int, end: int) -> Place:
    starts = [page.start for page in extracted.pages]
    if not starts:
        return Place(headings=headings)
    first = extracted.pages[max(bisect_right(starts, start) - 1, 0)]
    last = extracted.pages[max(bisect_right(starts, end - 1) - 1, 0)]
    return Place(headings=headings, pages=(first.label, last.label), page_kind=first.kind)


def _table_header(text: str, region: Region | None, start: int) -> str | None:
    """The header row of a table that the chunk continues; a chunk that has it needs no second one."""
    if region is None or region.kind != "table" or start < region.header_end:
        return None
    return text[region.start : region.header_end].split("\n", 1)[0].strip() or None


def _kept_numbers(chunks: Sequence[Chunk], known: Sequence[ChunkRow]) -> dict[int, int]:
    """Position in `chunks` to the number that it had before."""
    numbers: dict[int, int] = {}
    left = _match(chunks, known, numbers, is_same_source=True)
    _match(chunks, left, numbers, is_same_source=False)
    return numbers


def _match(
    chunks: Sequence[Chunk], rows: Sequence[ChunkRow], numbers: dict[int, int], *, is_same_source: bool
) -> list[ChunkRow]:
    """Give equal chunks the numbers of equal rows, in order; return the rows that found no chunk."""
    waiting: dict[tuple[str, str], deque[ChunkRow]] = {}
    for row in rows:
        waiting.setdefault((row.fingerprint, row.source if is_same_source else ""), deque()).append(row)
    for position, chunk in enumerate(chunks):
        queue = waiting.get((chunk.fingerprint, chunk.source if is_same_source else ""))
        if queue and position not in numbers:
            numbers[position] = chunk_number(queue.popleft().chunk_id) or 0
    return [row for queue in waiting.values() for row in queue]
