"""Customers' keys of providers, sealed, in the server's database; and what is known of the master key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec
from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    RowMapping,
    String,
    Table,
    Text,
    delete,
    insert,
    select,
    update,
)
from sqlalchemy.sql.elements import ColumnElement

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.domain.credential import Credential, CredentialTest, Sealed, bound_to
from corpus2skill.errors import Outrun, ThingNotFound
from corpus2skill.ports.credentials import Held, SealedThing

CREDENTIALS = Table(
    "provider_credentials",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("provider", String, primary_key=True),
    Column("revision", String, nullable=False),
    Column("created_at", String, nullable=False),
    Column("changed_at", String, nullable=False),
    Column("changed_by", String, nullable=False),
    Column("label", String),
    Column("base_url", String),
    Column("has_secret", Boolean, nullable=False),
    Column("last_four", String, nullable=False),
    Column("last_used_at", String),
    Column("last_test", Text),  # JSON
    Column("master_key", String, index=True),  # which one `sealed` was sealed with
    Column("sealed", Text),
)
MASTER_KEYS = Table(
    "master_keys",
    METADATA,
    Column("use", String, primary_key=True),
    Column("master_key", String, nullable=False),
    Column("sealed", Text, nullable=False),
)
_CURRENT = "current"
_IS_CURRENT = MASTER_KEYS.c.use == _CURRENT
_OWN_METHODS = ("last_used_at", "last_test")
"""What `change` leaves alone."""


class SqlCredentialStore:
    """`ports.credentials.CredentialStore` and `SealedThings` over SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def held(self, tenant: str, provider: str) -> Held | None:
        wanted = select(CREDENTIALS).where(_is(tenant, provider))
        found = self._database.read(lambda connection: connection.execute(wanted).mappings().first(), None)
        return None if found is None else _held(found)

    def credentials(self, tenant: str) -> tuple[Credential, ...]:
        wanted = select(CREDENTIALS).where(CREDENTIALS.c.tenant == tenant).order_by(CREDENTIALS.c.provider)

        def work(connection: Connection) -> tuple[Credential, ...]:
            return tuple(_held(row).credential for row in connection.execute(wanted).mappings())

        return self._database.read(work, ())

    def change(
        self, tenant: str, provider: str, turn: Callable[[Held | None], Held | None]
    ) -> Credential | None:
        is_meant = _is(tenant, provider)

        def work(connection: Connection) -> Credential | None:
            current = connection.scalar(
                select(MASTER_KEYS.c.master_key).where(_IS_CURRENT).with_for_update(read=True)
            )
            row = connection.execute(select(CREDENTIALS).where(is_meant).with_for_update()).mappings().first()
            becomes = turn(None if row is None else _held(row))
            if becomes is None:
                return None
            if becomes.sealed is not None and becomes.sealed.key != current:
                raise Outrun("master_key_changed")
            values = _row(becomes)
            if row is None:
                connection.execute(insert(CREDENTIALS).values(values))
                return becomes.credential
            kept = {name: value for name, value in values.items() if name not in _OWN_METHODS}
            connection.execute(update(CREDENTIALS).where(is_meant).values(kept))
            was = _held(row).credential
            return replace(becomes.credential, last_used_at=was.last_used_at, last_test=was.last_test)

        return self._database.write(work)

    def remove(self, tenant: str, provider: str) -> Credential:
        is_meant = _is(tenant, provider)

        def work(connection: Connection) -> Credential:
            row = connection.execute(select(CREDENTIALS).where(is_meant).with_for_update()).mappings().first()
            if row is None:
                raise ThingNotFound("provider_credential", provider)
            connection.execute(delete(CREDENTIALS).where(is_meant))
            return _held(row).credential

        removed = self._database.write(work)
        self._database.wipe()
        return removed

    def touch(self, tenant: str, provider: str, at: str) -> None:
        used = update(CREDENTIALS).where(_is(tenant, provider)).values(last_used_at=at)
        self._database.write(lambda connection: connection.execute(used), outlasts_power_cut=False)

    def note_test(self, tenant: str, provider: str, revision: str, test: CredentialTest) -> None:
        is_meant = _is(tenant, provider) & (CREDENTIALS.c.revision == revision)
        noted = update(CREDENTIALS).where(is_meant).values(last_test=_encoded(test))
        self._database.write(lambda connection: connection.execute(noted))

    def sealed_otherwise(self, key: str, limit: int) -> tuple[SealedThing, ...]:
        wanted = (
            select(CREDENTIALS)
            .where(CREDENTIALS.c.sealed.is_not(None), CREDENTIALS.c.master_key != key)
            .order_by(CREDENTIALS.c.tenant, CREDENTIALS.c.provider)
            .limit(limit)
        )

        def work(connection: Connection) -> tuple[SealedThing, ...]:
            return tuple(map(_thing, connection.execute(wanted).mappings()))

        return self._database.read(work, ())

    def reseal(self, thing: SealedThing, sealed: Sealed) -> None:
        is_meant = _is(*thing.name) & (CREDENTIALS.c.sealed == thing.sealed.text)
        values = {"master_key": sealed.key, "sealed": sealed.text}
        self._database.write(
            lambda connection: connection.execute(update(CREDENTIALS).where(is_meant).values(values))
        )


