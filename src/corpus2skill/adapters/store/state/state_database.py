"""The one database of the server's state."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from sqlalchemy import URL, make_url

from corpus2skill.adapters.store.database import Contents, Database
from corpus2skill.adapters.store.state.tables import META, METADATA, SCHEMA
from corpus2skill.errors import Busy, Damaged

_WITH_TABLES = (
    "announcements",
    "api_tokens",
    "audit",
    "corpora",
    "documents",
    "event_log",
)
"""Modules of this folder that add their tables to `METADATA`."""


def state_url(home: Path, database_url: str | None) -> URL:
    """The named database, else the file beside the workspace's other ones."""
    return make_url(database_url) if database_url else URL.create("sqlite", database=str(home / "state.db"))


def open_state(url: URL) -> Database:
    """Return the database with all tables known, whichever adapter is used first."""
    for name in _WITH_TABLES:
        import_module(f"corpus2skill.adapters.store.state.{name}")
    return Database(
        url,
        Contents(
            metadata=METADATA,
            meta=META,
            schema=SCHEMA,
            damaged=lambda file: Damaged("state_damaged", file=file),
            busy=lambda path: Busy("state_busy", path=path),
        ),
    )
