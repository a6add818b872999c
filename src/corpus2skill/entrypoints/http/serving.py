"""The server's process: HTTP in one event loop, the worker beside it, and an orderly end."""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

import uvicorn

from corpus2skill.application.server.event_hub import EventHub
from corpus2skill.application.server_wiring import Server
from corpus2skill.entrypoints.http.app import create_app
from corpus2skill.entrypoints.http.worker_process import (
    WorkerProcess,
    worker_command,
    worker_environment,
)
from corpus2skill.errors import InvalidInput
from corpus2skill.settings import ServerSettings

_log = logging.getLogger(__name__)

Ending = Callable[[float], None]
"""Ends something within so many seconds; called in a thread when the server is asked to stop."""
_BACKLOG = 2048
_MORE_SECONDS = 5.0
"""For what is left when the runs have ended: answers on their way, and the worker."""
_KEEP_ALIVE_SECONDS = 65
"""Longer than the minute after which proxies usually drop a connection of theirs."""


def listening_socket(settings: ServerSettings) -> socket.socket:
    """Take the port.

    Raises:
        InvalidInput: it cannot be had; nothing was begun.
    """
    host, port = settings.host, settings.port
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError) as error:
        code = error.errno if isinstance(error, OSError) else None
        name = {errno.EADDRINUSE: "port_in_use", errno.EACCES: "port_refused"}.get(code or 0, "host_unusable")
        raise InvalidInput(name, host=host, port=port, reason=str(error)) from error
    # asyncio does it only for sockets that name their protocol. Without it a body waits behind its head until the
    # client has said that the head came: 40 ms on every connection that is kept.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def serve(server: Server, listening: socket.socket, on_started: Callable[[], None]) -> None:
    """Serve until SIGTERM or SIGINT; a second one ends at once."""
    asyncio.run(_serve(server, listening, on_started))


async def _serve(server: Server, listening: socket.socket, on_started: Callable[[], None]) -> None:
    settings = server.server_settings
    worker = WorkerProcess(worker_command(server.home), worker_environment(settings))
    app = create_app(server, worker.state)
    endings: list[Ending] = app.state.endings
    endings.append(lambda _seconds: server.apart.close())
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=int(_MORE_SECONDS),
    )
    door = Door(config, on_started, app.state.endings, app.state.hub, settings.stop_seconds)
    watching = asyncio.create_task(worker.watch())
    stopping = asyncio.create_task(_stop_with(door, worker, settings.stop_seconds + _MORE_SECONDS))
    try:
        await door.serve(sockets=[listening])
    finally:
        door.is_ending.set()
        await stopping
        await watching


async def _stop_with(door: Door, worker: WorkerProcess, patience: float) -> None:
    await door.is_ending.wait()
    await worker.stop(patience)


class Door(uvicorn.Server):
    """Uvicorn, which on a signal first lets what is under way come to its end."""

    def __init__(
        self,
        config: uvicorn.Config,
        on_started: Callable[[], None],
        endings: Sequence[Ending],
        hub: EventHub,
        patience: float,
    ) -> None:
        super().__init__(config)
        self._on_started = on_started
        self._endings = endings
        self._hub = hub
        self._patience = patience
        self.is_ending = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no new connection, end the runs, then the streams that told of them, then the rest."""
        _log.info("stopping; runs under way may go on", extra={"seconds": self._patience})
        for listener in self.servers:
            listener.close()
        self.is_ending.set()
        for ending in self._endings:
            await self._end(ending)
        self._hub.close()
        await super().shutdown(sockets)
        _log.info("stopped")

    async def _end(self, ending: Ending) -> None:
        try:
            await asyncio.to_thread(ending, 0.0 if self.force_exit else self._patience)
        except Exception:  # noqa: BLE001 - what fails here must not keep the others from ending
            _log.exception("something did not end as it should")

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Uvicorn's own way ends by raising the signal once more, which would hide an orderly end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._asked_to_stop)
        try:
            yield
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)

    def _asked_to_stop(self) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True
