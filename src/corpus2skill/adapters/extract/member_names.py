"""Names of documents within archives and mails: as their makers saw them, and never a way out of the archive."""

from __future__ import annotations

import re
import struct
import unicodedata
import zipfile
import zlib
from pathlib import PurePosixPath

_IS_UTF8 = 0x800
_UNICODE_PATH = 0x7075
_LEGACY = ("utf-8", "cp932")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_DRIVE = re.compile(r"[A-Za-z]:")
_LONGEST = 200
"""Characters of one part of a name."""


def entry_name(entry: zipfile.ZipInfo) -> str:
    """Return the name of an entry of a ZIP file.

    UTF-8 where the entry says so; else what the archiver's country wrote: Windows in Japan CP932, macOS UTF-8.
    """
    name = entry.orig_filename
    if entry.flag_bits & _IS_UTF8:
        return name
    raw = name.encode("cp437", "replace")
    if (declared := _unicode_path(entry.extra, raw)) is not None:
        return declared
    if raw.isascii():
        return name
    for codec in _LEGACY:
        try:
            return raw.decode(codec)
        except UnicodeDecodeError:
            continue
    return name


def safe_name(name: str) -> str:
    """Return a name below its container: parts that lead up, out or nowhere are dropped; "" if nothing is left."""
    parts = _CONTROL.sub("", name).replace("\\", "/").split("/")
    kept = [
        _shortened(part)
        for part in map(str.strip, parts)
        if part not in {"", ".", ".."} and not _DRIVE.fullmatch(part)
    ]
    return unicodedata.normalize("NFC", "/".join(kept))


def _shortened(part: str) -> str:
    if len(part) <= _LONGEST:
        return part
    suffix = PurePosixPath(part).suffix[:20]
    return part[: _LONGEST - len(suffix)] + suffix


def _unicode_path(extra: bytes, raw: bytes) -> str | None:
    """Return the name from the field that some archivers add for it, if it was made for this very name."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        field = extra[at + 4 : at + 4 + length]
        if kind == _UNICODE_PATH and len(field) > 5 and field[1:5] == zlib.crc32(raw).to_bytes(4, "little"):
            try:
                return field[5:].decode("utf-8")
            except UnicodeDecodeError:
                return None
        at += 4 + length
    return None
