"""What the refusals of databases mean."""

from __future__ import annotations

import sqlite3

from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, ProgrammingError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionFree

_OF_SQLITE = (
    (("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_CONSTRAINT"), "damaged"),
    (("SQLITE_BUSY", "SQLITE_LOCKED"), "busy"),
    (("SQLITE_READONLY",), "read_only"),
    (("SQLITE_FULL",), "disk_full"),
    (("SQLITE_CANTOPEN",), "no_rights"),
)
_OF_POSTGRESQL = (
    (("08", "57P0", "53300"), "database_gone"),
    (("28", "3D000", "42501", "3F000"), "database_refused"),
    (("55P03", "40001", "40P01"), "busy"),
    (("53100",), "disk_full"),
    (("25006",), "read_only"),
    (("22", "23", "42", "XX"), "damaged"),
)
"""By the beginning of the SQLSTATE (PostgreSQL's documentation, appendix A); the first that fits."""


def code_of(error: SQLAlchemyError | sqlite3.Error) -> str:
    """`damaged`, `busy`, or the code of a `WorkspaceUnusable`."""
    if isinstance(error, NoConnectionFree):
        return "busy"
    name, meanings = name_of(error), _OF_SQLITE
    if not name:
        if is_lost(error):
            return "database_gone"
        name, meanings = _sqlstate(error), _OF_POSTGRESQL
    return next((code for beginnings, code in meanings if name.startswith(beginnings)), "workspace_io")


def is_lost(error: SQLAlchemyError | sqlite3.Error) -> bool:
    """True where a database server cannot be reached, or could be and went away."""
    if not isinstance(error, DBAPIError) or name_of(error):
        return False
    if error.connection_invalidated:
        return True
    state = _sqlstate(error)
    return isinstance(error, OperationalError) and (not state or state.startswith(("08", "57P0")))


def was_outrun(error: SQLAlchemyError) -> bool:
    """True where another process wrote the same row, or made the tables, in the same moment."""
    if isinstance(error, IntegrityError | ProgrammingError) or "SQLITE_BUSY" in name_of(error):
        return True
    return _sqlstate(error) in ("40001", "40P01")


def name_of(error: SQLAlchemyError | sqlite3.Error) -> str:
    """SQLite's name of an error, empty for those of other databases."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return str(cause.sqlite_errorname) if isinstance(cause, sqlite3.Error) else ""


def _sqlstate(error: SQLAlchemyError | sqlite3.Error) -> str:
    """PostgreSQL's code of an error, empty where it gave none."""
    cause = error.orig if isinstance(error, DBAPIError) else None
    return str(getattr(cause, "sqlstate", None) or "")  # the driver is not imported: it may not be installed
