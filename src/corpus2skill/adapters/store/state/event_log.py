"""Kept events in the server's database."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence

from sqlalchemy import (
    Column,
    Connection,
    Integer,
    RowMapping,
    String,
    Table,
    Text,
    bindparam,
    delete,
    func,
    insert,
    select,
    tuple_,
)

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.domain.event_log import LoggedEvent, NewEvent
from corpus2skill.domain.moments import moment_of
from corpus2skill.ports.clock import Clock

EVENTS = Table(
    "events",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("topic", String, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("kind", String, nullable=False),
    Column("at", String, nullable=False),
    Column("payload", Text, nullable=False),  # JSON
)
_ADD = insert(EVENTS)
_LAST = select(func.max(EVENTS.c.number)).where(
    EVENTS.c.tenant == bindparam("of_tenant"), EVENTS.c.topic == bindparam("of_topic")
)


class SqlEventLog:
    """`ports.event_log.EventLog` over SQLAlchemy."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def append(self, tenant: str, topic: str, events: Sequence[NewEvent]) -> int:
        work = self._appending(((tenant, topic, events),))
        return self._database.write(work)[0]

    def append_all(self, batches: Sequence[tuple[str, str, Sequence[NewEvent]]]) -> tuple[int, ...]:
        return self._database.write(self._appending(batches), outlasts_power_cut=False)

    def _appending(
        self, batches: Sequence[tuple[str, str, Sequence[NewEvent]]]
    ) -> Callable[[Connection], tuple[int, ...]]:
        at = moment_of(self._clock.now())
        encoded = [(*batch, [_payload(event) for event in batch[2]]) for batch in batches]

        def work(connection: Connection) -> tuple[int, ...]:
            return tuple(_append(connection, at, *batch) for batch in encoded)

        return work

    def since(self, tenant: str, topic: str, after: int, limit: int = 500) -> tuple[LoggedEvent, ...]:
        is_meant = (EVENTS.c.tenant == tenant) & (EVENTS.c.topic == topic) & (EVENTS.c.number > after)
        wanted = select(EVENTS).where(is_meant).order_by(EVENTS.c.number).limit(limit)

        def work(connection: Connection) -> tuple[LoggedEvent, ...]:
            return tuple(map(_event, connection.execute(wanted).mappings()))

        return self._database.read(work, ())

    def newest(self, topics: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], int]:
        if not topics:
            return {}
        name = (EVENTS.c.tenant, EVENTS.c.topic)
        wanted = (
            select(*name, func.max(EVENTS.c.number)).where(tuple_(*name).in_(list(topics))).group_by(*name)
        )

        def work(connection: Connection) -> dict[tuple[str, str], int]:
            return {(tenant, topic): number for tenant, topic, number in connection.execute(wanted)}

        return self._database.read(work, {})

    def forget(self, tenant: str, topic: str) -> None:
        is_meant = (EVENTS.c.tenant == tenant) & (EVENTS.c.topic == topic)
        self._database.write(lambda connection: connection.execute(delete(EVENTS).where(is_meant)))


def _append(
    connection: Connection,
    at: str,
    tenant: str,
    topic: str,
    events: Sequence[NewEvent],
    payloads: Sequence[str],
) -> int:
    last = connection.scalar(_LAST, {"of_tenant": tenant, "of_topic": topic}) or 0
    rows = [
        {
            "tenant": tenant,
            "topic": topic,
            "number": number,
            "kind": event.kind,
            "at": at,
            "payload": payload,
        }
        for number, (event, payload) in enumerate(zip(events, payloads, strict=True), start=last + 1)
    ]
    if rows:
        connection.execute(_ADD, rows)
    return last + len(rows)


def _payload(event: NewEvent) -> str:
    return json.dumps(event.payload, ensure_ascii=True)


def _event(row: RowMapping) -> LoggedEvent:
    return LoggedEvent(
        number=row["number"], kind=row["kind"], at=row["at"], payload=json.loads(row["payload"])
    )
