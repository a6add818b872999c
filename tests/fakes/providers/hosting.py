"""Servers outside the test's own event loop: in a thread, or as a process."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Coroutine, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

from tests.fakes.providers.server import ProviderServer
from tests.fakes.providers.wire import JsonObject, decode, number, obj, objects, text


@contextmanager
def in_thread(*servers: ProviderServer) -> Generator[None]:
    """Run servers in a thread of their own, for tests without an event loop and for command lines under test."""
    is_up = threading.Event()
    loop = asyncio.new_event_loop()
    stopping = asyncio.Event()

    async def serve() -> None:
        for server in servers:
            await server.start()
        is_up.set()
        await stopping.wait()
        for server in servers:
            await server.stop()

    thread = threading.Thread(target=_run, args=(loop, serve()), name="fake providers", daemon=True)
    thread.start()
    is_up.wait()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join()


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnedProviders:
    """Servers in another process."""

    anthropic_port: int
    openai_port: int

    @property
    def anthropic_url(self) -> str:
        return f"http://127.0.0.1:{self.anthropic_port}"

    @property
    def openai_url(self) -> str:
        return f"http://127.0.0.1:{self.openai_port}/v1"

    def summary(self, port: int) -> JsonObject:
        """Return counts: `model_calls`, `distinct`, `paid_twice`, `max_in_flight`, `states`."""
        return obj(_get(port, "summary"))

    def calls(self, port: int) -> list[JsonObject]:
        return objects(_get(port, "calls"))

    def clear(self, port: int) -> None:
        _get(port, "clear")


@contextmanager
def spawned(options: Sequence[str] = ()) -> Generator[SpawnedProviders]:
    """Run `python -m tests.fakes.providers` on free ports, with more `options` of its command line."""
    command = [sys.executable, "-m", "tests.fakes.providers", "--json", *options]
    root = Path(__file__).resolve().parents[3]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        ports = obj(decode(process.stdout.readline()))
        try:
            yield SpawnedProviders(
                anthropic_port=number(ports["anthropic_port"]) or 0,
                openai_port=number(ports["openai_port"]) or 0,
            )
        finally:
            process.terminate()


def _run(loop: asyncio.AbstractEventLoop, work: Coroutine[object, object, None]) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(work)
    finally:
        loop.close()


def _get(port: int, what: str) -> object:
    opener = build_opener(ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{port}/_fake/{what}") as answer:
        return decode(text(answer.read().decode()))
