"""What a source document is: by its content first, then by its name."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from pathlib import PurePosixPath
from typing import Literal

from corpus2skill.errors import SourceRefused

Format = Literal["text", "markdown", "csv", "tsv", "html", "docx", "pdf"]

BY_SUFFIX: dict[str, Format] = {
    "": "text",
    ".csv": "csv",
    ".docx": "docx",
    ".htm": "html",
    ".html": "html",
    ".markdown": "markdown",
    ".md": "markdown",
    ".pdf": "pdf",
    ".text": "text",
    ".tsv": "tsv",
    ".txt": "text",
    ".xhtml": "html",
}
"""The names that are read. A name without a suffix is taken for text."""

_LEGACY_OFFICE = (".doc", ".xls", ".ppt", ".dot", ".xlt", ".pps")
_LATER = (".pptx", ".xlsx", ".xlsm", ".pptm", ".docm", ".eml", ".msg", ".epub")
_IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".tif", ".tiff", ".bmp", ".webp", ".heic", ".svg")
_ARCHIVES = (".zip", ".gz", ".tar", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".lzh")
_OTHERS = (".rtf", ".odt", ".jtd", ".pages", ".xdw")

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_IMAGE_BEGINNINGS = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*")
_ARCHIVE_BEGINNINGS = (b"\x1f\x8b\x08", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"BZh", b"\xfd7zXZ\0")
_HTML_BEGINNING = re.compile(
    rb"(\xef\xbb\xbf)?\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_PDF_WITHIN = 1024
"""Readers of PDF look for its mark in the first kilobyte."""


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
    if named in {"pdf", "docx"} and data:
        raise SourceRefused("corrupt", f"not_{named}", beginning=_shown(data))
    return named


def _by_content(data: bytes, suffix: str) -> Format | None:
    if b"%PDF-" in data[:_PDF_WITHIN] and not _is_prose_about_pdf(data, suffix):
        return "pdf"
    if data.startswith(_OLE):
        raise _refused_ole(data, suffix)
    if data.startswith(_ZIP):
        return _of_archive(data, suffix)
    if data.startswith(b"{\\rtf"):
        raise _unsupported(".rtf")
    if data.startswith(_IMAGE_BEGINNINGS):
        raise _unsupported(".png", suffix)
    if data.startswith(_ARCHIVE_BEGINNINGS):
        raise _unsupported(".gz", suffix)
    if _HTML_BEGINNING.match(data[:4096]) and BY_SUFFIX.get(suffix) in {"text", "html"}:
        return "html"
    return None


def _is_prose_about_pdf(data: bytes, suffix: str) -> bool:
    """A text that merely mentions the mark does not begin with it."""
    return BY_SUFFIX.get(suffix) not in {None, "pdf"} and not data.startswith(b"%PDF-")


def _refused_ole(data: bytes, suffix: str) -> SourceRefused:
    """Word of the nineties, Outlook, or Office's envelope around an encrypted document."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        return SourceRefused("encrypted")
    if "__substg1.0_".encode("utf-16-le") in data:
        return _unsupported(".msg", suffix)
    return _unsupported(".doc", suffix)


def _of_archive(data: bytes, suffix: str) -> Format:
    try:
        names = set(zipfile.ZipFile(BytesIO(data)).namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise SourceRefused("corrupt", "archive") from error
    if "word/document.xml" in names or (suffix == ".docx" and "[Content_Types].xml" in names):
        return "docx"
    if suffix == ".docx":
        raise SourceRefused("corrupt", "not_docx", beginning="ZIP")
    later = {"ppt/presentation.xml": ".pptx", "xl/workbook.xml": ".xlsx", "META-INF/container.xml": ".epub"}
    kind = next((kind for part, kind in later.items() if part in names), ".zip")
    raise _unsupported(kind, suffix)


def _unsupported(kind: str, suffix: str | None = None) -> SourceRefused:
    """`kind` is what the content is, `suffix` what the name says."""
    shown = suffix or kind
    details = (
        (_LEGACY_OFFICE, "legacy_office"),
        (_LATER, "later"),
        (_IMAGES, "image"),
        (_ARCHIVES, "archive"),
        (_OTHERS, "other_format"),
    )
    detail = next((detail for suffixes, detail in details if kind in suffixes), None)
    return SourceRefused("unsupported", detail, suffix=shown)


def _shown(data: bytes) -> str:
    """The first characters of the content, fit for a message."""
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data[:20])
