"""`chunks.idx`: where each chunk's line stands in `chunks.jsonl`.

Records of three 64-bit numbers (chunk number, byte offset, byte length), sorted by chunk number, so that
one line of a file of any size is found with a few seeks and without reading the rest.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import BinaryIO

from corpus2skill.adapters.store.rows import Span

_RECORD = struct.Struct(">QQQ")


def pack(spans: Iterable[tuple[int, Span]]) -> bytes:
    """Return the index of `(chunk number, span)`."""
    ordered = sorted(spans, key=lambda item: item[0])
    return b"".join(_RECORD.pack(number, span.offset, span.length) for number, span in ordered)


def find(index: BinaryIO, number: int) -> Span | None:
    """Return the span of a chunk's line, None for a number that is not there.

    Raises:
        ValueError: the file is no index.
    """
    count, rest = divmod(index.seek(0, 2), _RECORD.size)
    if rest:
        raise ValueError("the index was cut")
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        index.seek(middle * _RECORD.size)
        found, offset, length = _RECORD.unpack(index.read(_RECORD.size))
        if found == number:
            return Span(offset=offset, length=length)
        low, high = (middle + 1, high) if found < number else (low, middle)
    return None
