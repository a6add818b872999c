"""The database of run records: opened when first needed, its refusals given their meaning."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event, insert, inspect, make_url, select
from sqlalchemy.exc import DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.pool import NullPool, QueuePool

from corpus2skill.adapters.store import durable
from corpus2skill.adapters.store.record_tables import META, METADATA, SCHEMA
from corpus2skill.errors import Busy, Corpus2SkillError, Damaged, WorkspaceUnusable

Result = TypeVar("Result")

_TRIES = 6
_BUSY_SECONDS = 10.0
_SCHEMA_KEY = "schema"
_NO_SHARED_MEMORY = ("SQLITE_CANTOPEN", "SQLITE_READONLY")
"""How SQLite says that it may not make the files which a WAL database needs beside it."""


class RecordDatabase:
    """One database by its URL. Reading makes nothing; writing makes file and tables."""

    def __init__(self, url: str | URL) -> None:
        self._url = make_url(url)
        self._file = _sqlite_file(self._url)
        self._engines: dict[str, Engine] = {}
        self._is_checked = False

    def read(self, work: Callable[[Connection], Result], empty: Result) -> Result:
        """Return what `work` finds, or `empty` where there are no records yet."""
        if self._file is not None:
            with durable.usable(self._file):
                if not self._file.exists():
                    return empty
        try:
            return self._read(self._engine("ro"), work, empty)
        except DBAPIError as error:
            if not self._is_unchanging(error):
                raise self._refusal(error) from error
        try:
            return self._read(self._engine("ro&immutable=1"), work, empty)
        except DBAPIError as error:
            raise self._refusal(error) from error

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """Run `work` in one transaction. It may be run again, where another process was quicker."""
        if self._file is not None:
            with durable.usable(self._file):
                durable.make_folder(self._file.parent)
        tries_left = _TRIES
        while True:
            tries_left -= 1
            try:
                return self._write(work)
            except DBAPIError as error:
                if not tries_left or not _was_outrun(error):
                    raise self._refusal(error) from error

    def close(self) -> None:
        for engine in self._engines.values():
            engine.dispose()
        self._engines.clear()

    def damaged(self, name: str) -> Damaged:
        """The error for a row, of this name, that cannot be read."""
        return Damaged("records_damaged", file=f"{self._label} ({name})")

    @property
    def _label(self) -> str:
        return str(self._file) if self._file else str(self._url.database)

    def _read(self, engine: Engine, work: Callable[[Connection], Result], empty: Result) -> Result:
        with engine.begin() as connection:
            if not self._is_checked and not self._check(connection):
                return empty
            return work(connection)

    def _write(self, work: Callable[[Connection], Result]) -> Result:
        with self._engine("rwc").begin() as connection:
            if not self._is_checked and not self._check(connection):
                METADATA.create_all(connection)
                connection.execute(insert(META).values(key=_SCHEMA_KEY, value=str(SCHEMA)))
            return work(connection)

    def _check(self, connection: Connection) -> bool:
        """Return whether the tables are there.

        Raises:
            WorkspaceUnusable: a newer release made them.
        """
        if not inspect(connection).has_table(META.name):
            return False
        came = connection.scalar(select(META.c.value).where(META.c.key == _SCHEMA_KEY))
        if came is None or not str(came).isdecimal():
            raise self.damaged(META.name)
        if int(came) > SCHEMA:
            raise WorkspaceUnusable("workspace_newer", file=self._label, wanted=SCHEMA, came=int(came))
        self._is_checked = True
        return True

    def _engine(self, mode: str) -> Engine:
        if self._file is None:
            mode = "server"
        if mode not in self._engines:
            self._engines[mode] = (
                create_engine(self._url) if self._file is None else _sqlite_engine(self._file, mode)
            )
        return self._engines[mode]

    def _is_unchanging(self, error: DBAPIError) -> bool:
        """True where a database on a read-only disk may be read as a file that nobody can be writing."""
        if self._file is None or not _name(error).startswith(_NO_SHARED_MEMORY):
            return False
        log = self._file.with_name(self._file.name + "-wal")
        return not log.exists() or log.stat().st_size == 0

    def _refusal(self, error: DBAPIError) -> Corpus2SkillError:
        name, path, reason = _name(error), self._label, str(error.orig)
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_CONSTRAINT")):
            return Damaged("records_damaged", file=path)
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return Busy("records_busy", path=path)
        codes = {"SQLITE_READONLY": "read_only", "SQLITE_FULL": "disk_full", "SQLITE_CANTOPEN": "no_rights"}
        code = next((code for start, code in codes.items() if name.startswith(start)), "workspace_io")
        return WorkspaceUnusable(code, path=path, reason=reason)


def _sqlite_file(url: URL) -> Path | None:
    if url.get_backend_name() != "sqlite":
        return None
    if not url.database or url.database == ":memory:":
        raise ValueError("records need a database that stays")
    return Path(url.database)


def _sqlite_engine(file: Path, mode: str) -> Engine:
    """Return an engine whose transactions are begun by us: the driver would begin a writing one too late."""
    is_writing = mode == "rwc"

    def connect() -> sqlite3.Connection:
        address = f"file:{quote(str(file.absolute()))}?mode={mode}"
        connection = sqlite3.connect(
            address, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        if is_writing:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
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


def _name(error: DBAPIError) -> str:
    """SQLite's name of an error, empty for those of other databases."""
    if isinstance(error.orig, sqlite3.Error):
        return str(error.orig.sqlite_errorname)
    return ""
