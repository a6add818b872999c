"""Puts the paragraphs and tables of a PDF into a text, with the places where its pages begin."""

from __future__ import annotations

import re
from collections.abc import Sequence

from corpus2skill.adapters.extract.pdf_listings import Listing
from corpus2skill.adapters.extract.pdf_paragraphs import Paragraph
from corpus2skill.adapters.extract.pdf_tables import Table
from corpus2skill.adapters.extract.text_builder import TextBuilder
from corpus2skill.domain.corpus import ExtractedText, Notice

_FIGURES = re.compile(r"[¥￥$€]?\s?[0-9０-９][0-9０-９,，.．%％]*")


class PdfTextBuilder:
    """A text builder that turns pages as their first paragraphs come."""

    def __init__(self, labels: Sequence[str], *, characters: int) -> None:
        self._builder = TextBuilder(characters=characters)
        self._labels = labels
        self._next = 0

    def paragraph(self, paragraph: Paragraph, level: int | None) -> None:
        self._turn_to(paragraph.page)
        if level is not None:
            self._builder.heading(paragraph.text, level)
            return
        for page, length in paragraph.page_breaks:
            for label in self._labels[self._next : page + 1]:
                self._builder.page_within(label, length)
            self._next = max(self._next, page + 1)
        self._builder.paragraph(paragraph.text)

    def table(self, table: Table) -> None:
        self._turn_to(table.page)
        self._builder.table(table.rows, has_header=_has_header(table.rows))

    def listing(self, listing: Listing) -> None:
        self._turn_to(listing.page)
        self._builder.code(listing.text)

    def build(self, *, title: str | None, notices: Sequence[Notice]) -> ExtractedText:
        self._turn_to(len(self._labels) - 1)
        return self._builder.build(title=title, notices=notices)

    def _turn_to(self, page: int) -> None:
        for label in self._labels[self._next : page + 1]:
            self._builder.page(label)
        self._next = max(self._next, page + 1)


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """True where the first row is all words, and figures stand below or the table is more than a list of pairs."""
    head, *body = rows
    if not all(head) or any(map(_is_figure, head)):
        return False
    return (len(head) > 2 and len(body) > 1) or any(_is_figure(cell) for row in body for cell in row[1:])


def _is_figure(cell: str) -> bool:
    return bool(_FIGURES.match(cell))
