"""`/v1/sign-ins`: the browsers in which a person is signed in."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from corpus2skill.application.server import sign_ins
from corpus2skill.domain.people import Principal
from corpus2skill.domain.sign_in import WebSession
from corpus2skill.entrypoints.http.caller import Caller, TheServer
from corpus2skill.entrypoints.http.ids import Id
from corpus2skill.entrypoints.http.paging import Page

router = APIRouter(prefix="/sign-ins", tags=["people"])


class SignInBody(BaseModel):
    sign_in_id: str
    tenant: str
    """The one that the browser looks at."""
    is_this: bool
    """True for the browser that asks."""
    agent: str
    """What the browser calls itself."""
    created_at: str
    seen_at: str
    """To the minute."""
    expires_at: str
    """When it ends, however much it is used."""


class EndedBody(BaseModel):
    ended: int
    """How many browsers were signed out."""


@router.get("")
def list_sign_ins(principal: Caller, server: TheServer) -> Page[SignInBody]:
    """One's own browsers, oldest first. Not for API tokens (403)."""
    return Page(data=[_body(session, principal) for session in sign_ins.list_own(server, principal)])


@router.delete("/{sign_in_id}", status_code=204, response_class=Response)
def end_sign_in(sign_in_id: Id, principal: Caller, server: TheServer) -> None:
    """Sign a browser of one's own out, this one or another."""
    sign_ins.end(server, principal, sign_in_id)


@router.delete("")
def end_sign_ins(
    principal: Caller,
    server: TheServer,
    others: Annotated[bool, Query(description="Leave the browser that asks signed in.")] = False,
) -> EndedBody:
    """Sign out everywhere."""
    return EndedBody(ended=sign_ins.end_all(server, principal, is_this_kept=others))


def _body(session: WebSession, principal: Principal) -> SignInBody:
    return SignInBody(
        sign_in_id=session.session,
        tenant=session.tenant,
        is_this=session.session == principal.sign_in,
        agent=session.agent,
        created_at=session.created_at,
        seen_at=session.seen_at,
        expires_at=session.expires_at,
    )
