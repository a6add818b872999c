"""The parts of a document that is a ZIP archive: inflated with a limit, parsed without entities.

Sizes that an archive declares may lie, so bytes are counted while they are inflated, all parts together.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from io import BytesIO
from typing import BinaryIO, cast

from corpus2skill.adapters.extract.xml_element import Element, parsed
from corpus2skill.errors import SourceRefused

_STEP = 1_000_000
_MAX_XML_BYTES = 40_000_000
"""Of a part that is parsed as a whole: its tree takes several times as much memory. Rows are streamed instead."""
_MAX_TAGS = 3_000_000
"""Opening and closing ones: each element takes some hundred bytes of memory, however short it is."""
_BROKEN = (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, zlib.error, IndexError)


def opened(data: bytes) -> zipfile.ZipFile:
    """Raises: SourceRefused (`corrupt`) where `data` is no archive."""
    try:
        return zipfile.ZipFile(BytesIO(data))
    except _BROKEN as error:
        raise SourceRefused("corrupt", "archive") from error


class ZipParts:
    """One document. The limit counts for all that is read from it."""

    def __init__(self, data: bytes, *, max_inflated_bytes: int) -> None:
        """Raises: SourceRefused (`corrupt`) where `data` is no archive."""
        self._archive = opened(data)
        self._limit = max_inflated_bytes
        self._inflated = 0
        self.names = frozenset(self._archive.namelist())

    def stream(self, name: str) -> BinaryIO:
        """Return a part that is inflated as it is read.

        Raises:
            SourceRefused: `corrupt`, `encrypted`; also while reading, and `too_large` then.
        """
        try:
            part = self._archive.open(name)
        except RuntimeError as error:
            raise SourceRefused("encrypted") from error
        except (*_BROKEN, KeyError) as error:
            raise SourceRefused("corrupt", "archive") from error
        return cast("BinaryIO", _CountedPart(part, self))

    def data(self, name: str) -> bytes | None:
        """Return a part, None where there is none. Raises as `stream`."""
        if name not in self.names:
            return None
        with self.stream(name) as part:
            return b"".join(iter(lambda: part.read(_STEP), b""))

    def xml(self, name: str, *, may_have_dtd: bool = False) -> Element | None:
        """Return a parsed part, None where there is none.

        Raises:
            SourceRefused: `hostile` (a DTD, which no Office part has, or with `may_have_dtd` its entities;
                nesting without end), `too_large`, `encrypted` or `corrupt`.
        """
        data = self.data(name)
        if data is None:
            return None
        if len(data) > _MAX_XML_BYTES:
            raise SourceRefused("too_large", "inflated", limit=_MAX_XML_BYTES)
        if data.count(b"<") > _MAX_TAGS:
            raise SourceRefused("too_large", "tags", limit=_MAX_TAGS)
        root, has_dtd = parsed(data)
        if has_dtd and (not may_have_dtd or b"<!ENTITY" in data):
            raise SourceRefused("hostile", "dtd")
        return root

    def count(self, length: int) -> None:
        """Raises: SourceRefused (`too_large`) where `length` bytes more are over the limit."""
        self._inflated += length
        if self._inflated > self._limit:
            raise SourceRefused("too_large", "inflated", limit=self._limit)


class _CountedPart(io.RawIOBase):
    """A part that says what was inflated, and refuses the document where it is broken."""

    def __init__(self, part: zipfile.ZipExtFile | object, parts: ZipParts) -> None:
        self._part = cast("BinaryIO", part)
        self._parts = parts

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        try:
            piece = self._part.read(size if 0 <= size <= _STEP else _STEP)
        except _BROKEN as error:
            raise SourceRefused("corrupt", "archive") from error
        self._parts.count(len(piece))
        return piece
