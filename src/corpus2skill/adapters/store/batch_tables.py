"""The tables of batches under way, beside the paid results. They hold no text of a call."""

from __future__ import annotations

from sqlalchemy import Column, Float, Integer, String, Table

from corpus2skill.adapters.store.result_tables import METADATA

BATCHES = Table(
    "batches",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("tenant", String, nullable=False),
    Column("token", String(64), nullable=False, unique=True),
    Column("corpus", String, nullable=False),
    Column("model", String, nullable=False),
    Column("identity", String, nullable=False),
    Column("noted_at", String, nullable=False),
    Column("batch_id", String),  # NULL: not known whether it was handed in
)

BATCH_CALLS = Table(
    "batch_calls",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("token", String(64), primary_key=True),
    Column("key", String(64), primary_key=True),
    Column("corpus", String, nullable=False),
    Column("purpose", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("prompt_characters", Integer, nullable=False),
    Column("most_dollars", Float),  # NULL: unknown
)

TABLES = [BATCHES, BATCH_CALLS]
"""Made when first needed: a file of results that was begun without them is not another schema."""
