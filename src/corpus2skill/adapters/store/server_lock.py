"""The lock that lets one server at a time work on a home and on a database."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy import NullPool, create_engine, make_url, text
from sqlalchemy.exc import SQLAlchemyError

from corpus2skill.adapters.store import durable
from corpus2skill.adapters.store.refusals import code_of
from corpus2skill.errors import Busy, WorkspaceUnusable

_FILE = "serve.lock"
"""Its lines are the process and the address of whoever holds it, or held it last."""
_TURN = 0x63327320
"""Number of the advisory lock in PostgreSQL."""


@contextmanager
def one_server(home: Path, database_url: str | None, address: str) -> Generator[None]:
    """Hold the home and the database. The system, and PostgreSQL, free them when their holder dies.

    `address`: where the server will be found.

    Raises:
        Busy: another server holds one of them.
        WorkspaceUnusable: the home cannot be written, or the database cannot be reached.
    """
    with ExitStack() as held:
        held.enter_context(_home(home, address))
        if database_url is not None:
            held.enter_context(_database(database_url))
        yield


def address_served(home: Path) -> str | None:
    """Return where the server that holds the home is found; None where none does."""
    file = home / _FILE
    if not file.exists():
        return None
    try:
        with FileLock(file, timeout=0, thread_local=False):
            return None
    except Timeout:
        return _lines(file)[1] or None
    except OSError:  # the home is another user's
        return None


@contextmanager
def _home(home: Path, address: str) -> Generator[None]:
    file = home / _FILE
    lock = FileLock(file, timeout=0, thread_local=False)
    with durable.usable(file):
        durable.make_folder(home)
        try:
            lock.acquire()
        except Timeout as error:
            raise Busy("serve_running", home=str(home), pid=_holder(file)) from error
    try:
        with durable.usable(file):
            file.write_text(f"{os.getpid()}\n{address}\n", encoding="utf-8")
        yield
    finally:
        lock.release()


@contextmanager
def _database(database_url: str) -> Generator[None]:
    """By a connection of its own: the lock is the session's."""
    engine = create_engine(
        database_url, poolclass=NullPool, isolation_level="AUTOCOMMIT", connect_args={"connect_timeout": 5}
    )
    shown = make_url(database_url).render_as_string(hide_password=True)
    try:
        connection = engine.connect()
        is_ours = connection.scalar(text("SELECT pg_try_advisory_lock(:turn)"), {"turn": _TURN})
    except SQLAlchemyError as error:
        reason = " ".join(str(error.__cause__ or error).split())
        raise WorkspaceUnusable(code_of(error), path=shown, reason=reason) from error
    try:
        if not is_ours:
            raise Busy("serve_database", path=shown)
        yield
    finally:
        connection.invalidate()  # closed, not returned: with it goes the lock
        connection.close()
        engine.dispose()


def _holder(file: Path) -> str:
    return _lines(file)[0] or "?"


def _lines(file: Path) -> tuple[str, str]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        lines = []
    process, address = [*lines, "", ""][:2]
    return process, address
