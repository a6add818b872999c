"""The tables of paid results. Plain SQL types only, so that SQLite and PostgreSQL hold the same."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Integer, MetaData, String, Table, Text

SCHEMA = 1
"""Of these tables. A higher one was written by a newer release and is refused."""

METADATA = MetaData()

META = Table(
    "meta", METADATA, Column("key", String, primary_key=True), Column("value", String, nullable=False)
)

RESULTS = Table(
    "results",
    METADATA,
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
