"""Webhook endpoints and deliveries in the server's database."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import msgspec
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Index,
    RowMapping,
    Select,
    String,
    Table,
    Text,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.announcements import ANNOUNCEMENTS
from corpus2skill.adapters.store.state.credentials import MASTER_KEYS
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.domain.credential import Sealed
from corpus2skill.domain.webhook import Delivery, DeliveryState, DeliveryTry, WebhookEndpoint, secret_bound_to
from corpus2skill.errors import Conflict, Outrun, ThingNotFound
from corpus2skill.ports.credentials import SealedThing
from corpus2skill.ports.webhooks import Announcement, HeldEndpoint

ENDPOINTS = Table(
    "webhook_endpoints",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("endpoint", String, primary_key=True),
    Column("url", Text, nullable=False),
    Column("kinds", Text, nullable=False),  # JSON
    Column("description", Text, nullable=False),
    Column("created_at", String, nullable=False),
    Column("created_by", String, nullable=False),
    Column("off_reason", String),
    Column("off_at", String),
    Column("failing_since", String),
    Column("both_until", String),
    Column("master_key", String, nullable=False),  # which one `secret` was sealed with
    Column("secret", Text, nullable=False),
    Column("old_master_key", String),
    Column("old_secret", Text),
)
DELIVERIES = Table(
    "webhook_deliveries",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("delivery", String, primary_key=True),
    Column("endpoint", String, nullable=False),
    Column("message", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("body", Text, nullable=False),
    Column("state", String, nullable=False),
    Column("created_at", String, nullable=False),
    Column("next_at", String),
    Column("tries", Text, nullable=False),  # JSON
    Index("webhook_deliveries_by_endpoint", "tenant", "endpoint", "delivery"),
    Index("webhook_deliveries_due", "state", "next_at"),
)
_MOST_TRIES_KEPT = 20
_SECRETS = (("master_key", "secret"), ("old_master_key", "old_secret"))


class SqlWebhookStore:
    """`ports.webhooks.WebhookStore` and `ports.credentials.SealedThings` over SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, held: HeldEndpoint, most: int) -> None:
        tenant = held.endpoint.tenant
        count = select(func.count()).select_from(ENDPOINTS).where(ENDPOINTS.c.tenant == tenant)

        def work(connection: Connection) -> None:
            _check_key(connection, held)
            if (connection.scalar(count) or 0) >= most:
                raise Conflict("too_many_webhooks", most=most)
            connection.execute(insert(ENDPOINTS).values(_row(held)))

        self._database.write(work)

    def held(self, tenant: str, endpoint: str) -> HeldEndpoint:
        found = self._database.read(lambda connection: _found(connection, tenant, endpoint), None)
        if found is None:
            raise _no_endpoint(endpoint)
        return found

    def endpoints(self, tenant: str) -> tuple[WebhookEndpoint, ...]:
        wanted = select(ENDPOINTS).where(ENDPOINTS.c.tenant == tenant).order_by(ENDPOINTS.c.endpoint)

        def work(connection: Connection) -> tuple[WebhookEndpoint, ...]:
            return tuple(_held(row).endpoint for row in connection.execute(wanted).mappings())

        return self._database.read(work, ())

    def change(
        self, tenant: str, endpoint: str, turn: Callable[[HeldEndpoint], HeldEndpoint]
    ) -> WebhookEndpoint:
        def work(connection: Connection) -> WebhookEndpoint:
            was = _found(connection, tenant, endpoint)
            if was is None:
                raise _no_endpoint(endpoint)
            becomes = turn(was)
            if becomes.secret != was.secret:
                _check_key(connection, becomes)
            changed = update(ENDPOINTS).where(_is_endpoint(tenant, endpoint)).values(_row(becomes))
            connection.execute(changed)
            if not becomes.endpoint.is_on:
                waiting = _of(tenant, endpoint) & (DELIVERIES.c.state == "waiting")
                given_up = update(DELIVERIES).where(waiting).values(state="given_up", next_at=None)
                connection.execute(given_up)
            return becomes.endpoint

        return self._database.write(work)

    def remove(self, tenant: str, endpoint: str) -> WebhookEndpoint:
        def work(connection: Connection) -> WebhookEndpoint:
            was = _found(connection, tenant, endpoint)
            if was is None:
                raise _no_endpoint(endpoint)
            connection.execute(delete(DELIVERIES).where(_of(tenant, endpoint)))
            connection.execute(delete(ENDPOINTS).where(_is_endpoint(tenant, endpoint)))
            return was.endpoint

        return self._database.write(work)

    def fan_out(self, make: Callable[[Announcement, WebhookEndpoint], Delivery], limit: int) -> int:
        oldest = select(ANNOUNCEMENTS).order_by(ANNOUNCEMENTS.c.announcement).limit(limit)
        if not self._database.read(lambda connection: connection.execute(oldest).first(), None):
            return 0  # looking takes no pen

        def work(connection: Connection) -> int:
            rows = connection.execute(oldest).mappings().all()
            announced = tuple(map(_announcement, rows))
            tenants = {one.tenant for one in announced}
            wanted = select(ENDPOINTS).where(
                ENDPOINTS.c.tenant.in_(tenants), ENDPOINTS.c.off_reason.is_(None)
            )
            hearers = [_held(row).endpoint for row in connection.execute(wanted).mappings()]
            made = [
                _delivery_row(make(one, hearer))
                for one in announced
                for hearer in hearers
                if hearer.tenant == one.tenant and one.kind in hearer.kinds
            ]
            if made:
                connection.execute(insert(DELIVERIES), made)
            for one in announced:
                is_it = (ANNOUNCEMENTS.c.tenant == one.tenant) & (ANNOUNCEMENTS.c.announcement == one.message)
                connection.execute(delete(ANNOUNCEMENTS).where(is_it))
            return len(announced)

        return self._database.write(work)

    def add_delivery(self, delivery: Delivery) -> None:
        row = _delivery_row(delivery)
        self._database.write(lambda connection: connection.execute(insert(DELIVERIES).values(row)))

    def due(self, now: str) -> tuple[tuple[str, str], ...]:
        longest = func.min(DELIVERIES.c.next_at)
        wanted = (
            select(DELIVERIES.c.tenant, DELIVERIES.c.endpoint)
            .where(DELIVERIES.c.state == "waiting", DELIVERIES.c.next_at <= now)
            .group_by(DELIVERIES.c.tenant, DELIVERIES.c.endpoint)
            .order_by(longest)
        )

        def work(connection: Connection) -> tuple[tuple[str, str], ...]:
            return tuple((row.tenant, row.endpoint) for row in connection.execute(wanted))

        return self._database.read(work, ())

    def due_of(self, tenant: str, endpoint: str, now: str, limit: int) -> tuple[Delivery, ...]:
        is_due = _of(tenant, endpoint) & (DELIVERIES.c.state == "waiting") & (DELIVERIES.c.next_at <= now)
        wanted = select(DELIVERIES).where(is_due).order_by(DELIVERIES.c.next_at, DELIVERIES.c.delivery)
        return self._deliveries_of(wanted.limit(limit))

    def claim(self, delivery: Delivery, until: str) -> bool:
        is_as_seen = _is_delivery(delivery) & (DELIVERIES.c.next_at == delivery.next_at)
        claimed = update(DELIVERIES).where(is_as_seen, DELIVERIES.c.state == "waiting").values(next_at=until)
        return self._database.write(
            lambda connection: connection.execute(claimed).rowcount == 1, outlasts_power_cut=False
        )

    def note_try(
        self, delivery: Delivery, tried: DeliveryTry, state: DeliveryState, next_at: str | None
    ) -> None:
        tries = _encoded((*delivery.tries, tried)[-_MOST_TRIES_KEPT:])
        is_it = _is_delivery(delivery)

        def work(connection: Connection) -> None:
            connection.execute(update(DELIVERIES).where(is_it).values(tries=tries))
            still_waits = is_it & (DELIVERIES.c.state == "waiting")  # its endpoint may be off by now
            connection.execute(update(DELIVERIES).where(still_waits).values(state=state, next_at=next_at))

        self._database.write(work, outlasts_power_cut=False)

    def delivery(self, tenant: str, endpoint: str, delivery: str) -> Delivery:
        wanted = select(DELIVERIES).where(_of(tenant, endpoint), DELIVERIES.c.delivery == delivery)
        found = self._deliveries_of(wanted)
        if not found:
            raise ThingNotFound("webhook_delivery", delivery)
        return found[0]

    def deliveries(
        self,
        tenant: str,
        endpoint: str,
        *,
        state: DeliveryState | None = None,
        before: str | None = None,
        limit: int,
    ) -> Sequence[Delivery]:
        wanted = select(DELIVERIES).where(_of(tenant, endpoint))
        if state is not None:
            wanted = wanted.where(DELIVERIES.c.state == state)
        if before is not None:
            wanted = wanted.where(DELIVERIES.c.delivery < before)
        return self._deliveries_of(wanted.order_by(DELIVERIES.c.delivery.desc()).limit(limit))

    def try_again(self, tenant: str, endpoint: str, delivery: str, at: str) -> Delivery:
        is_meant = _of(tenant, endpoint) & (DELIVERIES.c.delivery == delivery)

        def work(connection: Connection) -> Delivery:
            row = connection.execute(select(DELIVERIES).where(is_meant)).mappings().first()
            if row is None:
                raise ThingNotFound("webhook_delivery", delivery)
            if row["state"] == "waiting":
                raise Conflict("webhook_delivery_waits", delivery=delivery)
            connection.execute(update(DELIVERIES).where(is_meant).values(state="waiting", next_at=at))
            return replace(_delivery(row), state="waiting", next_at=at)

        return self._database.write(work)

    def sealed_otherwise(self, key: str, limit: int) -> tuple[SealedThing, ...]:
        columns = ENDPOINTS.c
        is_other = or_(columns.master_key != key, columns.old_master_key != key)
        wanted = select(ENDPOINTS).where(is_other).order_by(columns.tenant, columns.endpoint).limit(limit)

        def work(connection: Connection) -> tuple[SealedThing, ...]:
            rows = connection.execute(wanted).mappings()
            return tuple(thing for row in rows for thing in _things(row) if thing.sealed.key != key)

        return self._database.read(work, ())

    def reseal(self, thing: SealedThing, sealed: Sealed) -> None:
        tenant, endpoint, name = thing.name
        key_name = next(key for key, secret in _SECRETS if secret == name)
        is_meant = _is_endpoint(tenant, endpoint) & (ENDPOINTS.c[name] == thing.sealed.text)
        values = {key_name: sealed.key, name: sealed.text}
        self._database.write(
            lambda connection: connection.execute(update(ENDPOINTS).where(is_meant).values(values))
        )

    def _deliveries_of(self, wanted: Select[Any]) -> tuple[Delivery, ...]:
        def work(connection: Connection) -> tuple[Delivery, ...]:
            return tuple(map(_delivery, connection.execute(wanted).mappings()))

        return self._database.read(work, ())


