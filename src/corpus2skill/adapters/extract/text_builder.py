"""Puts paragraphs, headings, tables and code together into an extracted text with its shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from corpus2skill.adapters.extract.text_shape import in_one_line, is_blank, normalised
from corpus2skill.domain.corpus import ExtractedText, Heading, Notice, Page, Region
from corpus2skill.errors import SourceRefused


class TextBuilder:
    """Blocks in, one `ExtractedText` out. Blocks are parted by blank lines."""

    def __init__(self, *, characters: int) -> None:
        """`characters` is the limit of the whole text."""
        self._limit = characters
        self._parts: list[str] = []
        self._length = 0
        self._headings: list[Heading] = []
        self._regions: list[Region] = []
        self._pages: list[Page] = []
        self._awaited: list[str] = []
        self._within: list[tuple[str, int]] = []
        self._page_kind: Literal["page", "sheet", "slide"] = "page"

    def paragraph(self, text: str) -> None:
        self._append(normalised(text))

    def heading(self, text: str, level: int) -> None:
        line = in_one_line(text)
        span = self._append(line)
        if span:
            self._headings.append(Heading(start=span[0], end=span[1], level=level, title=line))

    def table(self, rows: Sequence[Sequence[str]], *, has_header: bool = True) -> None:
        """Add rows as pipe rows, one a line. A table of one column is no table and becomes paragraphs."""
        filled = _without_blanks(rows)
        width = max((len(row) for row in filled), default=0)
        if width < 2:
            for row in filled:
                self.paragraph(row[0])
            return
        lines = [pipe_row(row, width) for row in filled]
        header = ""
        if has_header:
            header = f"{lines[0]}\n{rule_row(width)}"
            lines = [header, *lines[1:]]
        self._region("\n".join(lines), "table", len(header))

    def code(self, text: str) -> None:
        self._region(normalised(text), "code", 0)

    def page(self, label: str, kind: Literal["page", "sheet", "slide"] = "page") -> None:
        """Begin a page at the next block."""
        self._page_kind = kind
        self._awaited.append(label)

    def page_within(self, label: str, offset: int) -> None:
        """Begin a page `offset` characters into the next paragraph."""
        self._within.append((label, offset))

    def build(self, *, title: str | None = None, notices: Sequence[Notice] = ()) -> ExtractedText:
        """Return what was put together; its text is empty where nothing was."""
        self._begin_pages(self._length)
        return ExtractedText(
            text="".join(self._parts),
            title=(in_one_line(title) or None) if title else None,
            headings=tuple(self._headings),
            regions=tuple(self._regions),
            pages=tuple(self._pages),
            notices=tuple(notices),
        )

    def _region(self, text: str, kind: Literal["table", "code"], header: int) -> None:
        span = self._append(text)
        if span:
            start, end = span
            self._regions.append(Region(start=start, end=end, kind=kind, header_end=start + header))

    def _append(self, text: str) -> tuple[int, int] | None:
        if is_blank(text):
            return None
        if self._parts:
            self._parts.append("\n\n")
            self._length += 2
        start = self._length
        self._begin_pages(start)
        self._parts.append(text)
        self._length += len(text)
        require_characters(self._length, self._limit)
        return start, self._length

    def _begin_pages(self, start: int) -> None:
        self._pages += [Page(start=start, kind=self._page_kind, label=label) for label in self._awaited]
        self._awaited.clear()
        for label, offset in self._within:
            self._pages.append(Page(start=start + offset, kind=self._page_kind, label=label))
        self._within.clear()


def _without_blanks(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Drop rows and columns that hold nothing."""
    filled = [row for row in rows if not all(map(is_blank, row))]
    used = sorted({at for row in filled for at, cell in enumerate(row) if not is_blank(cell)})
    return [[row[at] if at < len(row) else "" for at in used] for row in filled]


def pipe_row(cells: Sequence[str], width: int) -> str:
    """Return one table row in a line; missing cells are empty."""
    shown = [in_one_line(cell).replace("|", "\\|") for cell in cells]
    shown += [""] * (width - len(shown))
    return "| " + " | ".join(shown) + " |"


def rule_row(width: int) -> str:
    return "| " + " | ".join(["---"] * width) + " |"


def require_characters(length: int, limit: int) -> None:
    """Raises: SourceRefused (`too_large`) where a text of `length` characters is over the limit."""
    if length > limit:
        raise SourceRefused("too_large", "characters", limit=limit)
