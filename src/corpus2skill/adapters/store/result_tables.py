"""The tables of paid results. Plain SQL types only, so that SQLite and PostgreSQL hold the same."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    inspect,
    text,
)

SCHEMA = 2
"""Of these tables. A higher one was written by a newer release and is refused."""

METADATA = MetaData()

META = Table(
    "meta", METADATA, Column("key", String, primary_key=True), Column("value", String, nullable=False)
)

RESULTS = Table(
    "results",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("key", String(64), primary_key=True),
    Column("corpus", String, nullable=False),
    Column("model", String, nullable=False),
    Column("purpose", String, nullable=False),
    Column("subject", String, nullable=False),  # "" where the call was about many chunks
    Column("prompt_characters", Integer, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),  # as in `reply`, here to be summed up
    Column("output_tokens", BigInteger, nullable=False),
    Column("dollars", Float),  # NULL: unknown
    Column("paid_at", String, nullable=False),
    Column("reply", Text, nullable=False),  # the whole TextReply
)
"""No second index: each would cost every paid call, and only rare work (estimating, deleting) reads widely."""
OWNER = "local"
"""The tenant of a file that was begun before there were tenants: it is of one alone, as every file is."""


def upgrade(connection: Connection, came: int) -> None:
    """Bring tables of an older schema to the present one."""
    assert came == 1, came
    for table in ("results", "batches", "batch_calls"):
        if inspect(connection).has_table(table):
            statement = f"ALTER TABLE {table} ADD COLUMN tenant VARCHAR DEFAULT '{OWNER}' NOT NULL"
            connection.execute(text(statement))
