"""What a reading process and its owner say to each other: length and msgpack, each word of a known shape.

Nothing that comes back is ever executed, as a pickle would be: a document may have taken the process over.
"""

from __future__ import annotations

import sys
from typing import BinaryIO, Literal

import msgspec

from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.domain.corpus import ExtractedText, Refusal, SourceFile, SourceReport

_LENGTH = 8


class Setup(msgspec.Struct, frozen=True, tag=True):
    """The first word to a process: `module:function` of what reads a document and what opens a container."""

    extract: str
    members: str
    limits: Limits


class Extract(msgspec.Struct, frozen=True, tag=True):
    """Answered by a `Text` or a `Refused`."""

    source: str
    data: bytes


class Open(msgspec.Struct, frozen=True, tag=True):
    """Answered by the first `Member`, by `Done` or by `Refused`."""

    source: str
    data: bytes


class Next(msgspec.Struct, frozen=True, tag=True):
    """Answered as `Open`: a container's documents are handed over one at a time."""


class Text(msgspec.Struct, frozen=True, tag=True):
    extracted: ExtractedText
    is_spent: bool
    """True where the process holds so much memory that it should be replaced; so in every last word."""


class Refused(msgspec.Struct, frozen=True, tag=True):
    verdict: Refusal
    detail: str | None
    values: dict[str, str | int | float]
    is_spent: bool


class Member(msgspec.Struct, frozen=True, tag=True):
    file: SourceFile | None = None
    report: SourceReport | None = None
    """One of the two."""


class Done(msgspec.Struct, frozen=True, tag=True):
    is_spent: bool


Request = Extract | Open | Next
Reply = Text | Refused | Member | Done
OUT_OF_MEMORY = 77
"""Exit status of a process that watches its memory itself, where the kernel sets no limit."""
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes that the kernel counts the memory of a process in."""
Limit = Literal["time", "memory", "output"]
"""What a document may break; each is a detail of the verdict `too_large`."""


class TooLong(ValueError):
    """A word of more bytes than agreed."""


def send(stream: BinaryIO, word: Setup | Request | Reply, *, at_most: int | None = None) -> None:
    """Write one word.

    Raises:
        TooLong: it has more than `at_most` bytes; nothing was written.
        OSError: nobody listens any more.
    """
    body = msgspec.msgpack.encode(word)
    if at_most is not None and len(body) > at_most:
        raise TooLong
    _write(stream, len(body).to_bytes(_LENGTH, "big"))
    _write(stream, body)


def receive(stream: BinaryIO, *, at_most: int | None = None) -> bytearray:
    """Read the bytes of one word.

    Raises:
        TooLong: it is announced with more than `at_most` bytes; they were not read.
        EOFError: the other side is gone.
    """
    length = int.from_bytes(_read(stream, _LENGTH), "big")
    if at_most is not None and length > at_most:
        raise TooLong
    return _read(stream, length)


def _write(stream: BinaryIO, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[stream.write(left) :]


def _read(stream: BinaryIO, length: int) -> bytearray:
    data = bytearray(length)
    view, at = memoryview(data), 0
    while at < length:
        count = stream.readinto(view[at:])  # type: ignore[attr-defined] - a raw stream has it
        if not count:
            raise EOFError
        at += count
    return data
