"""Tenants' settings in the server's database."""

from __future__ import annotations

import json

from sqlalchemy import Column, Connection, Integer, RowMapping, String, Table, Text, insert, select, update

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.domain.tenant_settings import TenantSettings
from corpus2skill.ports.tenant_settings import Change

TENANT_SETTINGS = Table(
    "tenant_settings",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("revision", Integer, nullable=False),
    Column("settings", Text, nullable=False),  # JSON
)


class SqlTenantSettings:
    """`ports.tenant_settings.TenantSettingsStore` over SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def settings(self, tenant: str) -> TenantSettings:
        return self._database.read(lambda connection: _found(connection, tenant), None) or TenantSettings()

    def change(self, tenant: str, change: Change) -> tuple[TenantSettings, TenantSettings]:
        def work(connection: Connection) -> tuple[TenantSettings, TenantSettings]:
            found = _found(connection, tenant, for_update=True)
            was = found or TenantSettings()
            values = dict(change(was))
            if values == dict(was.values):
                return was, was
            becomes = TenantSettings(values=values, revision=was.revision + 1)
            row = {"revision": becomes.revision, "settings": json.dumps(values)}
            if found is None:
                connection.execute(insert(TENANT_SETTINGS).values(tenant=tenant, **row))
            else:
                is_meant = TENANT_SETTINGS.c.tenant == tenant
                connection.execute(update(TENANT_SETTINGS).where(is_meant).values(row))
            return was, becomes

        return self._database.write(work)


def _found(connection: Connection, tenant: str, *, for_update: bool = False) -> TenantSettings | None:
    wanted = select(TENANT_SETTINGS).where(TENANT_SETTINGS.c.tenant == tenant)
    if for_update:
        wanted = wanted.with_for_update()
    row: RowMapping | None = connection.execute(wanted).mappings().first()
    if row is None:
        return None
    return TenantSettings(values=json.loads(row["settings"]), revision=row["revision"])
