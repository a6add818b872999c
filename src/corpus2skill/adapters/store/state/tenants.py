"""Tenants in the server's database."""

from __future__ import annotations

from sqlalchemy import Column, Connection, String, Table, insert, select

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.domain.people import Tenant
from corpus2skill.errors import Conflict

TENANTS = Table(
    "tenants",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("created_at", String, nullable=False),
)


class SqlTenantStore:
    """`ports.people.TenantStore` over SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def tenants(self) -> tuple[Tenant, ...]:
        wanted = select(TENANTS).order_by(TENANTS.c.tenant)

        def work(connection: Connection) -> tuple[Tenant, ...]:
            return tuple(
                Tenant(tenant=row.tenant, created_at=row.created_at) for row in connection.execute(wanted)
            )

        return self._database.read(work, ())

    def add(self, tenant: Tenant) -> None:
        def work(connection: Connection) -> None:
            is_meant = TENANTS.c.tenant == tenant.tenant
            if connection.execute(select(TENANTS.c.tenant).where(is_meant)).first() is not None:
                raise Conflict("tenant_exists", tenant=tenant.tenant)
            connection.execute(insert(TENANTS).values(tenant=tenant.tenant, created_at=tenant.created_at))

        self._database.write(work)
