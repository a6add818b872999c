"""`multipart/form-data` taken in while it comes: the files to their reception, a few short fields aside."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool

from corpus2skill.errors import InvalidInput, WrongKind

_AT_ONCE = 1_000_000
"""Bytes that are handed on together: a thread for each piece of the network would cost more than its work."""
_LONGEST_FIELD = 4_000
_MOST_FIELDS = 20
_LEGACY = ("utf-8", "cp932")


class FileTaker(Protocol):
    def begin(self, sent: str) -> None: ...
    def write(self, data: bytes) -> None: ...


async def take_files(content_type: str, body: AsyncIterator[bytes], taker: FileTaker) -> dict[str, str]:
    """Hand every file of `body` to `taker` and return the other fields. The disk is written in threads.

    Raises:
        WrongKind: it is not `multipart/form-data`.
        InvalidInput: it is broken, or ends too early.
        and whatever `taker` raises, which ends it at once.
    """
    reading = _Reading(_boundary(content_type), taker)
    waiting = bytearray()
    async for piece in body:
        waiting += piece
        if len(waiting) >= _AT_ONCE:
            await run_in_threadpool(reading.feed, bytes(waiting))
            waiting.clear()
    await run_in_threadpool(reading.feed, bytes(waiting))
    reading.require_end()
    return reading.fields


def _boundary(content_type: str) -> bytes:
    kind, options = parse_options_header(content_type)
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not boundary:
        raise WrongKind("not_multipart", came=content_type or "-")
    return boundary


class _Reading:
    """One body on its way through the parser."""

    def __init__(self, boundary: bytes, taker: FileTaker) -> None:
        self.fields: dict[str, str] = {}
        self._taker = taker
        self._field: str | None = None
        """Name of the field that is being read; None within a file."""
        self._value = bytearray()
        self._headers: dict[bytes, bytes] = {}
        self._header_name, self._header_value = b"", b""
        self._is_ended = False
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin_part,
                    "on_part_data": self._data,
                    "on_part_end": self._end_part,
                    "on_header_field": self._add_header_name,
                    "on_header_value": self._add_header_value,
                    "on_header_end": self._end_header,
                    "on_headers_finished": self._begin_content,
                    "on_end": self._end,
                },
            )
        except FormParserError as error:
            raise InvalidInput("broken_multipart", reason=str(error)) from error

    def feed(self, data: bytes) -> None:
        if not data:
            return
        try:
            self._parser.write(data)
        except FormParserError as error:
            raise InvalidInput("broken_multipart", reason=str(error)) from error

    def require_end(self) -> None:
        if not self._is_ended:
            raise InvalidInput("cut_multipart")

    def _begin_part(self) -> None:
        self._headers = {}
        self._value.clear()

    def _add_header_name(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _add_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _end_header(self) -> None:
        self._headers[self._header_name.lower()] = self._header_value
        self._header_name, self._header_value = b"", b""

    def _begin_content(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        if options.get(b"filename"):
            self._field = None
            self._taker.begin(_file_name(options[b"filename"]))
            return
        if b"filename" in options:  # a form in which no file was chosen
            options[b"name"] = b""
        if b"name" not in options or len(self.fields) >= _MOST_FIELDS:
            raise InvalidInput("broken_multipart", reason="a part without a name, or too many of them")
        self._field = _text(options[b"name"])

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._field is None:
            self._taker.write(data[start:end])
            return
        self._value += data[start:end]
        if len(self._value) > _LONGEST_FIELD:
            raise InvalidInput("broken_multipart", reason=f"a field of more than {_LONGEST_FIELD} bytes")

    def _end_part(self) -> None:
        if self._field is not None:
            self.fields[self._field] = _text(bytes(self._value))

    def _end(self) -> None:
        self._is_ended = True


def _file_name(raw: bytes) -> str:
    """A file's name; browsers write a quote and line ends in it as the standard of forms says."""
    text = _text(raw)
    for written, meant in (("%22", '"'), ("%0D", "\r"), ("%0A", "\n")):
        text = text.replace(written, meant)
    return text


def _text(raw: bytes) -> str:
    for codec in _LEGACY:
        try:
            return raw.decode(codec)
        except UnicodeDecodeError:
            continue
    return raw.decode("utf-8", "backslashreplace")
