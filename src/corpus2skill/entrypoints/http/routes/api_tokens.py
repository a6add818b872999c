"""`/v1/api-tokens`: tokens of programs, shown once."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from corpus2skill.application.server.sign_in import new_token
from corpus2skill.domain.api_token import ApiToken
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.people import Scope
from corpus2skill.entrypoints.http.caller import Admin, TheServer
from corpus2skill.entrypoints.http.paging import Page

router = APIRouter(prefix="/api-tokens", tags=["api-tokens"])


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


class TokenRequest(BaseModel):
    name: Annotated[str, Field(min_length=1, max_length=100)]
    scopes: Annotated[list[Scope], Field(min_length=1)]


@router.get("")
def list_tokens(principal: Admin, server: TheServer) -> Page[TokenBody]:
    """All tokens of the tenant, revoked ones too."""
    return Page(data=[_body(token) for token in server.tokens.tokens(principal.tenant)])


@router.post("", status_code=201)
def create_token(wanted: TokenRequest, principal: Admin, server: TheServer) -> NewTokenBody:
    """Make a token. Its secret is in this answer and never to be had again."""
    token, secret = new_token(server, principal.tenant, wanted.name, wanted.scopes, principal.actor)
    return NewTokenBody(**_body(token).model_dump(), secret=secret)


@router.delete("/{token_id}")
def revoke_token(token_id: str, principal: Admin, server: TheServer) -> TokenBody:
    """Revoke a token at once and for good."""
    revoked = server.tokens.revoke(principal.tenant, token_id, moment_of(server.clock.now()))
    server.audit.note(principal.tenant, principal.actor, "token.revoked", token_id, name=revoked.name)
    return _body(revoked)


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
