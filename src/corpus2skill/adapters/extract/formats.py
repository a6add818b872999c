"""What a source document is: by its content first, then by its name."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Literal

from corpus2skill.errors import SourceRefused

Format = Literal[
    "text",
    "markdown",
    "csv",
    "tsv",
    "html",
    "docx",
    "pptx",
    "xlsx",
    "xls",
    "ods",
    "pdf",
    "epub",
    "eml",
    "msg",
    "zip",
]

BY_SUFFIX: dict[str, Format] = {
    "": "text",
    ".csv": "csv",
    ".docm": "docx",
    ".docx": "docx",
    ".dotx": "docx",
    ".eml": "eml",
    ".epub": "epub",
    ".htm": "html",
    ".html": "html",
    ".markdown": "markdown",
    ".md": "markdown",
    ".msg": "msg",
    ".ods": "ods",
    ".pdf": "pdf",
    ".potx": "pptx",
    ".ppsx": "pptx",
    ".pptm": "pptx",
    ".pptx": "pptx",
    ".text": "text",
    ".tsv": "tsv",
    ".txt": "text",
    ".xhtml": "html",
    ".xls": "xls",
    ".xlsm": "xlsx",
    ".xlsx": "xlsx",
    ".xlt": "xls",
    ".xltx": "xlsx",
    ".zip": "zip",
}
"""The names that are read. A name without a suffix is taken for text."""

_WRITTEN: frozenset[Format] = frozenset({"text", "markdown", "csv", "tsv", "html", "eml"})
"""Formats that any bytes may be; the others begin with a mark of their own."""
_PLAIN: frozenset[Format] = frozenset({"text", "markdown", "csv", "tsv"})
_PICTURED: frozenset[Format] = frozenset({"docx", "pptx", "xlsx", "pdf", "epub", "ods", "msg"})
"""Formats whose size is mostly that of the pictures in them."""
_LEGACY_OFFICE = (".doc", ".ppt", ".dot", ".pps", ".pot")
_WORKBOOKS = (".xlsb", ".numbers", ".fods")
_IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".tif", ".tiff", ".bmp", ".webp", ".heic", ".svg")
_ARCHIVES = (".gz", ".tar", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".lzh")
_OTHERS = (".rtf", ".odt", ".odp", ".odg", ".jtd", ".pages", ".key", ".xdw")
_SAVED_AS_PAGES = frozenset({".xls", ".doc"})
"""Names that systems give to pages of HTML so that Office opens them."""

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_IMAGE_BEGINNINGS = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*")
_ARCHIVE_BEGINNINGS = (b"\x1f\x8b\x08", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"BZh", b"\xfd7zXZ\0")
_HTML_BEGINNING = re.compile(
    rb"(?>(\xef\xbb\xbf)?\s*(<\?xml[^>]*>\s*)?(<!--(?>.*?-->)\s*)*)<(!doctype\s+html|html[\s>])",
    re.IGNORECASE | re.DOTALL,
)
"""Atomic: comments could be parted in countless ways, and a file of comments alone would try them all."""
_PDF_WITHIN = 1024
"""Readers of PDF look for its mark in the first kilobyte."""


def is_light(source: str, data: bytes) -> bool:
    """True for a document that is judged at once: a plain text, or one that its first bytes or its name refuse."""
    if data.startswith((_OLE, *_ZIP)):
        return False
    try:
        return not data or format_of(source, data) in _PLAIN
    except SourceRefused:
        return True


def may_hold_documents(source: str, data: bytes) -> bool:
    """False for what is surely no archive and no mail, told without looking into it."""
    suffix = PurePosixPath(source).suffix.lower()
    if data.startswith(_ZIP):
        return suffix in {".zip", ""}
    return data.startswith(_OLE) or BY_SUFFIX.get(suffix) == "eml"


def holds_pictures(source: str) -> bool:
    """True for a document that would be smaller without its pictures, told by its name."""
    return BY_SUFFIX.get(PurePosixPath(source).suffix.lower()) in _PICTURED


def format_of(source: str, data: bytes) -> Format:
    """Return the format of a source document.

    Raises:
        SourceRefused: `unsupported` with what to do, `encrypted`, or `corrupt` where the name promises
            something that the content is not.
    """
    suffix = PurePosixPath(source).suffix.lower()
    found = _by_content(data, suffix)
    if found:
        return found
    named = BY_SUFFIX.get(suffix)
    if named is None:
        raise _unsupported(suffix)
    if named not in _WRITTEN and data:
        raise _not_as_named(suffix, _shown(data))
    return named


def _by_content(data: bytes, suffix: str) -> Format | None:
    if data.startswith(_OLE):
        return _of_ole(data, suffix)
    if data.startswith(_ZIP):
        return _of_zip(data, suffix)
    if b"%PDF-" in data[:_PDF_WITHIN] and not _is_prose_about_pdf(data, suffix):
        return "pdf"
    if data.startswith(b"{\\rtf"):
        raise _unsupported(".rtf")
    if data.startswith(_IMAGE_BEGINNINGS):
        raise _unsupported(".png", suffix)
    if data.startswith(_ARCHIVE_BEGINNINGS):
        raise _unsupported(".gz", suffix)
    may_be_html = BY_SUFFIX.get(suffix) in {"text", "html"} or suffix in _SAVED_AS_PAGES
    if may_be_html and _HTML_BEGINNING.match(data[:4096]):
        return "html"
    return None


def _is_prose_about_pdf(data: bytes, suffix: str) -> bool:
    """A text that merely mentions the mark does not begin with it."""
    return BY_SUFFIX.get(suffix) not in {None, "pdf"} and not data.startswith(b"%PDF-")


def _of_ole(data: bytes, suffix: str) -> Format:
    """Office before 2007, Outlook, or Office's envelope around an encrypted document."""
    from corpus2skill.adapters.extract.package_kinds import ole_kind

    kind = ole_kind(data, suffix)
    if BY_SUFFIX.get(kind) in {"xls", "msg"}:
        return BY_SUFFIX[kind]
    raise _unsupported(".doc" if kind in BY_SUFFIX else kind, suffix or kind)


def _of_zip(data: bytes, suffix: str) -> Format:
    """An Office document of today, a book, or an archive of documents."""
    from corpus2skill.adapters.extract.package_kinds import zip_kind

    kind = zip_kind(data)
    if kind != ".zip":
        if kind in BY_SUFFIX:
            return BY_SUFFIX[kind]
        raise _unsupported(kind, suffix)
    if suffix in {".zip", ""}:
        return "zip"
    if suffix in BY_SUFFIX:
        raise _not_as_named(suffix, "ZIP")
    raise _unsupported(suffix)


def _not_as_named(suffix: str, beginning: str) -> SourceRefused:
    named = BY_SUFFIX[suffix]
    if named in {"pdf", "docx"}:
        return SourceRefused("corrupt", f"not_{named}", beginning=beginning)
    return SourceRefused("corrupt", "not_as_named", suffix=suffix, beginning=beginning)


def _unsupported(kind: str, suffix: str | None = None) -> SourceRefused:
    """`kind` is what the content is, `suffix` what the name says."""
    shown = suffix or kind
    details = (
        (_LEGACY_OFFICE, "legacy_office"),
        (_WORKBOOKS, "workbook"),
        (_IMAGES, "image"),
        (_ARCHIVES, "archive"),
        (_OTHERS, "other_format"),
    )
    detail = next((detail for suffixes, detail in details if kind in suffixes), None)
    return SourceRefused("unsupported", detail, suffix=shown)


def _shown(data: bytes) -> str:
    """The first characters of the content, fit for a message."""
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data[:20])
