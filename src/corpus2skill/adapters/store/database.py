"""A database of the workspace: opened when first needed, its refusals given their meaning."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    MetaData,
    Table,
    insert,
    inspect,
    make_url,
    select,
    text,
    update,
)
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from corpus2skill.adapters.store import durable
from corpus2skill.adapters.store.engines import (
    READING,
    UNCHANGING,
    UNSYNCED,
    WRITING,
    ServerEngines,
    sqlite_engine,
)
from corpus2skill.adapters.store.refusals import code_of, is_lost, name_of, was_outrun
from corpus2skill.errors import Busy, Corpus2SkillError, Damaged, WorkspaceUnusable

Result = TypeVar("Result")

_TRIES = 6
_TRIES_WHEN_LOST = 2
_SCHEMA_KEY = "schema"
_SERVERS = ServerEngines()
"""Of the process: a tenant's stores are opened for each of its requests, and share their connections."""
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
    name: str | None = None
    """The schema of PostgreSQL that the tables lie in, where several contents share a database."""
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
        """Return what `work` finds, or `empty` where nothing was written yet.

        Raises:
            WorkspaceUnusable: the database cannot be reached, or its file was taken away meanwhile.
        """
        if not self._is_there():
            return empty
        tries_left = _TRIES_WHEN_LOST
        while True:
            tries_left -= 1
            try:
                return self._read(self._engine(READING), work, empty)
            except _Outdated:
                self.write(_nothing)
                return self.read(work, empty)
            except SQLAlchemyError as error:
                if tries_left and is_lost(error):
                    continue
                if not self._is_unchanging(error):
                    raise self._refusal(error) from error
                break
        try:
            return self._read(self._engine(UNCHANGING), work, empty)
        except DBAPIError as error:
            raise self._refusal(error) from error

    def write(self, work: Callable[[Connection], Result], *, outlasts_power_cut: bool = True) -> Result:
        """Run `work` in one transaction. It may be run again, where another process was quicker or the
        connection was lost; never after the commit was asked for, when nobody knows whether it came about.

        What was written outlasts the death of the process. Without `outlasts_power_cut` the disk is not waited
        for, so that the machine's own death may take it; the next write that waits takes this one along.
        """
        if self._file is not None and not self._is_there():
            with durable.usable(self._file):
                durable.make_folder(self._file.parent)
        tries_left = _TRIES
        while True:
            tries_left -= 1
            try:
                return self._write(work, self._engine(WRITING if outlasts_power_cut else UNSYNCED))
            except SQLAlchemyError as error:
                if is_lost(error):
                    tries_left = min(tries_left, _TRIES_WHEN_LOST - 1)
                if not tries_left or not (was_outrun(error) or is_lost(error)):
                    raise self._refusal(error) from error

    def check(self) -> None:
        """Raises: WorkspaceUnusable: the database cannot be reached or read."""
        self.read(lambda connection: connection.execute(text("SELECT 1")), None)

    def pulse(self) -> tuple[int, int] | None:
        """A look without opening anything: another value where anybody has written since, but for writings within
        a few milliseconds of the look. None where only the database itself could tell.
        """
        if self._file is None:
            return None
        try:
            log = self._file.with_name(self._file.name + "-wal").stat()
        except OSError:
            return 0, 0
        return log.st_mtime_ns, log.st_size

    def wipe(self) -> None:
        """Make what was deleted unreadable: in SQLite's file it is zeros already, its log is emptied here.

        Raises:
            Busy: somebody has been reading for too long; what was deleted may still stand in the log.
        """
        if self._file is None or not self._file.exists():
            return
        try:
            with self._engine(WRITING).connect() as connection:
                driver = connection.connection.driver_connection
                assert isinstance(driver, sqlite3.Connection)
                (is_blocked, _, _) = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except (sqlite3.Error, DBAPIError) as error:
            raise self._refusal(error) from error
        if is_blocked:
            raise self._contents.busy(self._label)

    def close(self) -> None:
        """Give back the connections; the database may be used again."""
        if self._file is not None:
            for engine in self._engines.values():
                engine.dispose()
        self._engines.clear()

    def damaged(self, name: str) -> Damaged:
        """The error for a row, of this name, that cannot be read."""
        return self._contents.damaged(f"{self._label} ({name})")

    def _is_there(self) -> bool:
        """Return whether there is a database. One that was there and is gone is a fault: open connections would
        go on with a file that nobody finds any more, and what it held must not be taken for never written.
        """
        if self._file is None:
            return True
        with durable.usable(self._file):
            if self._file.exists():
                return True
        if self._is_checked:
            raise WorkspaceUnusable("database_file_gone", path=self._label)
        return False

    @property
    def _label(self) -> str:
        return str(self._file) if self._file else self._url.render_as_string(hide_password=True)

    def _read(self, engine: Engine, work: Callable[[Connection], Result], empty: Result) -> Result:
        with engine.begin() as connection:
            if not self._is_checked and not self._check(connection):
                return empty
            return work(connection)

    def _write(self, work: Callable[[Connection], Result], engine: Engine) -> Result:
        with engine.connect() as connection:
            with connection.begin() as transaction:
                if not self._is_checked:
                    self._make_ready(connection)
                result = work(connection)
                try:
                    transaction.commit()
                except DBAPIError as error:
                    if is_lost(error):
                        raise self._refusal(error) from error
                    raise
            self._is_checked = True
            return result

    def _make_ready(self, connection: Connection) -> None:
        """Make the tables, or bring those of an older release up to date."""
        contents = self._contents
        row = {"key": _SCHEMA_KEY, "value": str(contents.schema)}
        if self._file is None and contents.name is not None:
            connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {contents.name}"))
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
        if mode not in self._engines:
            self._engines[mode] = (
                _SERVERS.of(self._url, mode, self._contents.name)
                if self._file is None
                else sqlite_engine(self._file, mode)
            )
        return self._engines[mode]

    def _is_unchanging(self, error: SQLAlchemyError) -> bool:
        """True where a database on a read-only disk may be read as a file that nobody can be writing."""
        if self._file is None or not name_of(error).startswith(_NO_SHARED_MEMORY):
            return False
        log = self._file.with_name(self._file.name + "-wal")
        return not log.exists() or log.stat().st_size == 0

    def _refusal(self, error: SQLAlchemyError | sqlite3.Error) -> Corpus2SkillError:
        match code_of(error):
            case "damaged":
                return self._contents.damaged(self._label)
            case "busy":
                return self._contents.busy(self._label)
            case code:
                reason = error.orig if isinstance(error, DBAPIError) else error
                return WorkspaceUnusable(code, path=self._label, reason=" ".join(str(reason).split()))


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
