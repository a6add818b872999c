"""The one database of the server's state."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from corpus2skill.adapters.store.database import Contents, Database
from corpus2skill.adapters.store.state.migrating import upgrade
from corpus2skill.adapters.store.state.tables import META, METADATA, SCHEMA
from corpus2skill.errors import Busy, Damaged, UnusableSettings

_WITH_TABLES = (
    "announcements",
    "api_tokens",
    "audit",
    "branch_visits",
    "corpora",
    "credentials",
    "documents",
    "event_log",
    "exam_questions",
    "exams",
    "hosted",
    "jobs",
    "kept_answers",
    "links",
    "people",
    "retention",
    "reviews",
    "tenant_settings",
    "tenants",
    "web_sessions",
    "webhooks",
    "workers",
)
"""Modules of this folder that add their tables to `METADATA`."""


def state_url(home: Path, database_url: str | None) -> URL:
    """The named database, else the file beside the workspace's other ones."""
    return make_url(database_url) if database_url else URL.create("sqlite", database=str(home / "state.db"))


def engine_url(home: Path, database_url: str | None) -> URL:
    """Where the job engine keeps its own log: the same server, where it has a schema apart, or a file of its own."""
    return make_url(database_url) if database_url else URL.create("sqlite", database=str(home / "jobs.db"))


def postgresql_url(text: str) -> str:
    """`postgresql://...` as SQLAlchemy takes it, with the driver that is installed.

    Raises:
        UnusableSettings: it is no URL of a database in PostgreSQL.
    """
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise UnusableSettings("database_url", scheme="?") from error
    if url.drivername not in ("postgres", "postgresql", "postgresql+psycopg") or not url.database:
        raise UnusableSettings("database_url", scheme=url.drivername)
    return url.set(drivername="postgresql+psycopg").render_as_string(hide_password=False)


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
            upgrade=upgrade,
        ),
    )
