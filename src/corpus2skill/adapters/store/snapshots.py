"""Databases of SQLite at one moment, while others read and write them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from corpus2skill.errors import Busy, Corpus2SkillError, Damaged, WorkspaceUnusable

Result = TypeVar("Result")

_PATIENCE_SECONDS = 30.0


def snapshots(
    databases: Sequence[Path], becomes: Callable[[Path], Path], meanwhile: Callable[[], Result]
) -> Result:
    """Copy databases as they all are at one moment; return what `meanwhile` found at that moment.

    Nobody can write for as long as `meanwhile` takes; while the copies are made everybody can again.

    Raises:
        Busy: somebody has been writing for too long.
        Damaged: one of them is no database.
        WorkspaceUnusable: the disk refused.
    """
    with ExitStack() as opened:
        with ExitStack() as pens:
            for database in databases:
                pens.enter_context(_pen(database))
            readers = [opened.enter_context(_reader(database)) for database in databases]
            found = meanwhile()
        for database, reader in zip(databases, readers, strict=True):
            with _meaning(database), closing(sqlite3.connect(becomes(database))) as copy:
                reader.backup(copy)
    return found


def check_database(file: Path) -> None:
    """Raises: Damaged: SQLite finds a fault in it."""
    address = f"file:{quote(str(file.absolute()))}?mode=ro&immutable=1"
    with _meaning(file), closing(sqlite3.connect(address, uri=True)) as connection:
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise Damaged("restore_database", file=file.name)


@contextmanager
def _pen(database: Path) -> Generator[None]:
    """Hold the only right to write, without writing."""
    with _meaning(database), closing(_connection(database, "rw")) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            connection.execute("ROLLBACK")


@contextmanager
def _reader(database: Path) -> Generator[sqlite3.Connection]:
    """A connection that goes on seeing what there is now."""
    with _meaning(database), closing(_connection(database, "ro")) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        yield connection


def _connection(database: Path, mode: str) -> sqlite3.Connection:
    address = f"file:{quote(str(database.absolute()))}?mode={mode}"
    return sqlite3.connect(address, uri=True, timeout=_PATIENCE_SECONDS, isolation_level=None)


@contextmanager
def _meaning(database: Path) -> Generator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise _refusal(database, error) from error


def _refusal(database: Path, error: sqlite3.Error) -> Corpus2SkillError:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return Busy("backup_busy", path=str(database))
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
        return Damaged("restore_database", file=database.name)
    return WorkspaceUnusable("workspace_io", path=str(database), reason=str(error))
