"""Connections that carry one call at a time each."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest

from corpus2skill.adapters.llm.lanes import Lanes

pytestmark = pytest.mark.anyio
_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class _Server:
    """Answers every request once `gate` is open; counts the connections made and those still open."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.made = 0
        self.was_asked = asyncio.Event()
        self.all_closed = asyncio.Event()
        self._open = 0
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.made += 1
        self._open += 1
        self.all_closed.clear()
        try:
            while await reader.readline():
                while (await reader.readline()).strip():
                    pass
                self.was_asked.set()
                await self.gate.wait()
                writer.write(_ANSWER)
        finally:
            writer.close()
            self._open -= 1
            if not self._open:
                self.all_closed.set()


@asynccontextmanager
async def _served() -> AsyncIterator[tuple[_Server, httpx2.AsyncClient]]:
    served = _Server()
    listening = await asyncio.start_server(served.serve, "127.0.0.1", 0)
    served.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
    lanes = Lanes(ssl.create_default_context())
    client = httpx2.AsyncClient(mounts={"all://": lanes}, trust_env=False)
    async with listening, client:
        yield served, client


async def test_calls_after_one_another_share_a_connection() -> None:
    """Issue 4: a connection for each call would cost a handshake each."""
    async with _served() as (server, client):
        for _ in range(3):
            assert (await client.get(server.url)).text == "ok"
    assert server.made == 1


async def test_calls_at_a_time_have_a_connection_each_and_give_it_back() -> None:
    """Issue 4: 64 calls at a time."""
    async with _served() as (server, client):
        for _ in range(2):
            replies = await asyncio.gather(*(client.get(server.url) for _ in range(6)))
            assert [reply.text for reply in replies] == ["ok"] * 6
    assert server.made == 6


async def test_a_call_that_is_broken_off_leaves_no_lane_behind() -> None:
    """A cancelled call's connection is in an unknown state: the lane lives on with a new one."""
    async with _served() as (server, client):
        server.gate.clear()
        call = asyncio.create_task(client.get(server.url))
        await server.was_asked.wait()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        server.gate.set()
        assert (await client.get(server.url)).text == "ok"
    assert server.made == 2


async def test_closing_closes_every_connection() -> None:
    """Those under way are closed when their call ends."""
    async with _served() as (server, client):
        await asyncio.gather(*(client.get(server.url) for _ in range(3)))
        async with client.stream("GET", server.url) as held:
            await client.aclose()
            assert (await held.aread()) == b"ok"
        await server.all_closed.wait()
    assert server.made == 3