def _check_key(connection: Connection, held: HeldEndpoint) -> None:
    current = connection.scalar(select(MASTER_KEYS.c.master_key).with_for_update(read=True))
    if current is not None and held.secret.key != current:
        raise Outrun("master_key_changed")


def _no_endpoint(endpoint: str) -> ThingNotFound:
    return ThingNotFound("webhook_endpoint", endpoint)


def _found(connection: Connection, tenant: str, endpoint: str) -> HeldEndpoint | None:
    wanted = select(ENDPOINTS).where(_is_endpoint(tenant, endpoint))
    row = connection.execute(wanted).mappings().first()
    return None if row is None else _held(row)


def _is_endpoint(tenant: str, endpoint: str) -> ColumnElement[bool]:
    return (ENDPOINTS.c.tenant == tenant) & (ENDPOINTS.c.endpoint == endpoint)


def _of(tenant: str, endpoint: str) -> ColumnElement[bool]:
    return (DELIVERIES.c.tenant == tenant) & (DELIVERIES.c.endpoint == endpoint)


def _is_delivery(delivery: Delivery) -> ColumnElement[bool]:
    return (DELIVERIES.c.tenant == delivery.tenant) & (DELIVERIES.c.delivery == delivery.delivery)


def _encoded(value: object) -> str:
    return msgspec.json.encode(value).decode("utf-8")


