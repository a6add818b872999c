"""The operators' log in the server's database."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sqlalchemy import (
    DDL,
    Column,
    ColumnElement,
    Connection,
    Delete,
    RowMapping,
    String,
    Table,
    Text,
    event,
    insert,
    select,
)

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.domain.audit import AuditEvent, AuditFilter
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
_SAYING = "'the operators'' log is append-only'"
_ON_SQLITE = f"CREATE TRIGGER audit_events_no_{{0}} BEFORE {{0}} ON audit_events BEGIN SELECT RAISE(ABORT, {_SAYING}); END"
_REFUSALS = {
    "sqlite": (_ON_SQLITE.format("UPDATE"), _ON_SQLITE.format("DELETE")),
    "postgresql": (
        f"CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION {_SAYING}; END $$",
        "CREATE TRIGGER audit_events_no_change BEFORE UPDATE OR DELETE ON audit_events FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()",
        "CREATE TRIGGER audit_events_no_truncate BEFORE TRUNCATE ON audit_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()",
    ),
}
"""What has the database itself refuse to change or remove an event."""
for _dialect, _statements in _REFUSALS.items():
    for _statement in _statements:
        event.listen(AUDIT_EVENTS, "after_create", DDL(_statement).execute_if(dialect=_dialect))


_LIFTED = {
    "sqlite": ("DROP TRIGGER audit_events_no_DELETE", _ON_SQLITE.format("DELETE")),
    "postgresql": (
        "ALTER TABLE audit_events DISABLE TRIGGER audit_events_no_change",
        "ALTER TABLE audit_events ENABLE TRIGGER audit_events_no_change",
    ),
}


def remove_events(connection: Connection, removed: Delete) -> int:
    """Remove what retention lets go: the refusal is lifted for this one statement, in its transaction alone."""
    lift, restore = _LIFTED[connection.dialect.name]
    connection.exec_driver_sql(lift)
    count = connection.execute(removed).rowcount
    connection.exec_driver_sql(restore)
    return count


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

    def events(
        self,
        tenant: str,
        *,
        before: str | None = None,
        limit: int = 100,
        which: AuditFilter = AuditFilter(),
    ) -> tuple[AuditEvent, ...]:
        wanted = select(AUDIT_EVENTS).where(AUDIT_EVENTS.c.tenant == tenant, *_conditions(which))
        if before is not None:
            wanted = wanted.where(AUDIT_EVENTS.c.event < before)
        wanted = wanted.order_by(AUDIT_EVENTS.c.event.desc()).limit(limit)

        def work(connection: Connection) -> tuple[AuditEvent, ...]:
            return tuple(map(_event, connection.execute(wanted).mappings()))

        return self._database.read(work, ())


def _conditions(which: AuditFilter) -> Iterator[ColumnElement[bool]]:
    columns = AUDIT_EVENTS.c
    if which.action is not None:
        is_group = which.action.endswith(".")
        yield (
            columns.action.startswith(which.action, autoescape=True)
            if is_group
            else columns.action == which.action
        )
    if which.actor is not None:
        yield columns.actor == which.actor
    if which.object is not None:
        yield columns.object == which.object
    if which.since is not None:
        yield columns.at >= which.since
    if which.until is not None:
        yield columns.at < which.until


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
