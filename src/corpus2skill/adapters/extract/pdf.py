"""PDF: paragraphs, tables and headings out of characters that were only ever placed on a page."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Literal

from pypdfium2 import PdfDocument, PdfiumError
from pypdfium2 import raw as pdfium

from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.pdf_furniture import PageLines, Undressed, undressed
from corpus2skill.adapters.extract.pdf_glyphs import has_controls, is_garbage
from corpus2skill.adapters.extract.pdf_headings import heading_levels, outline_of
from corpus2skill.adapters.extract.pdf_lines import lines_of, map_error_share
from corpus2skill.adapters.extract.pdf_listings import Listing
from corpus2skill.adapters.extract.pdf_paragraphs import Measures, Paragraph, paragraphs
from corpus2skill.adapters.extract.pdf_rules import grids_of
from corpus2skill.adapters.extract.pdf_tables import Table
from corpus2skill.adapters.extract.pdf_text import PdfTextBuilder
from corpus2skill.domain.corpus import ExtractedText, Notice
from corpus2skill.errors import SourceRefused

_UNMAPPED_SHARE = 0.5
_MOST_LABELS = 20
_FILE_NAME = re.compile(r"\.[a-z]{2,5}$|^microsoft |^untitled|^無題|^文書\s*[0-9]", re.IGNORECASE)


def extract_pdf(data: bytes, limits: Limits) -> ExtractedText:
    """Return the text of a PDF.

    Raises:
        SourceRefused: `encrypted`, `corrupt`, `too_large`, `empty` (no page has text), `garbled`.
    """
    with closing(_opened(data)) as document:
        if len(document) > limits.max_pages:
            raise SourceRefused("too_large", "pages", pages=len(document), limit=limits.max_pages)
        return _assembled(document, _read_pages(document, limits), limits)


@dataclass(slots=True, kw_only=True)
class _Pages:
    """All pages, and the labels of those of which nothing is taken."""

    pages: list[PageLines] = field(default_factory=list[PageLines])
    without_text: list[str] = field(default_factory=list[str])
    garbled: list[str] = field(default_factory=list[str])
    broken: list[str] = field(default_factory=list[str])

    def require_text(self) -> None:
        """Raises: SourceRefused for the worst that is wrong, where no page has text."""
        if any(page.lines for page in self.pages):
            return
        if self.garbled:
            raise SourceRefused("garbled")
        if self.broken:
            raise SourceRefused("corrupt")
        raise SourceRefused("empty", "no_text_layer", pages=len(self.pages))

    def notices(self) -> Iterator[Notice]:
        for code, labels in (
            ("pages_without_text", self.without_text),
            ("pages_garbled", self.garbled),
            ("pages_broken", self.broken),
        ):
            if labels:
                shown = ", ".join(labels[:_MOST_LABELS]) + (", …" if len(labels) > _MOST_LABELS else "")
                count = len(labels)
                yield Notice(
                    code=code, values=(("count", count), ("pages", len(self.pages)), ("labels", shown))
                )


def _opened(data: bytes) -> PdfDocument:
    try:
        document = PdfDocument(data)
        pages = len(document)
    except PdfiumError as error:
        verdict = (
            "encrypted"
            if error.err_code in {pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY}
            else "corrupt"
        )
        raise SourceRefused(verdict) from error
    if not pages:
        document.close()
        raise SourceRefused("corrupt")
    return document


def _read_pages(document: PdfDocument, limits: Limits) -> _Pages:
    """Read all pages.

    Raises:
        SourceRefused: `too_large`; `garbled`, `corrupt` or `empty` where no page has text.
    """
    read = _Pages()
    characters = 0
    for number in range(len(document)):
        page, wrong = _read_page(document, number)
        characters += sum(len(line.text) for line in page.lines)
        if characters > limits.max_characters:
            raise SourceRefused("too_large", "characters", limit=limits.max_characters)
        read.pages.append(page)
        if wrong:
            page.lines.clear()
            (read.garbled if wrong == "garbled" else read.broken).append(page.label)
        elif not page.lines:
            read.without_text.append(page.label)
    read.require_text()
    return read


def _read_page(document: PdfDocument, number: int) -> tuple[PageLines, Literal["garbled", "broken"] | None]:
    label = document.get_page_label(number).strip() or str(number + 1)
    try:
        with closing(document[number]) as page, closing(page.get_textpage()) as textpage:
            _, bottom, _, top = page.get_bbox()
            grids = grids_of(page)
            lines = lines_of(textpage, number, [rule for grid in grids for rule in grid.vertical])
            texts = [line.text for line in lines]
            is_garbled = is_garbage(texts) or (
                has_controls(texts) and map_error_share(textpage) > _UNMAPPED_SHARE
            )
    except PdfiumError:
        return PageLines(number=number, label=label, bottom=0.0, height=0.0, lines=[]), "broken"
    page_lines = PageLines(
        number=number, label=label, bottom=bottom, height=top - bottom, lines=lines, grids=grids
    )
    return page_lines, "garbled" if is_garbled else None


def _assembled(document: PdfDocument, read: _Pages, limits: Limits) -> ExtractedText:
    bare = undressed(read.pages, Measures.of([line for page in read.pages for line in page.lines]).size)
    measures = Measures.of([line for page in bare.pages for line in page.lines])
    items = list(paragraphs([(page.lines, page.grids) for page in bare.pages], measures))
    prose = [item for item in items if isinstance(item, Paragraph)]
    levels = heading_levels(prose, outline_of(document), measures)
    builder = PdfTextBuilder([page.label for page in read.pages], characters=limits.max_characters)
    _build(items, levels, builder)
    notices = [*read.notices(), *_left_out(bare)]
    return builder.build(title=_title(document, prose, levels), notices=notices)


def _build(
    items: Sequence[Paragraph | Table | Listing], levels: dict[int, int], builder: PdfTextBuilder
) -> None:
    number = 0
    for item in items:
        if isinstance(item, Table):
            builder.table(item)
        elif isinstance(item, Listing):
            builder.listing(item)
        else:
            builder.paragraph(item, levels.get(number))
            number += 1


def _title(document: PdfDocument, prose: Sequence[Paragraph], levels: dict[int, int]) -> str | None:
    """Return the title that the file names, if it also stands on the first page, else that page's largest heading.

    The first page is the first that has text: a cover may be a picture.
    """
    named = document.get_metadata_value("Title").strip()
    first = [(number, item) for number, item in enumerate(prose) if item.page == prose[0].page]
    printed = "".join(_folded(item.text) for _, item in first)
    if named and not _FILE_NAME.search(named) and _folded(named) in printed:
        return named
    headings = [item for number, item in first if number in levels]
    largest = max(headings, key=lambda item: item.lines[0].size, default=None)
    return largest.text if largest else None


def _left_out(bare: Undressed) -> Iterator[Notice]:
    if bare.running:
        yield Notice(code="running_heads_left_out", values=(("lines", bare.running),))
    if bare.contents:
        yield Notice(code="contents_left_out", values=(("lines", bare.contents),))


def _folded(text: str) -> str:
    return "".join(
        character for character in unicodedata.normalize("NFKC", text).lower() if character.isalnum()
    )
