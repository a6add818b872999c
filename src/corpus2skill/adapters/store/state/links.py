"""Links that work once, in the server's database."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import cast

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    RowMapping,
    String,
    Table,
    delete,
    insert,
    select,
    update,
)

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.sign_in import LinkKind, OneTimeLink
from corpus2skill.errors import NotFound, ThingNotFound

LINKS = Table(
    "links",
    METADATA,
    Column("link", String, primary_key=True),
    Column("tenant", String, nullable=False, index=True),
    Column("kind", String, nullable=False),
    Column("digest", String(64), nullable=False, unique=True),
    Column("name", String, nullable=False),
    Column("created_at", String, nullable=False),
    Column("created_by", String, nullable=False),
    Column("expires_at", String, nullable=False),
    Column("person", String, index=True),
    Column("role", String),
    Column("used_at", String),
    Column("revoked_at", String),
)
_KEPT = timedelta(days=30)
"""How long a link that ran out is still listed."""


class SqlLinkStore:
    """`ports.sign_ins.LinkStore` over SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, link: OneTimeLink, digest: str) -> None:
        long_ago = moment_of(datetime.fromisoformat(link.created_at) - _KEPT)

        def work(connection: Connection) -> None:
            connection.execute(delete(LINKS).where(LINKS.c.expires_at < long_ago))
            connection.execute(insert(LINKS).values(_row(link, digest)))

        self._database.write(work)

    def by_digest(self, kind: LinkKind, digest: str) -> OneTimeLink | None:
        wanted = select(LINKS).where(LINKS.c.digest == digest, LINKS.c.kind == kind)

        def work(connection: Connection) -> OneTimeLink | None:
            found = connection.execute(wanted).mappings().first()
            return None if found is None else _link(found)

        return self._database.read(work, None)

    def links(self, tenant: str, kind: LinkKind) -> tuple[OneTimeLink, ...]:
        wanted = select(LINKS).where(LINKS.c.tenant == tenant, LINKS.c.kind == kind).order_by(LINKS.c.link)

        def work(connection: Connection) -> tuple[OneTimeLink, ...]:
            return tuple(map(_link, connection.execute(wanted).mappings()))

        return self._database.read(work, ())

    def use(self, kind: LinkKind, digest: str, now: str) -> OneTimeLink:
        return self._database.write(lambda connection: use_up(connection, kind, digest, now))

    def revoke(self, tenant: str, kind: LinkKind, link: str, now: str) -> OneTimeLink:
        is_meant = (LINKS.c.tenant == tenant) & (LINKS.c.kind == kind) & (LINKS.c.link == link)

        def work(connection: Connection) -> OneTimeLink:
            connection.execute(update(LINKS).where(is_meant & _is_unused()).values(revoked_at=now))
            found = connection.execute(select(LINKS).where(is_meant)).mappings().first()
            if found is None:
                raise ThingNotFound(kind, link)
            return _link(found)

        return self._database.write(work)

    def revoke_of(self, person: str, kind: LinkKind, now: str) -> None:
        is_meant = (LINKS.c.person == person) & (LINKS.c.kind == kind)
        revoked = update(LINKS).where(is_meant & _is_unused()).values(revoked_at=now)
        self._database.write(lambda connection: connection.execute(revoked))


def use_up(connection: Connection, kind: LinkKind, digest: str, now: str) -> OneTimeLink:
    """Use up a link within a transaction.

    Raises:
        NotFound: there is no such link, or it is used, revoked or run out.
    """
    is_meant = (LINKS.c.digest == digest) & (LINKS.c.kind == kind)
    used = update(LINKS).where(is_meant & _is_unused() & (LINKS.c.expires_at > now)).values(used_at=now)
    if connection.execute(used).rowcount != 1:
        raise NotFound("link_dead")
    return _link(connection.execute(select(LINKS).where(is_meant)).mappings().one())


def _is_unused() -> ColumnElement[bool]:
    return LINKS.c.used_at.is_(None) & LINKS.c.revoked_at.is_(None)


def _row(link: OneTimeLink, digest: str) -> dict[str, str | None]:
    return {
        "link": link.link,
        "tenant": link.tenant,
        "kind": link.kind,
        "digest": digest,
        "name": link.name,
        "created_at": link.created_at,
        "created_by": link.created_by,
        "expires_at": link.expires_at,
        "person": link.person,
        "role": link.role,
        "used_at": link.used_at,
        "revoked_at": link.revoked_at,
    }


def _link(row: RowMapping) -> OneTimeLink:
    return OneTimeLink(
        link=row["link"],
        tenant=row["tenant"],
        kind=cast("LinkKind", row["kind"]),
        name=row["name"],
        created_at=row["created_at"],
        created_by=row["created_by"],
        expires_at=row["expires_at"],
        person=row["person"],
        role=row["role"],
        used_at=row["used_at"],
        revoked_at=row["revoked_at"],
    )
