"""Reads every format that we read: chooses the module for it and holds its result to the promises."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Literal, Protocol

from corpus2skill.adapters.extract.delimited import extract_csv, extract_tsv
from corpus2skill.adapters.extract.formats import Format, format_of, is_light, may_hold_documents
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.markdown import extract_markdown
from corpus2skill.adapters.extract.members import members_of
from corpus2skill.adapters.extract.plain import extract_plain
from corpus2skill.adapters.extract.text_shape import is_blank
from corpus2skill.domain.corpus import ExtractedText, Notice, SourceFile, SourceReport
from corpus2skill.errors import SourceRefused

_IDENTITY = "extract-5"
"""Raised whenever the same bytes may give another text or shape."""


class Readers(Protocol):
    """Processes that read documents within bounds; `child_pool.ChildPool` is the one there is."""

    async def extract(self, file: SourceFile) -> ExtractedText: ...
    def members(self, file: SourceFile) -> AsyncGenerator[SourceFile | SourceReport]: ...


class Extractors:
    """Every format behind one port. Plain texts are read here, all else by `readers` where there are any."""

    def __init__(self, limits: Limits, readers: Readers | None = None) -> None:
        self._limits, self._readers = limits, readers

    @property
    def identity(self) -> str:
        return _IDENTITY

    async def extract(self, file: SourceFile) -> ExtractedText:
        """Return the text of `file`; never an empty one.

        Raises:
            SourceRefused: with any refusing verdict.
        """
        if self._readers is None or is_light(file.source, file.data):
            return extract_document(file.source, file.data, self._limits)
        return await self._readers.extract(file)

    async def members(self, file: SourceFile) -> AsyncGenerator[SourceFile | SourceReport]:
        """Yield the documents within an archive or a mail; nothing for any other file.

        Raises:
            SourceRefused: what holds them is `corrupt` or `too_large` as a whole.
        """
        if not may_hold_documents(file.source, file.data):
            return
        if self._readers is None:
            for member in members_of(file.source, file.data, self._limits):
                yield member
            return
        async with aclosing(self._readers.members(file)) as members:
            async for member in members:
                yield member


def extract_document(source: str, data: bytes, limits: Limits) -> ExtractedText:
    """Return the text of one document. Pure: it could run in another process as it stands.

    Raises:
        SourceRefused: with any refusing verdict.
    """
    kind = format_of(source, data)
    if not data:
        raise SourceRefused("empty")
    try:
        extracted = _reader(kind)(data, limits)
    except RecursionError as error:
        raise SourceRefused("hostile", "nesting") from error
    if is_blank(extracted.text):
        raise SourceRefused("empty")
    return _with_replaced_noted(extracted)


def _with_replaced_noted(extracted: ExtractedText) -> ExtractedText:
    """A few characters that were lost before the file was saved are accepted, and said."""
    count = extracted.text.count("\ufffd")
    if not count:
        return extracted
    notice = Notice(code="replaced_characters", values=(("count", count),))
    return replace(extracted, notices=(*extracted.notices, notice))


def _reader(kind: Format) -> Callable[[bytes, Limits], ExtractedText]:
    """The heavy ones are imported when the first such document comes."""
    match kind:
        case "text":
            return extract_plain
        case "markdown":
            return extract_markdown
        case "csv":
            return extract_csv
        case "tsv":
            return extract_tsv
        case "html":
            from corpus2skill.adapters.extract.html import extract_html

            return extract_html
        case "pdf":
            from corpus2skill.adapters.extract.pdf import extract_pdf

            return extract_pdf
        case "eml" | "msg" | "zip":
            return _reader_of_container(kind)
        case _:
            return _reader_of_package(kind)


def _reader_of_package(
    kind: Literal["docx", "pptx", "xlsx", "xls", "ods", "epub"],
) -> Callable[[bytes, Limits], ExtractedText]:
    match kind:
        case "docx":
            from corpus2skill.adapters.extract.docx import extract_docx

            return extract_docx
        case "pptx":
            from corpus2skill.adapters.extract.pptx import extract_pptx

            return extract_pptx
        case "xlsx":
            from corpus2skill.adapters.extract.xlsx import extract_xlsx

            return extract_xlsx
        case "xls":
            from corpus2skill.adapters.extract.xls import extract_xls

            return extract_xls
        case "ods":
            from corpus2skill.adapters.extract.ods import extract_ods

            return extract_ods
        case "epub":
            from corpus2skill.adapters.extract.epub import extract_epub

            return extract_epub


def _reader_of_container(kind: Literal["eml", "msg", "zip"]) -> Callable[[bytes, Limits], ExtractedText]:
    """A mail has a text of its own beside what is attached to it; an archive has not."""
    match kind:
        case "eml":
            from corpus2skill.adapters.extract.eml import extract_eml

            return extract_eml
        case "msg":
            from corpus2skill.adapters.extract.msg import extract_msg

            return extract_msg
        case "zip":
            return _extract_nothing


def _extract_nothing(data: bytes, limits: Limits) -> ExtractedText:
    return ExtractedText(text="")
