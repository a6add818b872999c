"""HTTP/1.1 over asyncio and h11: whole answers, streams, and connections that break on purpose."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import parse_qsl, urlsplit

import h11


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request, whole. Header names are lower case."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""


class Exchange:
    """The server's side of one request: it answers, or it does not."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    def respond(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Send a whole answer."""
        self._connection.send(
            h11.Response(status_code=status, headers=_head(headers, {"content-length": str(len(body))})),
            h11.Data(data=body),
            h11.EndOfMessage(),
        )

    def respond_partly(self, status: int, headers: Mapping[str, str], body: bytes, sent: int) -> None:
        """Announce `body` and send its first `sent` bytes: the rest never comes."""
        self._connection.send(
            h11.Response(status_code=status, headers=_head(headers, {"content-length": str(len(body))})),
            h11.Data(data=body[:sent]),
        )

    def start(self, status: int, headers: Mapping[str, str]) -> None:
        """Begin a chunked answer."""
        self._connection.send(
            h11.Response(status_code=status, headers=_head(headers, {"transfer-encoding": "chunked"}))
        )

    def write(self, data: bytes) -> None:
        """Send a piece of a chunked answer."""
        self._connection.send(h11.Data(data=data))

    def finish(self) -> None:
        """End a chunked answer."""
        self._connection.send(h11.EndOfMessage())

    def cut(self) -> None:
        """Close the connection, whatever is missing."""
        self._connection.cut()


Handler = Callable[[HttpRequest, Exchange], Awaitable[None]]


class HttpServer:
    """A server on loopback. `port` is known once it is started; 0 asks for a free one."""

    def __init__(self, handler: Handler, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.handler = handler
        self.host = host
        self.port = port
        self.connections: set[_Connection] = set()
        self._listener: asyncio.Server | None = None

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(
            lambda: _Connection(self), self.host, self.port, backlog=1024
        )
        self.port = cast("int", self._listener.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Stop listening and drop every connection."""
        if self._listener is None:
            return
        self._listener.close()
        tasks = [connection.task for connection in self.connections if connection.task is not None]
        for connection in tuple(self.connections):
            connection.cut()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._listener.wait_closed()
        self._listener = None


class _Connection(asyncio.Protocol):
    """One client's connection, kept alive between requests."""

    def __init__(self, server: HttpServer) -> None:
        self.server = server
        self.task: asyncio.Task[None] | None = None
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=256 * 1024)
        self._request: h11.Request | None = None
        self._pieces: list[bytes] = []
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.server.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.server.connections.discard(self)
        self._transport = None
        if self.task is not None:
            self.task.cancel()

    def data_received(self, data: bytes) -> None:
        self._http.receive_data(data)
        self._advance()

    def send(self, *events: h11.Event) -> None:
        if self._transport is None:
            return
        pieces = [self._http.send(event) for event in events]
        self._transport.write(b"".join(piece for piece in pieces if piece))

    def cut(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def _advance(self) -> None:
        try:
            while self._take(self._http.next_event()):
                pass
        except h11.RemoteProtocolError:
            self.cut()

    def _take(self, event: object) -> bool:
        """Take one event of the client's; return whether there may be another."""
        match event:
            case h11.Request():
                self._request, self._pieces = event, []
                if self._http.they_are_waiting_for_100_continue:
                    self.send(h11.InformationalResponse(status_code=100, headers=[]))
            case h11.Data():
                self._pieces.append(bytes(event.data))
            case h11.EndOfMessage():
                self.task = asyncio.get_running_loop().create_task(self._serve())
            case _:
                return False
        return True

    async def _serve(self) -> None:
        assert self._request is not None
        await self.server.handler(_request(self._request, b"".join(self._pieces)), Exchange(self))
        self.task = None
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
            self._advance()
        else:
            self.cut()


def _head(*parts: Mapping[str, str]) -> list[tuple[str, str]]:
    return [item for part in parts for item in part.items()]


def _request(head: h11.Request, body: bytes) -> HttpRequest:
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
    target = urlsplit(head.target.decode("latin-1"))
    if headers.get("content-encoding") == "gzip":
        body = gzip.decompress(body)
    return HttpRequest(
        method=head.method.decode("latin-1"),
        path=target.path,
        query=dict(parse_qsl(target.query)),
        headers=headers,
        body=body,
    )
