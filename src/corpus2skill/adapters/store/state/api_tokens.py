"""API tokens in the server's database."""

from __future__ import annotations

from sqlalchemy import Column, Connection, RowMapping, String, Table, insert, select, update

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.domain.api_token import ApiToken
from corpus2skill.domain.people import SCOPES
from corpus2skill.errors import Conflict, ThingNotFound

API_TOKENS = Table(
    "api_tokens",
    METADATA,
    Column("token", String, primary_key=True),
    Column("tenant", String, nullable=False, index=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("name", String, nullable=False),
    Column("scopes", String, nullable=False),  # with spaces between
    Column("beginning", String, nullable=False),
    Column("created_at", String, nullable=False),
    Column("created_by", String, nullable=False),
    Column("expires_at", String),
    Column("revoked_at", String),
    Column("last_used_at", String),
)


class SqlTokenStore:
    """`ports.api_tokens.TokenStore` over SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, token: ApiToken, digest: str) -> None:
        row = {
            "token": token.token,
            "tenant": token.tenant,
            "digest": digest,
            "name": token.name,
            "scopes": " ".join(sorted(token.scopes)),
            "beginning": token.beginning,
            "created_at": token.created_at,
            "created_by": token.created_by,
            "expires_at": token.expires_at,
            "revoked_at": token.revoked_at,
            "last_used_at": token.last_used_at,
        }
        is_alike = (API_TOKENS.c.tenant == token.tenant) & (API_TOKENS.c.name == token.name)
        is_alive = API_TOKENS.c.revoked_at.is_(None) & (
            API_TOKENS.c.expires_at.is_(None) | (API_TOKENS.c.expires_at > token.created_at)
        )

        def work(connection: Connection) -> None:
            if connection.execute(select(API_TOKENS.c.token).where(is_alike & is_alive)).first() is not None:
                raise Conflict("token_name_taken", name=token.name)
            connection.execute(insert(API_TOKENS).values(row))

        self._database.write(work)

    def by_digest(self, digest: str) -> ApiToken | None:
        def work(connection: Connection) -> ApiToken | None:
            found = (
                connection.execute(select(API_TOKENS).where(API_TOKENS.c.digest == digest)).mappings().first()
            )
            return None if found is None else _token(found)

        return self._database.read(work, None)

    def tokens(self, tenant: str) -> tuple[ApiToken, ...]:
        def work(connection: Connection) -> tuple[ApiToken, ...]:
            wanted = select(API_TOKENS).where(API_TOKENS.c.tenant == tenant).order_by(API_TOKENS.c.token)
            return tuple(map(_token, connection.execute(wanted).mappings()))

        return self._database.read(work, ())

    def revoke(self, tenant: str, token: str, at: str) -> ApiToken:
        is_meant = (API_TOKENS.c.tenant == tenant) & (API_TOKENS.c.token == token)

        def work(connection: Connection) -> ApiToken:
            connection.execute(
                update(API_TOKENS).where(is_meant & API_TOKENS.c.revoked_at.is_(None)).values(revoked_at=at)
            )
            found = connection.execute(select(API_TOKENS).where(is_meant)).mappings().first()
            if found is None:
                raise ThingNotFound("token", token)
            return _token(found)

        return self._database.write(work)

    def touch(self, token: str, at: str) -> None:
        used = update(API_TOKENS).where(API_TOKENS.c.token == token).values(last_used_at=at)
        self._database.write(lambda connection: connection.execute(used), outlasts_power_cut=False)


def _token(row: RowMapping) -> ApiToken:
    names = frozenset(row["scopes"].split())
    return ApiToken(
        token=row["token"],
        tenant=row["tenant"],
        name=row["name"],
        scopes=frozenset(scope for scope in SCOPES if scope in names),
        beginning=row["beginning"],
        created_at=row["created_at"],
        created_by=row["created_by"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
        last_used_at=row["last_used_at"],
    )
