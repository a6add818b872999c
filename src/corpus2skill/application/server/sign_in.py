"""Who is asking: the bearer of a token."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.api_token import TOKEN_PREFIX, ApiToken, token_digest
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.people import Principal, Scope
from corpus2skill.errors import NotSignedIn

_BEGINNING = len(TOKEN_PREFIX) + 4


def bearer(server: Server, secret: str) -> Principal:
    """Return the one who holds this token.

    Raises:
        NotSignedIn: there is no such token, or it was revoked or has run out.
    """
    token = server.tokens.by_digest(token_digest(secret))
    now = moment_of(server.clock.now())
    if (
        token is None
        or token.revoked_at is not None
        or (token.expires_at is not None and token.expires_at <= now)
    ):
        raise NotSignedIn
    return Principal(tenant=token.tenant, actor=token.token, name=token.name, scopes=token.scopes)


def new_token(
    server: Server, tenant: str, name: str, scopes: Iterable[Scope], by: str, expires_at: str | None = None
) -> tuple[ApiToken, str]:
    """Make a token and return it with its secret, which is never to be had again."""
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    token = ApiToken(
        token=server.ids.new("token"),
        tenant=tenant,
        name=name,
        scopes=frozenset(scopes),
        beginning=secret[:_BEGINNING],
        created_at=moment_of(server.clock.now()),
        created_by=by,
        expires_at=expires_at,
    )
    server.tokens.add(token, token_digest(secret))
    server.audit.note(tenant, by, "token.created", token.token, name=name, scopes=" ".join(sorted(scopes)))
    return token, secret
