"""EPUB: the chapters in the order of reading, each read as a page."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from urllib.parse import unquote

from corpus2skill.adapters.extract.html import read_page
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.office_relations import children
from corpus2skill.adapters.extract.text_builder import TextBuilder
from corpus2skill.adapters.extract.text_shape import in_one_line
from corpus2skill.adapters.extract.xml_element import Element, child, local, value
from corpus2skill.adapters.extract.zip_parts import ZipParts
from corpus2skill.domain.corpus import ExtractedText
from corpus2skill.errors import SourceRefused

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})
_CLOSED = re.compile(
    rb"<(?!(?:area|base|br|col|hr|img|input|link|meta|wbr)\b)([A-Za-z][\w:-]*)((?:\s[^<>]*)?)/>"
)
"""What XHTML closes in itself and HTML, which is far more forgiving, would leave open."""


def extract_epub(data: bytes, limits: Limits) -> ExtractedText:
    """Return the text of an .epub file.

    Raises:
        SourceRefused: `corrupt`, `hostile`, `encrypted` (protected against copying), `too_large`.
    """
    parts = ZipParts(data, max_inflated_bytes=limits.max_inflated_bytes)
    main = _main(parts)
    book = parts.xml(main, may_have_dtd=True)
    if book is None:
        raise SourceRefused("corrupt", "not_as_named", suffix=".epub", beginning="ZIP")
    chapters = list(_chapters(book, main))
    _require_open(parts, chapters)
    builder = TextBuilder(characters=limits.max_characters)
    for chapter in chapters:
        page = parts.data(chapter) or b""
        if b"<!ENTITY" in page:
            raise SourceRefused("hostile", "dtd")
        if page.strip():
            read_page(_CLOSED.sub(rb"<\1\2></\1>", page), builder, limits)
    return builder.build(title=_title(book))


def _main(parts: ZipParts) -> str:
    container = parts.xml(_CONTAINER)
    roots = [each.get("full-path", "") for each in children(container, "rootfiles")]
    return next((root for root in roots if root in parts.names), "")


def _chapters(book: Element, main: str) -> Iterator[str]:
    """Yield the parts of the spine, but for lists of contents."""
    items = {each.get("id", ""): each for each in children(book, "manifest") if local(each) == "item"}
    for entry in children(book, "spine"):
        item = items.get(entry.get("idref", ""))
        if (
            item is None
            or item.get("media-type", "") not in _PAGES
            or "nav" in item.get("properties", "").split()
        ):
            continue
        yield posixpath.normpath(posixpath.join(posixpath.dirname(main), unquote(item.get("href", ""))))


def _require_open(parts: ZipParts, chapters: list[str]) -> None:
    """Raises: SourceRefused (`encrypted`) where a chapter is; encrypted fonts are usual and harmless."""
    encryption = parts.xml(_ENCRYPTION)
    if encryption is None:
        return
    locked = {
        unquote(value(each, "URI") or "") for each in encryption.iter() if local(each) == "CipherReference"
    }
    if locked & set(chapters):
        raise SourceRefused("encrypted")


def _title(book: Element) -> str | None:
    title = child(book, "metadata", "title")
    return (
        in_one_line("".join(each.text or "" for each in title.iter())) or None if title is not None else None
    )
