"""Locks that say that a worker lives: the system and PostgreSQL let go of them when it dies."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy import URL, Connection, Engine, create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from corpus2skill.adapters.store import durable
from corpus2skill.ports.workers import Worker

_log = logging.getLogger(__name__)

_FILE = "worker.lock"
_KEEPALIVES = {
    "keepalives": "1",
    "keepalives_idle": "10",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}
"""So that the database lets go of a machine that vanished."""


class HomePresence:
    """`ports.workers.Presence` of a server whose state lies in a folder: its worker holds a lock there."""

    def __init__(self, home: Path, place: str) -> None:
        self._lock = FileLock(home / _FILE, timeout=0, thread_local=False)
        self._place = place

    def hold(self, worker: str) -> bool:
        del worker
        file = Path(self._lock.lock_file)
        with durable.usable(file):
            durable.make_folder(file.parent)
            try:
                self._lock.acquire()
            except Timeout:
                return False
        return True

    def is_gone(self, worker: Worker) -> bool | None:
        """Whoever was here before is dead: the lock is ours."""
        return True if worker.place == self._place else None

    def release(self) -> None:
        self._lock.release()


class PostgresPresence:
    """The same, with an advisory lock on the worker's id for those who are elsewhere."""

    def __init__(self, url: URL, home: HomePresence) -> None:
        self._engine: Engine = create_engine(url, poolclass=NullPool, connect_args=_KEEPALIVES)
        self._home = home
        self._held: Connection | None = None
        self._worker = ""

    def hold(self, worker: str) -> bool:
        if not self._home.hold(worker):
            return False
        self._worker = worker
        self._renew()
        return True

    def is_gone(self, worker: Worker) -> bool | None:
        at_home = self._home.is_gone(worker)
        if at_home is not None:
            return at_home
        try:
            self._renew()
            with self._engine.connect() as connection:
                return _has_locked(connection, worker.worker)  # and lets go of it with the connection
        except DBAPIError:
            return None

    def release(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            held.invalidate()
            held.close()
        self._engine.dispose()
        self._home.release()

    def _renew(self) -> None:
        """Take the lock, or take it again where the database let go of it when it was gone itself."""
        try:
            if self._held is not None:
                self._held.execute(text("SELECT 1"))
                return
        except DBAPIError:
            self._held = None
        connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        if not _has_locked(connection, self._worker):
            _log.error("somebody else holds the lock of worker %s", self._worker)
        self._held = connection


def _has_locked(connection: Connection, worker: str) -> bool:
    key = int.from_bytes(hashlib.sha256(worker.encode("utf-8")).digest()[:8], "big", signed=True)
    return bool(connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": key}))
