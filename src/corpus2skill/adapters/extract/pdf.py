"""PDF: paragraphs, tables and headings out of characters that were only ever placed on a page."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from contextlib import closing

from pypdfium2 import PdfDocument, PdfiumError
from pypdfium2 import raw as pdfium

from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.pdf_furniture import PageLines, undressed
from corpus2skill.adapters.extract.pdf_glyphs import has_controls, is_garbage
from corpus2skill.adapters.extract.pdf_headings import heading_levels, outline_of
from corpus2skill.adapters.extract.pdf_lines import lines_of, map_error_share
from corpus2skill.adapters.extract.pdf_paragraphs import Measures, Paragraph, paragraphs
from corpus2skill.adapters.extract.pdf_tables import Table
from corpus2skill.adapters.extract.pdf_text import PdfTextBuilder
from corpus2skill.domain.corpus import ExtractedText, Notice
from corpus2skill.errors import SourceRefused

_UNMAPPED_SHARE = 0.5
_FILE_NAME = re.compile(r"\.[a-z]{2,5}$|^microsoft |^untitled|^無題|^文書\s*[0-9]", re.IGNORECASE)


def extract_pdf(data: bytes, limits: Limits) -> ExtractedText:
    """Return the text of a PDF.

    Raises:
        SourceRefused: `encrypted`, `corrupt`, `too_large`, `empty` (no page has text), `garbled`.
    """
    with closing(_opened(data)) as document:
        if len(document) > limits.max_pages:
            raise SourceRefused("too_large", "pages", pages=len(document), limit=limits.max_pages)
        pages, garbled = _read_pages(document, limits)
        return _assembled(document, pages, garbled, limits)


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


def _read_pages(document: PdfDocument, limits: Limits) -> tuple[list[PageLines], list[str]]:
    """Return all pages with their lines, and the labels of those whose text cannot be read.

    Raises:
        SourceRefused: `too_large`; `garbled` where no page can be read.
    """
    pages: list[PageLines] = []
    garbled: list[str] = []
    characters = 0
    for number in range(len(document)):
        page, is_readable = _read_page(document, number)
        characters += sum(len(line.text) for line in page.lines)
        if characters > limits.max_characters:
            raise SourceRefused("too_large", "characters", limit=limits.max_characters)
        if not is_readable:
            garbled.append(page.label)
            page.lines.clear()
        pages.append(page)
    if garbled and not any(page.lines for page in pages):
        raise SourceRefused("garbled")
    return pages, garbled


def _read_page(document: PdfDocument, number: int) -> tuple[PageLines, bool]:
    label = document.get_page_label(number).strip() or str(number + 1)
    try:
        with closing(document[number]) as page, closing(page.get_textpage()) as textpage:
            _, bottom, _, top = page.get_bbox()
            lines = lines_of(textpage, number)
            texts = [line.text for line in lines]
            is_readable = not is_garbage(texts) and not (
                has_controls(texts) and map_error_share(textpage) > _UNMAPPED_SHARE
            )
    except PdfiumError:
        return PageLines(number=number, label=label, bottom=0.0, height=0.0, lines=[]), True
    return PageLines(number=number, label=label, bottom=bottom, height=top - bottom, lines=lines), is_readable


def _assembled(
    document: PdfDocument, pages: list[PageLines], garbled: list[str], limits: Limits
) -> ExtractedText:
    without_text = [page.label for page in pages if not page.lines and page.label not in garbled]
    if len(without_text) == len(pages):
        raise SourceRefused("empty", "no_text_layer", pages=len(pages))
    bare = undressed(pages, Measures.of([line for page in pages for line in page.lines]).size)
    measures = Measures.of([line for page in bare.pages for line in page.lines])
    items = list(paragraphs([page.lines for page in bare.pages], measures))
    prose = [item for item in items if isinstance(item, Paragraph)]
    levels = heading_levels(prose, outline_of(document), measures)
    builder = PdfTextBuilder([page.label for page in pages], characters=limits.max_characters)
    _build(items, levels, builder)
    title = _title(document, prose, levels)
    return builder.build(
        title=title, notices=_notices(pages, without_text, garbled, bare.running, bare.contents)
    )


def _build(items: Sequence[Paragraph | Table], levels: dict[int, int], builder: PdfTextBuilder) -> None:
    number = 0
    for item in items:
        if isinstance(item, Table):
            builder.table(item)
            continue
        builder.paragraph(item, levels.get(number))
        number += 1


def _title(document: PdfDocument, prose: Sequence[Paragraph], levels: dict[int, int]) -> str | None:
    """Return the title that the file names, if it also stands on the first page, else that page's largest heading."""
    named = document.get_metadata_value("Title").strip()
    first = [(number, item) for number, item in enumerate(prose) if item.page == 0]
    printed = "".join(_folded(item.text) for _, item in first)
    if named and not _FILE_NAME.search(named) and _folded(named) in printed:
        return named
    headings = [item for number, item in first if number in levels]
    largest = max(headings, key=lambda item: item.lines[0].size, default=None)
    return largest.text if largest else None


def _notices(
    pages: list[PageLines], without_text: list[str], garbled: list[str], running: int, contents: int
) -> tuple[Notice, ...]:
    found: list[Notice] = []
    if without_text:
        found.append(_pages_notice("pages_without_text", without_text, len(pages)))
    if garbled:
        found.append(_pages_notice("pages_garbled", garbled, len(pages)))
    if running:
        found.append(Notice(code="running_heads_left_out", values=(("lines", running),)))
    if contents:
        found.append(Notice(code="contents_left_out", values=(("lines", contents),)))
    return tuple(found)


def _pages_notice(code: str, labels: list[str], pages: int) -> Notice:
    shown = ", ".join(labels[:20]) + (", …" if len(labels) > 20 else "")
    return Notice(code=code, values=(("count", len(labels)), ("pages", pages), ("labels", shown)))


def _folded(text: str) -> str:
    return "".join(
        character for character in unicodedata.normalize("NFKC", text).lower() if character.isalnum()
    )
