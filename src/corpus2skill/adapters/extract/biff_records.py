"""Records of the workbook stream in an old Excel file (BIFF5 and BIFF8), and the strings in them."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from corpus2skill.errors import SourceRefused

_HEADER = struct.Struct("<HH")
_IS_WIDE, _HAS_PHONETIC, _HAS_RUNS = 0x01, 0x04, 0x08


class Kind:
    """Numbers of the records that are read."""

    FORMULA = 0x0006
    END = 0x000A
    DATES = 0x0022
    LOCK = 0x002F
    CONTINUE = 0x003C
    CODE_PAGE = 0x0042
    SHEET = 0x0085
    SMALL_NUMBERS = 0x00BD
    RICH_LABEL = 0x00D6
    STYLE = 0x00E0
    MERGED = 0x00E5
    STRINGS = 0x00FC
    SHARED_LABEL = 0x00FD
    NUMBER = 0x0203
    LABEL = 0x0204
    LOGICAL = 0x0205
    FORMULA_STRING = 0x0207
    SMALL_NUMBER = 0x027E
    FORMAT = 0x041E
    BEGIN = 0x0809


CELLS = frozenset(
    {
        Kind.FORMULA,
        Kind.SMALL_NUMBERS,
        Kind.RICH_LABEL,
        Kind.SHARED_LABEL,
        Kind.NUMBER,
        Kind.LABEL,
        Kind.LOGICAL,
        Kind.SMALL_NUMBER,
    }
)
"""Records that begin with a row, a column and a style."""


def records(stream: bytes, at: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield kind and content of the records from `at` on; a cut one ends them."""
    while at + _HEADER.size <= len(stream):
        kind, length = _HEADER.unpack_from(stream, at)
        at += _HEADER.size
        if at + length > len(stream):
            return
        yield kind, stream[at : at + length]
        at += length


class Words:
    """Decodes strings: BIFF8 has one or two bytes a character, BIFF5 the bytes of a code page."""

    def __init__(self) -> None:
        self.is_biff8 = True
        self.code_page = "cp932"

    def short(self, data: bytes) -> str:
        """Return a string whose length stands in one byte."""
        return self._string(data, 1)

    def long(self, data: bytes) -> str:
        """Return a string whose length stands in two bytes."""
        return self._string(data, 2)

    def _string(self, data: bytes, size: int) -> str:
        length = int.from_bytes(data[:size], "little")
        if not self.is_biff8:
            return self._narrow(data[size : size + length])
        if data[size : size + 1] and data[size] & _IS_WIDE:
            return data[size + 1 : size + 1 + 2 * length].decode("utf-16-le", "ignore")
        return data[size + 1 : size + 1 + length].decode("latin-1")

    def _narrow(self, raw: bytes) -> str:
        try:
            return raw.decode(self.code_page)
        except UnicodeDecodeError as error:
            raise SourceRefused("undecodable") from error


def shared_strings(blocks: list[bytes], *, most: int) -> list[str]:
    """Return the strings of the shared table; `blocks` are its record and those that continue it.

    Raises:
        SourceRefused: `too_large`, or `corrupt` where the table ends within a string.
    """
    count = int.from_bytes(blocks[0][4:8], "little") if blocks else 0
    if count > most:
        raise SourceRefused("too_large", "strings", limit=most)
    table = _Table(blocks)
    return [table.string() for _ in range(count)]


class _Table:
    """Reads over the edges of records. Characters that go on in the next one are told anew how wide they are."""

    def __init__(self, blocks: list[bytes]) -> None:
        self._blocks = blocks
        self._block = 0
        self._at = 8

    def string(self) -> str:
        length, flags = struct.unpack("<HB", self._bytes(3))
        runs = int.from_bytes(self._bytes(2), "little") if flags & _HAS_RUNS else 0
        phonetic = int.from_bytes(self._bytes(4), "little") if flags & _HAS_PHONETIC else 0
        words = self._characters(length, is_wide=bool(flags & _IS_WIDE))
        self._skip(4 * runs + phonetic)
        return words

    def _characters(self, length: int, *, is_wide: bool) -> str:
        pieces: list[str] = []
        while length > 0:
            left = len(self._blocks[self._block]) - self._at
            if left <= 0:
                self._next()
                is_wide = bool(self._bytes(1)[0] & _IS_WIDE)
                continue
            count = min(length, max(left // 2, 1) if is_wide else left)
            raw = self._bytes(count * 2 if is_wide else count)
            pieces.append(raw.decode("utf-16-le" if is_wide else "latin-1", "ignore"))
            length -= count
        return "".join(pieces)

    def _bytes(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            block = self._blocks[self._block]
            piece = block[self._at : self._at + count - len(found)]
            found += piece
            self._at += len(piece)
            if len(found) < count:
                self._next()
        return found

    def _skip(self, count: int) -> None:
        while count > (left := len(self._blocks[self._block]) - self._at):
            count -= left
            self._next()
        self._at += count

    def _next(self) -> None:
        self._block += 1
        self._at = 0
        if self._block >= len(self._blocks):
            raise SourceRefused("corrupt")
