"""The tables of run records. Plain SQL types only, so that SQLite and PostgreSQL hold the same."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Float,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
    select,
    text,
    update,
)

SCHEMA = 5
"""Of these tables. A higher one was written by a newer release and is refused."""

METADATA = MetaData()

META = Table(
    "meta", METADATA, Column("key", String, primary_key=True), Column("value", String, nullable=False)
)

OPEN_RUNS = Table(
    "open_runs",
    METADATA,
    Column("tenant", String, nullable=False),
    Column("run", String, nullable=False),
    Column("corpus", String, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("lease_until", Float, nullable=False),  # seconds since 1970
    Column("opening", Text, nullable=False),  # a RunRecord as it stood at the beginning
    Column("session", String),
    Column("turn", Integer),
    PrimaryKeyConstraint("tenant", "run"),
)
TURNS = Index("open_runs_by_turn", OPEN_RUNS.c.tenant, OPEN_RUNS.c.session, OPEN_RUNS.c.turn, unique=True)
"""Two runs that begin at once never have the same turn."""

OPEN_VISITS = Table(
    "open_visits",
    METADATA,
    Column("tenant", String, nullable=False),
    Column("run", String, nullable=False),
    Column("number", Integer, nullable=False),
    Column("visit", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "run", "number"),
)

CHAINS = Table("chains", METADATA, Column("tenant", String, primary_key=True))
"""A row a tenant, locked while a record is appended: SQLite locks the whole file, PostgreSQL this row."""

HEADER = (
    Column("tenant", String, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("run", String, nullable=False),
    Column("corpus", String, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("session", String, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("channel", String, nullable=False),
    Column("door", String, nullable=False),
    Column("language", String, nullable=False),
    Column("outcome", String, nullable=False),
    Column("model", String, nullable=False),
    Column("prompt_version", String, nullable=False),
    Column("started_at", String, nullable=False),
    Column("ended_at", String, nullable=False),
)
"""The header of a record: what may be known of a run for good. Nothing that was said stands in it."""

RECORDS = Table(
    "records",
    METADATA,
    *HEADER,
    Column("payload", Text),  # the whole RunRecord; NULL once a tombstone has taken its place
    Column("payload_sha256", String(64), nullable=False),
    Column("previous_hash", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
    Column("tombstoned_at", String),
    Column("user_id", String),  # as in the payload, to search by; it goes with it
    Column("usd", Float),  # as in the payload; it stays: deleting what was said gives no money back
    Column("input_tokens", BigInteger),  # so the next; NULL in rows of an older release that were deleted
    Column("output_tokens", BigInteger),
    PrimaryKeyConstraint("tenant", "seq"),
    UniqueConstraint("tenant", "run"),
    Index("records_by_session", "tenant", "session", "turn"),
    Index("records_by_version", "tenant", "corpus", "version"),
)
FEEDBACK = Table(
    "feedback",
    METADATA,
    Column("tenant", String, nullable=False),
    Column("run", String, nullable=False),
    Column("seq", BigInteger, nullable=False),  # of its record
    Column("is_helpful", Integer, nullable=False),
    Column("reasons", String, nullable=False),  # with spaces between
    Column("comment", Text),
    Column("given_at", String, nullable=False),
    Column("given_by", String, nullable=False),
    PrimaryKeyConstraint("tenant", "run"),
    Index("feedback_by_rating", "tenant", "is_helpful", "seq"),
)
USERS = Index("records_by_user", RECORDS.c.tenant, RECORDS.c.user_id)
NEWEST = tuple(
    Index(f"newest_by_{name}", RECORDS.c.tenant, RECORDS.c[column], RECORDS.c.seq)
    for name, column in (("session", "session"), ("user", "user_id"), ("outcome", "outcome"))
)
"""A list has the newest of these first: without an order of its own a database reads the whole chain for few."""
SPENDING = Index("records_by_day", RECORDS.c.tenant, RECORDS.c.started_at, RECORDS.c.usd)
"""A day's spending is summed from it alone, before every round under a limit."""


def upgrade(connection: Connection, came: int) -> None:
    """Bring tables of an older schema to the present one: what is new in them may be empty in old rows."""
    if came < 2:
        _add_columns(connection, (OPEN_RUNS.c.session, OPEN_RUNS.c.turn, RECORDS.c.user_id, RECORDS.c.usd))
        for index in (TURNS, USERS):
            index.create(connection)
    if came < 3:
        SPENDING.create(connection)
    if came < 4:
        FEEDBACK.create(connection)
    _add_columns(connection, (RECORDS.c.input_tokens, RECORDS.c.output_tokens))
    _fill_tokens(connection)


def _add_columns(connection: Connection, columns: Iterable[Column[Any]]) -> None:
    for column in columns:
        kind = column.type.compile(connection.dialect)
        connection.execute(text(f"ALTER TABLE {column.table.name} ADD COLUMN {column.name} {kind}"))


def _fill_tokens(connection: Connection) -> None:
    kept = select(RECORDS.c.tenant, RECORDS.c.seq, RECORDS.c.payload).where(RECORDS.c.payload.is_not(None))
    for tenant, seq, payload in connection.execute(kept).all():
        try:
            usage = json.loads(payload)["usage"]
            tokens = {name: int(usage.get(name, 0)) for name in ("input_tokens", "output_tokens")}
        except (ValueError, TypeError, KeyError, AttributeError):
            continue  # damaged: `records verify` names it
        is_meant = (RECORDS.c.tenant == tenant) & (RECORDS.c.seq == seq)
        connection.execute(update(RECORDS).where(is_meant).values(tokens))
