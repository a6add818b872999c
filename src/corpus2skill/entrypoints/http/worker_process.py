"""The worker, a child process of the server: begun, begun again when it dies, asked to stop.

It is told its settings by its environment, stops on SIGTERM, and stops by itself when the server is gone, so
that no worker outlives a server that was killed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import DEVNULL

from corpus2skill.application.server.health import OK
from corpus2skill.settings import ServerSettings, server_environment

_log = logging.getLogger(__name__)

_MODULE = "corpus2skill.entrypoints.worker"
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 60.0
_WELL_AFTER = 60.0
"""One that lived for so long is begun again without waiting longer than the first time."""


def worker_command(home: Path) -> tuple[str, ...]:
    """How the worker of this home is begun."""
    return (sys.executable, "-m", _MODULE, "--home", str(home), "--parent", str(os.getpid()))


def worker_environment(settings: ServerSettings) -> dict[str, str]:
    """What the worker is told: a database's password is not seen by everybody there."""
    return {**os.environ, **server_environment(settings)}


class WorkerProcess:
    """To be used in one event loop."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], first_pause: float = _FIRST_PAUSE
    ) -> None:
        self._command = command
        self._environment = environment
        self._first_pause = first_pause
        self._process: Process | None = None
        self._stopping = asyncio.Event()
        self.deaths = 0

    def state(self) -> str:
        """`ok`, or why no worker runs."""
        if self._process is not None and self._process.returncode is None:
            return OK
        return "worker_stopped" if self._stopping.is_set() else "worker_restarting"

    async def watch(self) -> None:
        """Keep a worker running until `stop`."""
        pause = self._first_pause
        while not self._stopping.is_set():
            began = time.monotonic()
            code = await self._run()
            if self._stopping.is_set():
                return
            self.deaths += 1
            pause = self._first_pause if time.monotonic() - began > _WELL_AFTER else pause
            _log.error("the worker ended by itself", extra={"exit_code": code, "again_in_seconds": pause})
            await self._wait(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def stop(self, patience: float) -> None:
        """Ask the worker to stop, and end it after `patience` seconds."""
        self._stopping.set()
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.terminate()
        try:
            async with asyncio.timeout(patience):
                await process.wait()
        except TimeoutError:
            _log.warning("the worker did not stop in time; its work goes on at the next start")
            process.kill()
            await process.wait()

    async def _run(self) -> int | str:
        """Run one worker to its end; a session of its own keeps the terminal's Ctrl-C from it."""
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command, stdin=DEVNULL, env=self._environment, start_new_session=True
            )
        except OSError as error:
            return str(error)
        return await self._process.wait()

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return
