"""Retention in the server's database: what is set, what is held, and what is past its time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    RowMapping,
    String,
    Table,
    Text,
    delete,
    func,
    insert,
    not_,
    select,
    update,
)

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.encoding import from_plain
from corpus2skill.adapters.store.state.audit import AUDIT_EVENTS, remove_events
from corpus2skill.adapters.store.state.event_log import EVENTS
from corpus2skill.adapters.store.state.hosted import SESSIONS
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.adapters.store.state.webhooks import DELIVERIES
from corpus2skill.domain.event_log import run_topic
from corpus2skill.domain.retention import LegalHold, RetentionPolicy, RetentionState
from corpus2skill.errors import ThingNotFound
from corpus2skill.ports.retention import PastKind

RETENTION = Table(
    "retention",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("policy", Text, nullable=False),  # JSON
    Column("changed_at", String, nullable=False),
    Column("ran_at", String),
    Column("counts", Text),  # JSON
)
HOLDS = Table(
    "legal_holds",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("hold", String, primary_key=True),
    Column("kind", String, nullable=False),
    Column("name", String, nullable=False),
    Column("reason", Text, nullable=False),
    Column("placed_at", String, nullable=False),
    Column("placed_by", String, nullable=False),
)


class SqlRetentionStore:
    """`ports.retention.RetentionStore` over SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def state(self, tenant: str) -> RetentionState:
        return self._database.read(lambda connection: _state(connection, tenant), None) or RetentionState()

    def set_policy(self, tenant: str, policy: RetentionPolicy, at: str) -> RetentionState:
        values = {"policy": json.dumps(asdict(policy)), "changed_at": at}

        def work(connection: Connection) -> RetentionState:
            changed = update(RETENTION).where(RETENTION.c.tenant == tenant).values(values)
            if connection.execute(changed).rowcount == 0:
                connection.execute(insert(RETENTION).values(tenant=tenant, **values))
            found = _state(connection, tenant)
            assert found is not None
            return found

        return self._database.write(work)

    def note_run(self, tenant: str, at: str, counts: Mapping[str, int]) -> None:
        values = {"ran_at": at, "counts": json.dumps(dict(counts))}
        noted = update(RETENTION).where(RETENTION.c.tenant == tenant).values(values)
        self._database.write(lambda connection: connection.execute(noted))

    def tenants(self) -> tuple[str, ...]:
        wanted = select(RETENTION.c.tenant).order_by(RETENTION.c.tenant)
        return self._database.read(lambda connection: tuple(connection.scalars(wanted)), ())

    def holds(self, tenant: str) -> tuple[LegalHold, ...]:
        wanted = select(HOLDS).where(HOLDS.c.tenant == tenant).order_by(HOLDS.c.hold)

        def work(connection: Connection) -> tuple[LegalHold, ...]:
            return tuple(map(_hold, connection.execute(wanted).mappings()))

        return self._database.read(work, ())

    def place(self, hold: LegalHold) -> None:
        self._database.write(lambda connection: connection.execute(insert(HOLDS).values(asdict(hold))))

    def lift(self, tenant: str, hold: str) -> LegalHold:
        is_meant = (HOLDS.c.tenant == tenant) & (HOLDS.c.hold == hold)

        def work(connection: Connection) -> LegalHold:
            found = connection.execute(select(HOLDS).where(is_meant)).mappings().first()
            if found is None:
                raise ThingNotFound("legal_hold", hold)
            connection.execute(delete(HOLDS).where(is_meant))
            return _hold(found)

        return self._database.write(work)

    def count_past(self, tenant: str, kind: PastKind, before: str) -> int:
        table, is_past = _past(tenant, kind, before)
        wanted = select(func.count()).select_from(table).where(is_past)
        return self._database.read(lambda connection: connection.scalar(wanted) or 0, 0)

    def forget_past(self, tenant: str, kind: PastKind, before: str) -> int:
        table, is_past = _past(tenant, kind, before)
        removed = delete(table).where(is_past)
        if kind == "audit":
            return self._database.write(lambda connection: remove_events(connection, removed))
        return self._database.write(lambda connection: connection.execute(removed).rowcount)

    def wipe(self) -> None:
        self._database.wipe()

    def idle_sessions(self, tenant: str, before: str) -> tuple[tuple[str, str, str | None], ...]:
        last = func.coalesce(SESSIONS.c.asked_at, SESSIONS.c.created_at)
        columns = (SESSIONS.c.session, SESSIONS.c.corpus, SESSIONS.c.end_user)
        wanted = select(*columns).where(SESSIONS.c.tenant == tenant, last < before)

        def work(connection: Connection) -> tuple[tuple[str, str, str | None], ...]:
            return tuple((row.session, row.corpus, row.end_user) for row in connection.execute(wanted))

        return self._database.read(work, ())


def _past(tenant: str, kind: PastKind, before: str) -> tuple[Table, ColumnElement[bool]]:
    match kind:
        case "audit":
            return AUDIT_EVENTS, (AUDIT_EVENTS.c.tenant == tenant) & (AUDIT_EVENTS.c.at < before)
        case "deliveries":
            is_ended = DELIVERIES.c.state != "waiting"
            is_past = (DELIVERIES.c.tenant == tenant) & (DELIVERIES.c.created_at < before) & is_ended
            return DELIVERIES, is_past
        case "events":
            return EVENTS, _is_past_event(tenant, before)


def _is_past_event(tenant: str, before: str) -> ColumnElement[bool]:
    others = EVENTS.alias("others")
    last = (
        select(func.max(others.c.number))
        .where(others.c.tenant == EVENTS.c.tenant, others.c.topic == EVENTS.c.topic)
        .scalar_subquery()
    )
    is_of_run = EVENTS.c.topic.startswith(run_topic(""), autoescape=True)
    return (EVENTS.c.tenant == tenant) & (EVENTS.c.at < before) & not_(is_of_run) & (EVENTS.c.number < last)


def _state(connection: Connection, tenant: str) -> RetentionState | None:
    row = connection.execute(select(RETENTION).where(RETENTION.c.tenant == tenant)).mappings().first()
    if row is None:
        return None
    return RetentionState(
        policy=from_plain(json.loads(row["policy"]), RetentionPolicy),
        changed_at=row["changed_at"],
        ran_at=row["ran_at"],
        counts=json.loads(row["counts"] or "{}"),
    )


def _hold(row: RowMapping) -> LegalHold:
    return LegalHold(
        hold=row["hold"],
        tenant=row["tenant"],
        kind=row["kind"],
        name=row["name"],
        reason=row["reason"],
        placed_at=row["placed_at"],
        placed_by=row["placed_by"],
    )
