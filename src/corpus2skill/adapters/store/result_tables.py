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
    func,
    insert,
    inspect,
    select,
    text,
)

SCHEMA = 3
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
SPENT = Table(
    "spent",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("corpus", String, primary_key=True),
    Column("model", String, primary_key=True),
    Column("purpose", String, primary_key=True),
    Column("calls", BigInteger, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("dollars", Float, nullable=False),
    Column("unpriced", BigInteger, nullable=False),  # calls whose price is unknown
)
"""What was paid, in sums: it stays when results are deleted, which gives no money back."""
OWNER = "local"
"""The tenant of a file that was begun before there were tenants: it is of one alone, as every file is."""


def upgrade(connection: Connection, came: int) -> None:
    """Bring tables of an older schema to the present one."""
    if came < 2:
        _add_owner(connection)
    SPENT.create(connection)
    connection.execute(insert(SPENT).from_select([column.name for column in SPENT.columns], _SUMS))


def _add_owner(connection: Connection) -> None:
    for table in ("results", "batches", "batch_calls"):
        if inspect(connection).has_table(table):
            statement = f"ALTER TABLE {table} ADD COLUMN tenant VARCHAR DEFAULT '{OWNER}' NOT NULL"
            connection.execute(text(statement))


_DAY = func.substr(RESULTS.c.paid_at, 1, 10)
_SUMS = select(
    RESULTS.c.tenant,
    _DAY,
    RESULTS.c.corpus,
    RESULTS.c.model,
    RESULTS.c.purpose,
    func.count(),
    func.sum(RESULTS.c.input_tokens),
    func.sum(RESULTS.c.output_tokens),
    func.coalesce(func.sum(RESULTS.c.dollars), 0.0),
    func.count() - func.count(RESULTS.c.dollars),
).group_by(RESULTS.c.tenant, _DAY, RESULTS.c.corpus, RESULTS.c.model, RESULTS.c.purpose)
