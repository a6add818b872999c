"""The tables of the server's state. Plain SQL types only, so that SQLite and PostgreSQL hold the same.

Every table but `meta` has its tenant in each row. Times are RFC 3339 in UTC with milliseconds, which sort as
text. What is read as a whole and never searched is JSON in a `Text` column.
"""

from __future__ import annotations

from sqlalchemy import Column, MetaData, String, Table

SCHEMA = 1
"""Of these tables. A higher one was written by a newer release and is refused."""

METADATA = MetaData()

META = Table(
    "state_meta", METADATA, Column("key", String, primary_key=True), Column("value", String, nullable=False)
)