class SqlMasterKeyRecord:
    """`ports.credentials.MasterKeyRecord` over SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def check_value(self) -> Sealed | None:
        found = self._database.read(
            lambda connection: connection.execute(select(MASTER_KEYS).where(_IS_CURRENT)).mappings().first(),
            None,
        )
        return None if found is None else Sealed(key=found["master_key"], text=found["sealed"])

    def replace_check_value(self, was: Sealed | None, becomes: Sealed) -> bool:
        values = {"use": _CURRENT, "master_key": becomes.key, "sealed": becomes.text}

        def work(connection: Connection) -> bool:
            found = connection.execute(select(MASTER_KEYS).where(_IS_CURRENT).with_for_update()).mappings()
            row = found.first()
            if (None if row is None else row["sealed"]) != (None if was is None else was.text):
                return False
            if row is None:
                connection.execute(insert(MASTER_KEYS).values(values))
            else:
                connection.execute(update(MASTER_KEYS).where(_IS_CURRENT).values(values))
            return True

        return self._database.write(work)


def _is(tenant: str, provider: str) -> ColumnElement[bool]:
    return (CREDENTIALS.c.tenant == tenant) & (CREDENTIALS.c.provider == provider)


def _encoded(value: object) -> str:
    return msgspec.json.encode(value).decode("utf-8")


def _row(held: Held) -> dict[str, object]:
    credential, sealed = held.credential, held.sealed
    return {
        "tenant": credential.tenant,
        "provider": credential.provider,
        "revision": credential.revision,
        "created_at": credential.created_at,
        "changed_at": credential.changed_at,
        "changed_by": credential.changed_by,
        "label": credential.label,
        "base_url": credential.base_url,
        "has_secret": credential.has_secret,
        "last_four": credential.last_four,
        "last_used_at": credential.last_used_at,
        "last_test": None if credential.last_test is None else _encoded(credential.last_test),
        "master_key": None if sealed is None else sealed.key,
        "sealed": None if sealed is None else sealed.text,
    }


def _held(row: RowMapping) -> Held:
    test = row["last_test"]
    credential = Credential(
        tenant=row["tenant"],
        provider=row["provider"],
        revision=row["revision"],
        created_at=row["created_at"],
        changed_at=row["changed_at"],
        changed_by=row["changed_by"],
        label=row["label"],
        base_url=row["base_url"],
        has_secret=row["has_secret"],
        last_four=row["last_four"],
        last_used_at=row["last_used_at"],
        last_test=None if test is None else msgspec.json.decode(test, type=CredentialTest),
    )
    sealed = None if row["sealed"] is None else Sealed(key=row["master_key"], text=row["sealed"])
    return Held(credential=credential, sealed=sealed)


def _thing(row: RowMapping) -> SealedThing:
    name = (row["tenant"], row["provider"])
    sealed = Sealed(key=row["master_key"], text=row["sealed"])
    return SealedThing(name=name, bound_to=bound_to(*name), sealed=sealed)
