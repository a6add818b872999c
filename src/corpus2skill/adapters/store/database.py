"""A database of the workspace: opened when first needed, its refusals given their meaning."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    MetaData,
    Table,
    create_engine,
    event,
    insert,
    inspect,
    make_url,
    select,
    update,
)
from sqlalchemy.exc import DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.pool import NullPool, QueuePool

from corpus2skill.adapters.store import durable
from corpus2skill.errors import Busy, Corpus2SkillError, Damaged, WorkspaceUnusable

Result = TypeVar("Result")

_TRIES = 6
_BUSY_SECONDS = 10.0
_SCHEMA_KEY = "schema"
_UNSYNCED = "rwc, unsynced"
"""Engines whose commits do not wait for the disk."""
_NO_SHARED_MEMORY = ("SQLITE_CANTOPEN", "SQLITE_READONLY")
"""How SQLite says that it may not make the files which a WAL database needs beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a database holds, and what its faults are called."""

    metadata: MetaData
    meta: Table
    """Of `metadata`: `key` and `value`, where the number of the schema stands."""
    schema: int
    damaged: Callable[[str], Damaged]
    """From the file's name, and what in it, to the error that says so."""
    busy: Callable[[str], Busy]
    """From the file's name."""
    upgrade: Callable[[Connection, int], None] | None = None
    """Brings tables of an older schema, whose number it is given, to `schema`."""


class Database:
    """One database by its URL. Reading makes nothing; writing makes file and tables. Any thread may use it."""

    def __init__(self, url: str | URL, contents: Contents) -> None:
        self._url = make_url(url)
        self._contents = contents
        self._file = _sqlite_file(self._url)
        self._engines: dict[str, Engine] = {}
        self._is_checked = False

    def read(self, work: Callable[[Connection], Result], empty: Result) -> Result:
        """Return what `work` finds, or `empty` where nothing was written yet."""
        if self._file is not None:
            with durable.usable(self._file):
                if not self._file.exists():
                    return empty
        try:
            return self._read(self._engine("ro"), work, empty)
        except _Outdated:
            self.write(_nothing)
            return self.read(work, empty)
        except DBAPIError as error:
            if not self._is_unchanging(error):
                raise self._refusal(error) from error
        try:
            return self._read(self._engine("ro&immutable=1"), work, empty)
        except DBAPIError as error:
            raise self._refusal(error) from error

    def write(self, work: Callable[[Connection], Result], *, outlasts_power_cut: bool = True) -> Result:
        """Run `work` in one transaction. It may be run again, where another process was quicker.

        What was written outlasts the death of the process. Without `outlasts_power_cut` the disk is not waited
        for, so that the machine's own death may take it; the next write that waits takes this one along.
        """
        if self._file is not None:
            with durable.usable(self._file):
                durable.make_folder(self._file.parent)
        tries_left = _TRIES
        while True:
            tries_left -= 1
            try:
                return self._write(work, self._engine("rwc" if outlasts_power_cut else _UNSYNCED))
            except DBAPIError as error:
                if not tries_left or not _was_outrun(error):
                    raise self._refusal(error) from error

    def wipe(self) -> None:
        """Make what was deleted unreadable: in SQLite's file it is zeros already, its log is emptied here.

        Raises:
            Busy: somebody has been reading for too long; what was deleted may still stand in the log.
        """
        if self._file is None or not self._file.exists():
            return
        try:
            with self._engine("rwc").connect() as connection:
                driver = connection.connection.driver_connection
                assert isinstance(driver, sqlite3.Connection)
                (is_blocked, _, _) = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except (sqlite3.Error, DBAPIError) as error:
            raise self._refusal(error) from error
        if is_blocked:
            raise self._contents.busy(self._label)

    def close(self) -> None:
        """Give back the connections; the database may be used again."""
        for engine in self._engines.values():
            engine.dispose()
        self._engines.clear()

    def damaged(self, name: str) -> Damaged:
        """The error for a row, of this name, that cannot be read."""
        return self._contents.damaged(f"{self._label} ({name})")

    @property
    def _label(self) -> str:
        return str(self._file) if self._file else str(self._url.database)

    def _read(self, engine: Engine, work: Callable[[Connection], Result], empty: Result) -> Result:
        with engine.begin() as connection:
            if not self._is_checked and not self._check(connection):
                return empty
            return work(connection)

    def _write(self, work: Callable[[Connection], Result], engine: Engine) -> Result:
        with engine.begin() as connection:
            if not self._is_checked:
                self._make_ready(connection)
            return work(connection)

    def _make_ready(self, connection: Connection) -> None:
        """Make the tables, or bring those of an older release up to date."""
        contents = self._contents
        row = {"key": _SCHEMA_KEY, "value": str(contents.schema)}
        try:
            if not self._check(connection):
                contents.metadata.create_all(connection)
                connection.execute(insert(contents.meta).values(row))
        except _Outdated as found:
            if contents.upgrade is not None:
                contents.upgrade(connection, found.came)
            connection.execute(update(contents.meta).where(contents.meta.c.key == _SCHEMA_KEY).values(row))

    def _check(self, connection: Connection) -> bool:
        """Return whether the tables are there.

        Raises:
            WorkspaceUnusable: a newer release made them.
            _Outdated: an older one did.
        """
        meta, schema = self._contents.meta, self._contents.schema
        if not inspect(connection).has_table(meta.name):
            return False
        came = connection.scalar(select(meta.c.value).where(meta.c.key == _SCHEMA_KEY))
        if came is None or not str(came).isdecimal():
            raise self.damaged(meta.name)
        if int(came) > schema:
            raise WorkspaceUnusable("workspace_newer", file=self._label, wanted=schema, came=int(came))
        if int(came) < schema:
            raise _Outdated(int(came))
        self._is_checked = True
        return True

    def _engine(self, mode: str) -> Engine:
        if self._file is None and mode != _UNSYNCED:
            mode = "server"
        if mode not in self._engines:
            self._engines[mode] = (
                _server_engine(self._url, mode) if self._file is None else _sqlite_engine(self._file, mode)
            )
        return self._engines[mode]

    def _is_unchanging(self, error: DBAPIError) -> bool:
        """True where a database on a read-only disk may be read as a file that nobody can be writing."""
        if self._file is None or not _name(error).startswith(_NO_SHARED_MEMORY):
            return False
        log = self._file.with_name(self._file.name + "-wal")
        return not log.exists() or log.stat().st_size == 0

    def _refusal(self, error: DBAPIError | sqlite3.Error) -> Corpus2SkillError:
        name, path = _name(error), self._label
        reason = str(error.orig if isinstance(error, DBAPIError) else error)
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_CONSTRAINT")):
            return self._contents.damaged(path)
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return self._contents.busy(path)
        codes = {"SQLITE_READONLY": "read_only", "SQLITE_FULL": "disk_full", "SQLITE_CANTOPEN": "no_rights"}
        code = next((code for start, code in codes.items() if name.startswith(start)), "workspace_io")
        return WorkspaceUnusable(code, path=path, reason=reason)


