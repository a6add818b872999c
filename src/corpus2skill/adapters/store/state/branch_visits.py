"""How often nodes were come to, in the server's database."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Integer,
    String,
    Table,
    delete,
    insert,
    select,
    update,
)

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.tables import METADATA

VISITS = Table(
    "branch_visits",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("corpus", String, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("path", String, primary_key=True),
    Column("visits", Integer, nullable=False),
)


class SqlBranchVisits:
    """`ports.reviews.BranchVisits` over SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def count(self, tenant: str, corpus: str, version: int, visits: Mapping[str, int]) -> None:
        is_version = _is_version(tenant, corpus, version)

        def work(connection: Connection) -> None:
            for path, more in sorted(visits.items()):
                added = update(VISITS).where(is_version, VISITS.c.path == path)
                if not connection.execute(added.values(visits=VISITS.c.visits + more)).rowcount:
                    row = {
                        "tenant": tenant,
                        "corpus": corpus,
                        "version": version,
                        "path": path,
                        "visits": more,
                    }
                    connection.execute(insert(VISITS).values(row))

        if visits:
            self._database.write(work, outlasts_power_cut=False)

    def visits(self, tenant: str, corpus: str, version: int, paths: Collection[str]) -> Mapping[str, int]:
        wanted = select(VISITS.c.path, VISITS.c.visits).where(
            _is_version(tenant, corpus, version), VISITS.c.path.in_(sorted(paths))
        )

        def work(connection: Connection) -> Mapping[str, int]:
            return {row["path"]: row["visits"] for row in connection.execute(wanted).mappings()}

        return self._database.read(work, {})

    def forget(self, tenant: str, corpus: str | None = None, version: int | None = None) -> None:
        gone = delete(VISITS).where(VISITS.c.tenant == tenant)
        if corpus is not None:
            gone = gone.where(VISITS.c.corpus == corpus)
        if version is not None:
            gone = gone.where(VISITS.c.version == version)
        self._database.write(lambda connection: connection.execute(gone))


def _is_version(tenant: str, corpus: str, version: int) -> ColumnElement[bool]:
    return (VISITS.c.tenant == tenant) & (VISITS.c.corpus == corpus) & (VISITS.c.version == version)