def _row(held: HeldEndpoint) -> dict[str, object]:
    endpoint, old = held.endpoint, held.old_secret
    return {
        "tenant": endpoint.tenant,
        "endpoint": endpoint.endpoint,
        "url": endpoint.url,
        "kinds": _encoded(endpoint.kinds),
        "description": endpoint.description,
        "created_at": endpoint.created_at,
        "created_by": endpoint.created_by,
        "off_reason": endpoint.off_reason,
        "off_at": endpoint.off_at,
        "failing_since": endpoint.failing_since,
        "both_until": endpoint.both_until,
        "master_key": held.secret.key,
        "secret": held.secret.text,
        "old_master_key": None if old is None else old.key,
        "old_secret": None if old is None else old.text,
    }


def _held(row: RowMapping) -> HeldEndpoint:
    endpoint = WebhookEndpoint(
        endpoint=row["endpoint"],
        tenant=row["tenant"],
        url=row["url"],
        kinds=tuple(json.loads(row["kinds"])),
        description=row["description"],
        created_at=row["created_at"],
        created_by=row["created_by"],
        off_reason=row["off_reason"],
        off_at=row["off_at"],
        failing_since=row["failing_since"],
        both_until=row["both_until"],
    )
    old = None if row["old_secret"] is None else Sealed(key=row["old_master_key"], text=row["old_secret"])
    return HeldEndpoint(
        endpoint=endpoint, secret=Sealed(key=row["master_key"], text=row["secret"]), old_secret=old
    )


