"""Connections that carry one call at a time each, for many calls at a time.

A pool that is shared looks at every idle connection of its with each call that comes or ends; with 64 calls at
a time that is more work than the calls themselves.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator
from typing import cast

import httpx2

_IDLE_SECONDS = 5.0
"""How long a connection without a call is kept, as the SDKs keep theirs."""
_SILENT_SECONDS = 60
"""After so many of a silent connection the other side is asked whether it is still there: replies take minutes."""
_LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=1, keepalive_expiry=_IDLE_SECONDS)


class Lanes(httpx2.AsyncBaseTransport):
    """A transport without a proxy. The lane that was used last is used next, so that those too many run dry."""

    def __init__(self, verify: ssl.SSLContext) -> None:
        self._verify = verify
        self._idle: deque[_Lane] = deque()
        self._is_closed = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        lane = self._idle.pop() if self._idle else _Lane(self._verify)
        try:
            response = await lane.transport.handle_async_request(request)
        except BaseException:
            await self.give_back(lane)
            raise
        response.stream = _Body(cast("httpx2.AsyncByteStream", response.stream), lane, self)
        return response

    async def aclose(self) -> None:
        """Close the lanes; those with a call under way are closed when it ends."""
        self._is_closed = True
        while self._idle:
            await self._idle.pop().transport.aclose()

    async def give_back(self, lane: _Lane) -> None:
        """Take a lane whose call has ended, and close those that lay too long."""
        now = lane.idle_since = time.monotonic()
        self._idle.append(lane)
        while self._idle and (self._is_closed or self._idle[0].idle_since + _IDLE_SECONDS < now):
            await self._idle.popleft().transport.aclose()


class _Lane:
    """One connection, made again where the other side has closed it."""

    __slots__ = ("idle_since", "transport")

    def __init__(self, verify: ssl.SSLContext) -> None:
        self.transport = httpx2.AsyncHTTPTransport(
            verify=verify, trust_env=False, limits=_LIMITS, socket_options=_socket_options()
        )
        self.idle_since = 0.0


class _Body(httpx2.AsyncByteStream):
    """A response's body; once it is closed its lane is free."""

    def __init__(self, stream: httpx2.AsyncByteStream, lane: _Lane, lanes: Lanes) -> None:
        self._stream = stream
        self._lane: _Lane | None = lane
        self._lanes = lanes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            yield part

    async def aclose(self) -> None:
        lane, self._lane = self._lane, None
        if lane is None:
            return
        try:
            await self._stream.aclose()
        finally:
            await self._lanes.give_back(lane)


def _socket_options() -> list[tuple[int, int, int]]:
    """Ask a silent peer whether it is there, on the systems that let the times be said."""
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in (
        ("TCP_KEEPIDLE", _SILENT_SECONDS),
        ("TCP_KEEPINTVL", _SILENT_SECONDS),
        ("TCP_KEEPCNT", 5),
    ):
        if (option := getattr(socket, name, None)) is not None:
            options.append((socket.IPPROTO_TCP, option, value))
    return options
