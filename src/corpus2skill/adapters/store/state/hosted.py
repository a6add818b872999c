"""Whose conversations and runs are, in the server's database."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Float,
    Index,
    Integer,
    RowMapping,
    Select,
    String,
    Table,
    Update,
    delete,
    insert,
    or_,
    select,
    update,
)

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.domain.hosted import Asker, HostedRun, HostedSession
from corpus2skill.errors import ThingNotFound

SESSIONS = Table(
    "sessions",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("session", String, primary_key=True),
    Column("corpus", String, nullable=False),
    Column("channel", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("end_user", String),
    Column("created_at", String, nullable=False),
    Column("asked_at", String),
    Index("sessions_by_asker", "tenant", "actor", "session"),
    Index("sessions_by_end_user", "tenant", "end_user"),
)
RUNS = Table(
    "runs",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("run", String, primary_key=True),
    Column("session", String, nullable=False),
    Column("corpus", String, nullable=False),
    Column("channel", String, nullable=False),
    Column("door", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("end_user", String),
    Column("asked_at", String, nullable=False),
    Column("owner", String, nullable=False),
    Column("lease_until", Float, nullable=False),
    Column("finished_at", String),
    Column("is_pending", Integer),  # 1 while it runs, 0 while only its events are still kept, then NULL
    Index("runs_by_session", "tenant", "session", "run"),
    Index("runs_pending", "is_pending", "finished_at"),
)


class SqlHostedStore:
    """`ports.hosted.HostedStore` over SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_session(self, session: HostedSession) -> None:
        row = asdict(session)
        self._database.write(lambda connection: connection.execute(insert(SESSIONS).values(row)))

    def session(self, tenant: str, session: str) -> HostedSession:
        found = self._sessions(select(SESSIONS).where(_is_session(tenant, session)))
        if not found:
            raise ThingNotFound("session", session)
        return found[0]

    def sessions(self, asker: Asker, *, before: str | None = None, limit: int) -> tuple[HostedSession, ...]:
        wanted = select(SESSIONS).where(SESSIONS.c.tenant == asker.tenant, SESSIONS.c.actor == asker.actor)
        if asker.end_user is not None:
            wanted = wanted.where(SESSIONS.c.end_user == asker.end_user)
        if before is not None:
            wanted = wanted.where(SESSIONS.c.session < before)
        return self._sessions(wanted.order_by(SESSIONS.c.session.desc()).limit(limit))

    def sessions_of(self, tenant: str, end_user: str) -> tuple[str, ...]:
        is_theirs = or_(
            SESSIONS.c.end_user == end_user, (SESSIONS.c.actor == end_user) & SESSIONS.c.end_user.is_(None)
        )
        wanted = select(SESSIONS.c.session).where(SESSIONS.c.tenant == tenant, is_theirs)
        return self._database.read(lambda connection: tuple(connection.scalars(wanted)), ())

    def drop_sessions(self, tenant: str, sessions: Collection[str]) -> None:
        def work(connection: Connection) -> None:
            for table in (RUNS, SESSIONS):
                which = (table.c.tenant == tenant) & table.c.session.in_(sessions)
                connection.execute(delete(table).where(which))

        self._database.write(work)

    def add_run(self, run: HostedRun) -> None:
        row = asdict(run) | {"is_pending": 1}
        is_asked = update(SESSIONS).where(_is_session(run.tenant, run.session)).values(asked_at=run.asked_at)

        def work(connection: Connection) -> None:
            connection.execute(insert(RUNS).values(row))
            connection.execute(is_asked)

        self._database.write(work, outlasts_power_cut=False)

    def run(self, tenant: str, run: str) -> HostedRun:
        found = self._runs(select(RUNS).where(_is_run(tenant, run)))
        if not found:
            raise ThingNotFound("run", run)
        return found[0]

    def runs(
        self, tenant: str, session: str, *, before: str | None = None, limit: int
    ) -> tuple[HostedRun, ...]:
        wanted = select(RUNS).where(RUNS.c.tenant == tenant, RUNS.c.session == session)
        if before is not None:
            wanted = wanted.where(RUNS.c.run < before)
        return self._runs(wanted.order_by(RUNS.c.run.desc()).limit(limit))

    def renew(self, owner: str, lease_until: float) -> None:
        renewed = (
            update(RUNS).where(RUNS.c.is_pending == 1, RUNS.c.owner == owner).values(lease_until=lease_until)
        )
        self._write(renewed)

    def unfinished(self) -> tuple[HostedRun, ...]:
        return self._runs(select(RUNS).where(RUNS.c.is_pending == 1))

    def claim(self, run: HostedRun, owner: str, lease_until: float) -> bool:
        is_as_seen = _is_run(run.tenant, run.run) & (RUNS.c.owner == run.owner) & (RUNS.c.is_pending == 1)
        claimed = update(RUNS).where(is_as_seen).values(owner=owner, lease_until=lease_until)
        return self._database.write(lambda connection: connection.execute(claimed).rowcount == 1)

    def finish(self, tenant: str, run: str, at: str) -> None:
        finished = update(RUNS).where(_is_run(tenant, run)).values(finished_at=at, is_pending=0)
        self._write(finished)

    def drop_run(self, tenant: str, run: str) -> None:
        dropped = delete(RUNS).where(_is_run(tenant, run))
        self._database.write(lambda connection: connection.execute(dropped))

    def finished_before(self, at: str, limit: int) -> tuple[HostedRun, ...]:
        wanted = select(RUNS).where(RUNS.c.is_pending == 0, RUNS.c.finished_at < at)
        return self._runs(wanted.order_by(RUNS.c.finished_at).limit(limit))

    def events_forgotten(self, tenant: str, run: str) -> None:
        self._write(update(RUNS).where(_is_run(tenant, run)).values(is_pending=None))

    def _write(self, statement: Update) -> None:
        self._database.write(lambda connection: connection.execute(statement), outlasts_power_cut=False)

    def _sessions(self, wanted: Select[Any]) -> tuple[HostedSession, ...]:
        return tuple(map(_session, self._rows(wanted)))

    def _runs(self, wanted: Select[Any]) -> tuple[HostedRun, ...]:
        return tuple(map(_run, self._rows(wanted)))

    def _rows(self, wanted: Select[Any]) -> Sequence[RowMapping]:
        return self._database.read(lambda connection: connection.execute(wanted).mappings().all(), ())


def _session(row: RowMapping) -> HostedSession:
    return HostedSession(
        session=row["session"],
        tenant=row["tenant"],
        corpus=row["corpus"],
        channel=row["channel"],
        actor=row["actor"],
        end_user=row["end_user"],
        created_at=row["created_at"],
        asked_at=row["asked_at"],
    )


def _run(row: RowMapping) -> HostedRun:
    return HostedRun(
        run=row["run"],
        tenant=row["tenant"],
        session=row["session"],
        corpus=row["corpus"],
        channel=row["channel"],
        door=row["door"],
        actor=row["actor"],
        end_user=row["end_user"],
        asked_at=row["asked_at"],
        owner=row["owner"],
        lease_until=row["lease_until"],
        finished_at=row["finished_at"],
    )


def _is_session(tenant: str, session: str) -> ColumnElement[bool]:
    return (SESSIONS.c.tenant == tenant) & (SESSIONS.c.session == session)


def _is_run(tenant: str, run: str) -> ColumnElement[bool]:
    return (RUNS.c.tenant == tenant) & (RUNS.c.run == run)
