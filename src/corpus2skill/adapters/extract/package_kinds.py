"""What lies in the two containers that Office uses, ZIP and OLE: named by the suffix that it should have."""

from __future__ import annotations

import re
import zipfile
import zlib

from corpus2skill.adapters.extract.ole_storage import OleFile
from corpus2skill.adapters.extract.zip_parts import opened
from corpus2skill.errors import SourceRefused

_BY_MAIN_PART = {
    "word/document.xml": ".docx",
    "ppt/presentation.xml": ".pptx",
    "xl/workbook.xml": ".xlsx",
    "xl/workbook.bin": ".xlsb",
}
_BY_CONTENT_TYPE = {
    ".docx": re.compile(rb"(?:wordprocessingml|ms-word)\.[\w.]*main\+xml"),
    ".pptx": re.compile(rb"(?:presentationml|ms-powerpoint)\.[\w.]*main\+xml"),
    ".xlsx": re.compile(rb"(?:spreadsheetml|ms-excel)\.[\w.]*main\+xml"),
}
_BY_MIME_TYPE = {
    b"application/epub+zip": ".epub",
    b"application/vnd.oasis.opendocument.spreadsheet": ".ods",
    b"application/vnd.oasis.opendocument.text": ".odt",
    b"application/vnd.oasis.opendocument.presentation": ".odp",
    b"application/vnd.oasis.opendocument.graphics": ".odg",
}
_BY_STREAM = (
    ("WordDocument", ".doc"),
    ("PowerPoint Document", ".ppt"),
    ("Workbook", ".xls"),
    ("Book", ".xls"),
)
_ENOUGH = 1_000_000
_BROKEN = (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, RuntimeError, zlib.error)


def zip_kind(data: bytes) -> str:
    """Return the kind of a document in ZIP; `.zip` where it is an archive like any other.

    Raises:
        SourceRefused: `corrupt`.
    """
    with opened(data) as archive:
        names = set(archive.namelist())
        found = next((kind for part, kind in _BY_MAIN_PART.items() if part in names), None)
        if found:
            return found
        types = _beginning(archive, "[Content_Types].xml") if "[Content_Types].xml" in names else b""
        mime = _beginning(archive, "mimetype").strip() if "mimetype" in names else b""
    named = next((kind for kind, main in _BY_CONTENT_TYPE.items() if main.search(types)), None)
    if named or mime in _BY_MIME_TYPE:
        return named or _BY_MIME_TYPE[mime]
    return ".epub" if "META-INF/container.xml" in names else ".zip"


def ole_kind(data: bytes, suffix: str) -> str:
    """Return the kind of a document in OLE; what cannot be told is what its name says.

    Raises:
        SourceRefused: `encrypted`, for Office's envelope around a document with a password.
    """
    names = _root_names(data)
    if "EncryptedPackage" in names:
        raise SourceRefused("encrypted")
    if any(name.startswith("__properties_version1.0") for name in names):
        return ".msg"
    return next((kind for name, kind in _BY_STREAM if name in names), suffix or ".doc")


def _root_names(data: bytes) -> set[str]:
    """Return the names in the root; of a damaged file those that can be found anywhere in it."""
    try:
        return set(OleFile(data, max_bytes=0).names)
    except SourceRefused:
        known = ("EncryptedPackage", "__properties_version1.0", *(name for name, _ in _BY_STREAM))
        return {name for name in known if name.encode("utf-16-le") in data}


def _beginning(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        with archive.open(name) as part:
            return part.read(_ENOUGH)
    except _BROKEN:
        return b""
