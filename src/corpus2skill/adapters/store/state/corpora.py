"""Corpora in the server's database."""

from __future__ import annotations

import json

from sqlalchemy import Column, Connection, RowMapping, String, Table, Text, delete, insert, select, update

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.encoding import canonical, from_plain, to_plain
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.domain.upload import CorpusEntry, CorpusSettings
from corpus2skill.errors import Conflict

CORPORA = Table(
    "corpora",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("corpus", String, primary_key=True),
    Column("created_at", String, nullable=False),
    Column("created_by", String, nullable=False),
    Column("settings", Text, nullable=False),  # JSON
)


class SqlCorpusStore:
    """`ports.documents.CorpusStore` over SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def entry(self, tenant: str, corpus: str) -> CorpusEntry | None:
        wanted = select(CORPORA).where(CORPORA.c.tenant == tenant, CORPORA.c.corpus == corpus)

        def work(connection: Connection) -> CorpusEntry | None:
            found = connection.execute(wanted).mappings().first()
            return None if found is None else _entry(found)

        return self._database.read(work, None)

    def entries(self, tenant: str) -> tuple[CorpusEntry, ...]:
        wanted = select(CORPORA).where(CORPORA.c.tenant == tenant).order_by(CORPORA.c.corpus)

        def work(connection: Connection) -> tuple[CorpusEntry, ...]:
            return tuple(map(_entry, connection.execute(wanted).mappings()))

        return self._database.read(work, ())

    def add(self, entry: CorpusEntry) -> None:
        def work(connection: Connection) -> None:
            if _has(connection, entry):
                raise Conflict("corpus_exists", corpus=entry.corpus)
            connection.execute(insert(CORPORA).values(_row(entry)))

        self._database.write(work)

    def change(self, entry: CorpusEntry) -> None:
        is_meant = (CORPORA.c.tenant == entry.tenant) & (CORPORA.c.corpus == entry.corpus)

        def work(connection: Connection) -> None:
            if _has(connection, entry):
                settings = _row(entry)["settings"]
                connection.execute(update(CORPORA).where(is_meant).values(settings=settings))
            else:
                connection.execute(insert(CORPORA).values(_row(entry)))

        self._database.write(work)

    def remove(self, tenant: str, corpus: str) -> None:
        is_meant = (CORPORA.c.tenant == tenant) & (CORPORA.c.corpus == corpus)
        self._database.write(lambda connection: connection.execute(delete(CORPORA).where(is_meant)))


def _has(connection: Connection, entry: CorpusEntry) -> bool:
    is_meant = (CORPORA.c.tenant == entry.tenant) & (CORPORA.c.corpus == entry.corpus)
    return connection.execute(select(CORPORA.c.corpus).where(is_meant)).first() is not None


def _row(entry: CorpusEntry) -> dict[str, str]:
    return {
        "tenant": entry.tenant,
        "corpus": entry.corpus,
        "created_at": entry.created_at,
        "created_by": entry.created_by,
        "settings": canonical(to_plain(entry.settings)).decode("ascii"),
    }


def _entry(row: RowMapping) -> CorpusEntry:
    return CorpusEntry(
        tenant=row["tenant"],
        corpus=row["corpus"],
        created_at=row["created_at"],
        created_by=row["created_by"],
        settings=from_plain(json.loads(row["settings"]), CorpusSettings),
    )
