"""`/v1/invitations`: links that make somebody a member."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel

from corpus2skill.application.server import links
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.people import Role
from corpus2skill.domain.sign_in import OneTimeLink
from corpus2skill.entrypoints.http.addresses import absolute
from corpus2skill.entrypoints.http.bodies import RequestBody
from corpus2skill.entrypoints.http.caller import Admin, TheServer
from corpus2skill.entrypoints.http.idempotency import IdempotentRoute
from corpus2skill.entrypoints.http.ids import Id, Name
from corpus2skill.entrypoints.http.paging import Page

router = APIRouter(prefix="/invitations", tags=["people"], route_class=IdempotentRoute)

State = Literal["open", "accepted", "revoked", "expired"]


class InvitationBody(BaseModel):
    invitation_id: str
    name: str
    """Whom it is for; they may choose another name."""
    role: Role
    state: State
    created_at: str
    created_by: str
    expires_at: str
    accepted_at: str | None
    revoked_at: str | None


class NewInvitationBody(InvitationBody):
    url: str
    """Shown here and never again; hand it to the person. No mail is sent."""


class InvitationRequest(RequestBody):
    name: Name
    role: Role


@router.get("")
def list_invitations(principal: Admin, server: TheServer) -> Page[InvitationBody]:
    """All invitations, oldest first, until a month after they ran out."""
    now = moment_of(server.clock.now())
    return Page(data=[_body(link, now) for link in server.links.links(principal.tenant, "invitation")])


@router.post("", status_code=201)
def create_invitation(
    wanted: InvitationRequest, request: Request, principal: Admin, server: TheServer
) -> NewInvitationBody:
    """Invite somebody. The link works once, for seven days."""
    link, path = links.invite(server, principal.tenant, wanted.name, wanted.role, principal.actor)
    shown = _body(link, link.created_at)
    return NewInvitationBody(**shown.model_dump(), url=absolute(request, path))


@router.delete("/{invitation_id}")
def revoke_invitation(invitation_id: Id, principal: Admin, server: TheServer) -> InvitationBody:
    """Revoke an invitation at once; one that was accepted stays as it is."""
    link = links.revoke_invitation(server, principal.tenant, invitation_id, principal.actor)
    return _body(link, moment_of(server.clock.now()))


def _body(link: OneTimeLink, now: str) -> InvitationBody:
    assert link.role is not None
    return InvitationBody(
        invitation_id=link.link,
        name=link.name,
        role=link.role,
        state=_state(link, now),
        created_at=link.created_at,
        created_by=link.created_by,
        expires_at=link.expires_at,
        accepted_at=link.used_at,
        revoked_at=link.revoked_at,
    )


def _state(link: OneTimeLink, now: str) -> State:
    if link.used_at is not None:
        return "accepted"
    if link.revoked_at is not None:
        return "revoked"
    return "open" if link.is_alive(now) else "expired"