class _Outdated(Exception):
    """The tables are of an older schema, of the number `came`."""

    def __init__(self, came: int) -> None:
        self.came = came
        super().__init__(came)


def _nothing(_connection: Connection) -> None:
    """A write of nothing, which makes the tables ready."""


def _sqlite_file(url: URL) -> Path | None:
    if url.get_backend_name() != "sqlite":
        return None
    if not url.database or url.database == ":memory:":
        raise ValueError("what is kept needs a database that stays")
    return Path(url.database)


def _server_engine(url: URL, mode: str) -> Engine:
    engine = create_engine(url)
    if mode == _UNSYNCED and url.get_backend_name() == "postgresql":
        event.listen(engine, "begin", _commit_without_waiting)
    return engine


def _commit_without_waiting(connection: Connection) -> None:
    connection.exec_driver_sql("SET LOCAL synchronous_commit TO OFF")


def _sqlite_engine(file: Path, mode: str) -> Engine:
    """Return an engine whose transactions are begun by us: the driver would begin a writing one too late."""
    is_writing = mode.startswith("rwc")

    def connect() -> sqlite3.Connection:
        address = f"file:{quote(str(file.absolute()))}?mode={'rwc' if is_writing else mode}"
        connection = sqlite3.connect(
            address, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        if is_writing:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(f"PRAGMA synchronous={'NORMAL' if mode == _UNSYNCED else 'FULL'}")
            connection.execute("PRAGMA secure_delete=ON")
        return connection

    pool = NullPool if "immutable" in mode else QueuePool
    engine = create_engine("sqlite+pysqlite://", creator=connect, poolclass=pool)

    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")

    event.listen(engine, "begin", begin)
    return engine


def _was_outrun(error: DBAPIError) -> bool:
    """True where another process wrote the same row, or made the tables, in the same moment."""
    return isinstance(error, IntegrityError | ProgrammingError) or "SQLITE_BUSY" in _name(error)


def _name(error: DBAPIError | sqlite3.Error) -> str:
    """SQLite's name of an error, empty for those of other databases."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return str(cause.sqlite_errorname) if isinstance(cause, sqlite3.Error) else ""
