"""`/v1/me`: who am I?"""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from corpus2skill.application.server import members
from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.language import Language
from corpus2skill.domain.people import Principal, Role, Scope
from corpus2skill.entrypoints.http.caller import Caller, TheServer
from corpus2skill.entrypoints.http.ids import Name

router = APIRouter(prefix="/me", tags=["me"])


class MembershipBody(BaseModel):
    tenant: str
    role: Role


class PersonBody(BaseModel):
    """Somebody who is signed in, with all that is theirs whichever tenant they look at."""

    person_id: str
    language: Language | None
    """Of their pages; null: as the browser says."""
    has_password: bool
    tenants: list[MembershipBody]


class MeBody(BaseModel):
    tenant: str
    actor: str
    name: str
    scopes: list[Scope]
    sign_in_id: str | None
    """Of this browser's sign-in; null for an API token."""
    person: PersonBody | None
    """Null for an API token."""


class TenantChoice(BaseModel):
    tenant: Name


class LanguageChoice(BaseModel):
    language: Language | None
    """Null: as the browser says."""


@router.get("")
def show_me(principal: Caller, server: TheServer) -> MeBody:
    """The one whose token or sign-in this is, and what they may do."""
    return _body(server, principal)


@router.put("/tenant")
def choose_tenant(wanted: TenantChoice, principal: Caller, server: TheServer) -> MembershipBody:
    """Have this browser look at another tenant of its person, from the next request on."""
    member = members.choose_tenant(server, principal, wanted.tenant)
    return MembershipBody(tenant=member.tenant, role=member.role)


@router.put("/language")
def choose_language(wanted: LanguageChoice, principal: Caller, server: TheServer) -> MeBody:
    """Choose the language of one's pages."""
    members.choose_language(server, principal, wanted.language)
    return _body(server, principal)


def _body(server: Server, principal: Principal) -> MeBody:
    return MeBody(
        tenant=principal.tenant,
        actor=principal.actor,
        name=principal.name,
        scopes=sorted(principal.scopes),
        sign_in_id=principal.sign_in,
        person=None if principal.sign_in is None else _person(server, principal.person),
    )


def _person(server: Server, person: str) -> PersonBody | None:
    found = server.people.person(person)
    if found is None:
        return None
    return PersonBody(
        person_id=found.person,
        language=found.language,
        has_password=found.has_password,
        tenants=[
            MembershipBody(tenant=member.tenant, role=member.role)
            for member in server.people.tenants_of(person)
        ],
    )
