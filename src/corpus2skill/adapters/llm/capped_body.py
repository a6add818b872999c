"""A bound on what an endpoint may send, so that a body without an end does not fill the memory."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Protocol, cast

import httpx2

MOST_REPLY_BYTES = 8_000_000
"""Of a reply, streamed or whole, unpacked: many times what any model writes at once."""
_MOST_FILE_BYTES = 256_000_000
"""Of the results of a batch, which come as one file."""
_FILES = ("/results", "/content")
ENCODINGS = "gzip"
"""What may come packed: how much it unpacks to is counted on the way."""
_PACKED = frozenset({"gzip", "x-gzip", "deflate"})
_PIECE = 64 * 1024
_HEAD = 2_000


class _Unpacker(Protocol):
    """What `zlib.decompressobj` returns."""

    @property
    def unconsumed_tail(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class BodyTooLarge(httpx2.DecodingError):
    """The body has not ended where every reply has."""

    def __init__(self, most_bytes: int) -> None:
        super().__init__(f"more than {most_bytes} bytes")
        self.most_bytes = most_bytes


async def cap_body(response: httpx2.Response) -> None:
    """Bound the body of a response that is not read yet: a response hook of the HTTP client."""
    most = _MOST_FILE_BYTES if response.request.url.path.endswith(_FILES) else MOST_REPLY_BYTES
    is_packed = response.headers.get("content-encoding", "").strip().lower() in _PACKED
    if is_packed:
        del response.headers["content-encoding"]  # it is unpacked here, where it can be stopped
    stream = cast("httpx2.AsyncByteStream", response.stream)
    response.stream = _CappedBody(stream, most, is_packed=is_packed)


def head_of(response: httpx2.Response) -> bytes:
    """Return the beginning of a body that was read, for an error's text."""
    return response.stream.head if isinstance(response.stream, _CappedBody) else b""


class _CappedBody(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int, *, is_packed: bool) -> None:
        self._stream = stream
        self._most = most
        self._is_packed = is_packed
        self.head = b""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32) if self._is_packed else None
        size = 0
        async for part in self._stream:
            for piece in (part,) if unpacker is None else _unpacked(unpacker, part):
                size += len(piece)
                if size > self._most:
                    raise BodyTooLarge(self._most)
                if len(self.head) < _HEAD:
                    self.head = (self.head + piece)[:_HEAD]
                yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def _unpacked(unpacker: _Unpacker, part: bytes) -> Iterator[bytes]:
    """
    Raises:
        httpx2.DecodingError: the body is not packed as its head says.
    """
    rest = part
    while rest:
        try:
            piece = unpacker.decompress(rest, _PIECE)
        except zlib.error as error:
            raise httpx2.DecodingError(str(error)) from error
        yield piece
        rest = unpacker.unconsumed_tail