def _things(row: RowMapping) -> tuple[SealedThing, ...]:
    tenant, endpoint = row["tenant"], row["endpoint"]
    return tuple(
        SealedThing(
            name=(tenant, endpoint, name),
            bound_to=secret_bound_to(tenant, endpoint),
            sealed=Sealed(key=row[key], text=row[name]),
        )
        for key, name in _SECRETS
        if row[name] is not None
    )


def _announcement(row: RowMapping) -> Announcement:
    return Announcement(
        tenant=row["tenant"],
        message=row["announcement"],
        kind=row["kind"],
        at=row["at"],
        payload=json.loads(row["payload"]),
    )


def _delivery_row(delivery: Delivery) -> dict[str, object]:
    return {
        "tenant": delivery.tenant,
        "delivery": delivery.delivery,
        "endpoint": delivery.endpoint,
        "message": delivery.message,
        "kind": delivery.kind,
        "body": delivery.body,
        "state": delivery.state,
        "created_at": delivery.created_at,
        "next_at": delivery.next_at,
        "tries": _encoded(delivery.tries),
    }


def _delivery(row: RowMapping) -> Delivery:
    return Delivery(
        delivery=row["delivery"],
        tenant=row["tenant"],
        endpoint=row["endpoint"],
        message=row["message"],
        kind=row["kind"],
        body=row["body"],
        state=row["state"],
        created_at=row["created_at"],
        next_at=row["next_at"],
        tries=msgspec.json.decode(row["tries"], type=tuple[DeliveryTry, ...]),
    )
