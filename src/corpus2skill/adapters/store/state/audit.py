"""The operators' log in the server's database."""

from __future__ import annotations

import json

from sqlalchemy import Column, Connection, RowMapping, String, Table, Text, insert, select

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.domain.audit import AuditEvent
from corpus2skill.domain.moments import moment_of
from corpus2skill.ports.clock import Clock, Ids

AUDIT_EVENTS = Table(
    "audit_events",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("event", String, primary_key=True),
    Column("at", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("action", String, nullable=False),
    Column("object", String, nullable=False),
    Column("particulars", Text, nullable=False),  # JSON
)


class SqlAuditLog:
    """`ports.audit.AuditLog` over SQLAlchemy."""

    def __init__(self, database: Database, clock: Clock, ids: Ids) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids

    def note(
        self, tenant: str, actor: str, action: str, object_: str, **values: str | float | bool | None
    ) -> AuditEvent:
        event = AuditEvent(
            event=self._ids.new("audit"),
            tenant=tenant,
            at=moment_of(self._clock.now()),
            actor=actor,
            action=action,
            object=object_,
            values=tuple(sorted(values.items())),
        )
        row = {
            "tenant": event.tenant,
            "event": event.event,
            "at": event.at,
            "actor": event.actor,
            "action": event.action,
            "object": event.object,
            "particulars": json.dumps(dict(event.values), ensure_ascii=True),
        }
        self._database.write(lambda connection: connection.execute(insert(AUDIT_EVENTS).values(row)))
        return event

    def events(self, tenant: str, *, before: str | None = None, limit: int = 100) -> tuple[AuditEvent, ...]:
        wanted = select(AUDIT_EVENTS).where(AUDIT_EVENTS.c.tenant == tenant)
        if before is not None:
            wanted = wanted.where(AUDIT_EVENTS.c.event < before)
        wanted = wanted.order_by(AUDIT_EVENTS.c.event.desc()).limit(limit)

        def work(connection: Connection) -> tuple[AuditEvent, ...]:
            return tuple(map(_event, connection.execute(wanted).mappings()))

        return self._database.read(work, ())


def _event(row: RowMapping) -> AuditEvent:
    return AuditEvent(
        event=row["event"],
        tenant=row["tenant"],
        at=row["at"],
        actor=row["actor"],
        action=row["action"],
        object=row["object"],
        values=tuple(json.loads(row["particulars"]).items()),
    )
