"""`/v1/members`: the people of a tenant."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel

from corpus2skill.application.server import links, members
from corpus2skill.domain.people import Member, Role
from corpus2skill.entrypoints.http.addresses import absolute
from corpus2skill.entrypoints.http.bodies import RequestBody
from corpus2skill.entrypoints.http.caller import Admin, TheServer
from corpus2skill.entrypoints.http.idempotency import IdempotentRoute
from corpus2skill.entrypoints.http.ids import Id
from corpus2skill.entrypoints.http.paging import Page

router = APIRouter(prefix="/members", tags=["people"], route_class=IdempotentRoute)


class MemberBody(BaseModel):
    person_id: str
    name: str
    role: Role
    since: str
    has_password: bool


class RoleChoice(RequestBody):
    role: Role


class ResetLinkBody(BaseModel):
    url: str
    """Shown here and never again; hand it to the person."""
    expires_at: str


@router.get("")
def list_members(principal: Admin, server: TheServer) -> Page[MemberBody]:
    """All people of the tenant, oldest first."""
    return Page(data=[_body(member) for member in server.people.members(principal.tenant)])


@router.patch("/{person_id}")
def change_role(person_id: Id, wanted: RoleChoice, principal: Admin, server: TheServer) -> MemberBody:
    """Give a member another role. The last owner stays one (409)."""
    return _body(members.change_role(server, principal.tenant, person_id, wanted.role, principal.actor))


@router.delete("/{person_id}")
def remove_member(person_id: Id, principal: Admin, server: TheServer) -> MemberBody:
    """Take a member out; their browsers are signed out of the tenant at once. The last owner stays (409).

    API tokens belong to the tenant and outlast whoever made them: `/v1/api-tokens` says who that was.
    """
    return _body(members.remove(server, principal.tenant, person_id, principal.actor))


@router.post("/{person_id}/reset-link", status_code=201)
def create_reset_link(person_id: Id, request: Request, principal: Admin, server: TheServer) -> ResetLinkBody:
    """Make a link under which a member chooses a new password; no mail is sent.

    Refused (403) for somebody who belongs to other tenants, too: the operator does it at the machine.
    """
    member = members.member_of(server, principal.tenant, person_id)
    links.check_is_only_here(server, member)
    link, path = links.reset_link(server, member, principal.actor)
    return ResetLinkBody(url=absolute(request, path), expires_at=link.expires_at)


def _body(member: Member) -> MemberBody:
    return MemberBody(
        person_id=member.person.person,
        name=member.person.name,
        role=member.role,
        since=member.since,
        has_password=member.person.has_password,
    )
