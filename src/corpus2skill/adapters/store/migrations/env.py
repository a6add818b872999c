"""Alembic runs this: the connection and the tables come from the one who calls it."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection, MetaData


def _run() -> None:
    connection, metadata = context.config.attributes["connection"], context.config.attributes["metadata"]
    assert isinstance(connection, Connection)
    assert isinstance(metadata, MetaData)
    # SQLite changes a table by making it anew ("batch"); the transaction is the caller's own.
    context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
    context.run_migrations()


_run()
