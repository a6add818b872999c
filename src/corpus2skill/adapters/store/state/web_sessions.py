"""The sessions of browsers in the server's database."""

from __future__ import annotations

from sqlalchemy import Column, Connection, RowMapping, String, Table, delete, insert, select, update

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.domain.sign_in import WebSession
from corpus2skill.errors import ThingNotFound

WEB_SESSIONS = Table(
    "web_sessions",
    METADATA,
    Column("session", String, primary_key=True),
    Column("tenant", String, nullable=False),
    Column("person", String, nullable=False, index=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("created_at", String, nullable=False),
    Column("seen_at", String, nullable=False),
    Column("expires_at", String, nullable=False),
    Column("agent", String, nullable=False),
)


class SqlWebSessionStore:
    """`ports.sign_ins.WebSessionStore` over SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, session: WebSession, digest: str) -> None:
        row = {
            "session": session.session,
            "tenant": session.tenant,
            "person": session.person,
            "digest": digest,
            "created_at": session.created_at,
            "seen_at": session.seen_at,
            "expires_at": session.expires_at,
            "agent": session.agent,
        }

        def work(connection: Connection) -> None:
            connection.execute(delete(WEB_SESSIONS).where(WEB_SESSIONS.c.expires_at < session.created_at))
            connection.execute(insert(WEB_SESSIONS).values(row))

        self._database.write(work)

    def by_digest(self, digest: str) -> WebSession | None:
        wanted = select(WEB_SESSIONS).where(WEB_SESSIONS.c.digest == digest)

        def work(connection: Connection) -> WebSession | None:
            found = connection.execute(wanted).mappings().first()
            return None if found is None else _session(found)

        return self._database.read(work, None)

    def sessions(self, person: str) -> tuple[WebSession, ...]:
        wanted = select(WEB_SESSIONS).where(WEB_SESSIONS.c.person == person).order_by(WEB_SESSIONS.c.session)

        def work(connection: Connection) -> tuple[WebSession, ...]:
            return tuple(map(_session, connection.execute(wanted).mappings()))

        return self._database.read(work, ())

    def touch(self, session: str, now: str) -> None:
        seen = update(WEB_SESSIONS).where(WEB_SESSIONS.c.session == session).values(seen_at=now)
        self._database.write(lambda connection: connection.execute(seen), outlasts_power_cut=False)

    def move(self, session: str, tenant: str) -> None:
        moved = update(WEB_SESSIONS).where(WEB_SESSIONS.c.session == session).values(tenant=tenant)
        self._database.write(lambda connection: connection.execute(moved))

    def end(self, person: str, session: str) -> None:
        is_meant = (WEB_SESSIONS.c.person == person) & (WEB_SESSIONS.c.session == session)

        def work(connection: Connection) -> None:
            if connection.execute(delete(WEB_SESSIONS).where(is_meant)).rowcount != 1:
                raise ThingNotFound("sign-in", session)

        self._database.write(work)

    def end_all(self, person: str, *, but: str | None = None) -> int:
        is_meant = WEB_SESSIONS.c.person == person
        if but is not None:
            is_meant &= WEB_SESSIONS.c.session != but

        def work(connection: Connection) -> int:
            return connection.execute(delete(WEB_SESSIONS).where(is_meant)).rowcount

        return self._database.write(work)


def _session(row: RowMapping) -> WebSession:
    return WebSession(
        session=row["session"],
        tenant=row["tenant"],
        person=row["person"],
        created_at=row["created_at"],
        seen_at=row["seen_at"],
        expires_at=row["expires_at"],
        agent=row["agent"],
    )
