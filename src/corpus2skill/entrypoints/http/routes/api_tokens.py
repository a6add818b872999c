"""`/v1/api-tokens`: tokens of programs, shown once."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from corpus2skill.application.server import sign_in
from corpus2skill.application.show_records import moment
from corpus2skill.domain.api_token import ApiToken
from corpus2skill.domain.people import Scope
from corpus2skill.entrypoints.http.bodies import RequestBody
from corpus2skill.entrypoints.http.caller import Admin, TheServer
from corpus2skill.entrypoints.http.idempotency import IdempotentRoute
from corpus2skill.entrypoints.http.ids import Id, Name
from corpus2skill.entrypoints.http.paging import Page

router = APIRouter(prefix="/api-tokens", tags=["api-tokens"], route_class=IdempotentRoute)


class TokenBody(BaseModel):
    token_id: str
    name: str
    scopes: list[Scope]
    beginning: str
    created_at: str
    created_by: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None


class NewTokenBody(TokenBody):
    secret: str
    """Shown here and never again."""


class TokenRequest(RequestBody):
    name: Name
    """No other token in use has it."""
    scopes: Annotated[list[Scope], Field(min_length=1)]
    """None that the one who asks does not have."""
    expires_at: Annotated[str, Field(max_length=100, examples=["2027-04-01T00:00:00+09:00"])] | None = None
    """A date or time, RFC 3339; null: never."""


@router.get("")
def list_tokens(principal: Admin, server: TheServer) -> Page[TokenBody]:
    """All tokens of the tenant, revoked ones too."""
    return Page(data=[_body(token) for token in server.tokens.tokens(principal.tenant)])


@router.post("", status_code=201)
def create_token(wanted: TokenRequest, principal: Admin, server: TheServer) -> NewTokenBody:
    """Make a token. Its secret is in this answer and never to be had again."""
    sign_in.check_own(principal, wanted.scopes)
    expires_at = None if wanted.expires_at is None else moment(wanted.expires_at)
    token, secret = sign_in.new_token(
        server, principal.tenant, wanted.name, wanted.scopes, principal.actor, expires_at
    )
    return NewTokenBody(**_body(token).model_dump(), secret=secret)


@router.delete("/{token_id}")
def revoke_token(token_id: Id, principal: Admin, server: TheServer) -> TokenBody:
    """Revoke a token at once and for good."""
    return _body(sign_in.revoke_token(server, principal.tenant, token_id, principal.actor))


def _body(token: ApiToken) -> TokenBody:
    return TokenBody(
        token_id=token.token,
        name=token.name,
        scopes=sorted(token.scopes),
        beginning=token.beginning,
        created_at=token.created_at,
        created_by=token.created_by,
        expires_at=token.expires_at,
        revoked_at=token.revoked_at,
        last_used_at=token.last_used_at,
    )
