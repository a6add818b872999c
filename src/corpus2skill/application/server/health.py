"""Whether the server can work, and what it counts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable

from corpus2skill.application.server_wiring import Server
from corpus2skill.errors import Corpus2SkillError

OK = "ok"
WorkerState = Callable[[], str]
"""`ok`, or why no worker runs."""


def no_worker() -> str:
    """Of a server that was begun without a worker of its own."""
    return OK


def checks(server: Server, worker: WorkerState) -> dict[str, str]:
    """What the server needs: `ok`, or the code of what is wrong."""
    return {"database": _database(server), "disk": _disk(server), "worker": worker()}


def exposition(server: Server, watchers: int) -> bytes:
    """All counts for Prometheus."""
    return server.measures.exposition(watchers=watchers, jobs=server.jobs.count_by_state())


def _database(server: Server) -> str:
    try:
        server.check_database()
    except Corpus2SkillError as error:
        return error.code
    return OK


def _disk(server: Server) -> str:
    """The workspace is made when something is first written: until then the folder above it must take it."""
    folder = next((folder for folder in (server.home, *server.home.parents) if folder.is_dir()), server.home)
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"0")
            os.fsync(file.fileno())
    except OSError:
        return "disk_refuses"
    return OK
