"""Engines of SQLAlchemy for the databases of a workspace: how each begins its transactions."""

from __future__ import annotations

import sqlite3
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.pool import ConnectionPoolEntry, NullPool, QueuePool

BUSY_SECONDS = 10.0
"""How long one writer waits for the others."""
UNSYNCED = "rwc, unsynced"
"""Engines whose commits do not wait for the disk."""
WRITING = "rwc"
READING = "ro"
UNCHANGING = "ro&immutable=1"
"""Of a file on a read-only disk, which nobody can be writing."""
_POOL = 10
_POOL_ABOVE = 30
_CONNECT_SECONDS = 5
_KEEPALIVE = {"keepalives": 1, "keepalives_idle": 10, "keepalives_interval": 10, "keepalives_count": 3}


def sqlite_engine(file: Path, mode: str) -> Engine:
    """Return an engine whose transactions are begun by us: the driver would begin a writing one too late."""
    is_writing = mode.startswith(WRITING)

    def connect() -> sqlite3.Connection:
        address = f"file:{quote(str(file.absolute()))}?mode={WRITING if is_writing else mode}"
        connection = sqlite3.connect(
            address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        if is_writing:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(f"PRAGMA synchronous={'NORMAL' if mode == UNSYNCED else 'FULL'}")
            connection.execute("PRAGMA secure_delete=ON")
        return connection

    pool = NullPool if "immutable" in mode else QueuePool
    engine = create_engine("sqlite+pysqlite://", creator=connect, poolclass=pool)

    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")

    event.listen(engine, "begin", begin)
    return engine


class ServerEngines:
    """One pool of connections for the tables in one place of a database server, whoever opens them."""

    def __init__(self) -> None:
        self._engines: dict[tuple[str, str, str | None], Engine] = {}
        self._lock = threading.RLock()

    def of(self, url: URL, mode: str, schema: str | None) -> Engine:
        """Return the engine for this kind of work on the tables in `schema` of the database.

        Reading sees one moment. Writing is one at a time, as in SQLite: whoever reads before it writes
        must not be overtaken, and trying again costs more than waiting does.
        """
        return self._once(url, mode, schema, lambda: self._made(url, mode, schema))

    def _made(self, url: URL, mode: str, schema: str | None) -> Engine:
        pool = self._once(url, "", schema, lambda: _pool(url, schema))
        if mode == READING:
            return pool.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        engine = pool.execution_options()
        event.listen(engine, "begin", lambda connection: _await_turn(connection, mode, schema))
        return engine

    def _once(self, url: URL, mode: str, schema: str | None, make: Callable[[], Engine]) -> Engine:
        name = (url.render_as_string(hide_password=False), mode, schema)
        with self._lock:
            if name not in self._engines:
                self._engines[name] = make()
            return self._engines[name]


def _await_turn(connection: Connection, mode: str, schema: str | None) -> None:
    turn = zlib.crc32(f"corpus2skill {schema}".encode())
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{BUSY_SECONDS:.0f}s'")
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({turn})")
    if mode == UNSYNCED:
        connection.exec_driver_sql("SET LOCAL synchronous_commit TO OFF")


def _pool(url: URL, schema: str | None) -> Engine:
    engine = create_engine(
        url,
        pool_pre_ping=True,
        pool_size=_POOL,
        max_overflow=_POOL_ABOVE,
        pool_timeout=BUSY_SECONDS,
        connect_args={"connect_timeout": _CONNECT_SECONDS, **_KEEPALIVE},
    )
    if schema is not None:
        _keep_to(engine, schema)
    return engine


def _keep_to(engine: Engine, schema: str) -> None:
    """Have every connection find and make its tables in `schema`."""

    def connected(connection: object, _entry: ConnectionPoolEntry) -> None:
        with connection.cursor() as cursor:  # type: ignore[attr-defined]
            cursor.execute(f"SET SESSION search_path TO {schema}")
        connection.commit()  # type: ignore[attr-defined]

    event.listen(engine, "connect", connected)
