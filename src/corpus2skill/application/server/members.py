"""Tenants, and who belongs to them."""

from __future__ import annotations

from dataclasses import dataclass

from corpus2skill.application.server_wiring import Server
from corpus2skill.application.wiring import TENANT, TENANTS
from corpus2skill.domain.ids import CORPUS_LIMIT, is_corpus_name
from corpus2skill.domain.language import Language
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.people import Member, Person, Principal, Role, Tenant, person_name
from corpus2skill.errors import Conflict, InvalidInput, ThingNotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantLine:
    """One tenant in a list."""

    tenant: str
    created_at: str | None
    """None for the local one, which always is there."""
    members: int


def list_tenants(server: Server) -> tuple[TenantLine, ...]:
    """The local tenant first, then those that were added, by name."""
    local = TenantLine(tenant=TENANT, created_at=None, members=len(server.people.members(TENANT)))
    added = (
        TenantLine(
            tenant=tenant.tenant,
            created_at=tenant.created_at,
            members=len(server.people.members(tenant.tenant)),
        )
        for tenant in server.tenants.tenants()
    )
    return (local, *added)


def add_tenant(server: Server, name: str, by: str) -> Tenant:
    """Add a tenant. Its owners are added or invited next.

    Raises:
        InvalidInput: that can be no tenant's name.
        Conflict: there is one of this name.
    """
    if not is_corpus_name(name):
        raise InvalidInput("tenant_name", name=name, most=CORPUS_LIMIT)
    if name in TENANTS:
        raise Conflict("tenant_exists", tenant=name)
    tenant = Tenant(tenant=name, created_at=moment_of(server.clock.now()))
    server.tenants.add(tenant)
    server.audit.note(name, by, "tenant.added", name)
    return tenant


def known_tenant(server: Server, name: str) -> str:
    """Raises: ThingNotFound: there is no such tenant."""
    if name != TENANT and all(tenant.tenant != name for tenant in server.tenants.tenants()):
        raise ThingNotFound("tenant", name)
    return name


def member_of(server: Server, tenant: str, person: str) -> Member:
    """Raises: ThingNotFound: the tenant has no such member."""
    member = server.people.member(tenant, person)
    if member is None:
        raise ThingNotFound("person", person)
    return member


def member_named(server: Server, tenant: str, name: str) -> Member:
    """The member of this name, or of this id.

    Raises:
        ThingNotFound: the tenant has no such member.
    """
    person = server.people.by_name(name) or server.people.person(name)
    member = None if person is None else server.people.member(tenant, person.person)
    if member is None:
        raise ThingNotFound("person", name)
    return member


def newcomer(server: Server, tenant: str, name: str, role: Role) -> Member:
    """Somebody who is to become a member, as yet nowhere kept.

    Raises:
        InvalidInput: that can be nobody's name.
    """
    now = moment_of(server.clock.now())
    person = Person(person=server.ids.new("user"), name=person_name(name), created_at=now)
    return Member(tenant=tenant, person=person, role=role, since=now)


def join(server: Server, tenant: str, person: Person, role: Role, by: str) -> None:
    """Make somebody who is known here a member of another tenant, as the operator does at the machine.

    Raises:
        Conflict: they are a member of it.
    """
    since = moment_of(server.clock.now())
    server.people.join(Member(tenant=tenant, person=person, role=role, since=since))
    server.audit.note(tenant, by, "member.added", person.person, name=person.name, role=role)


def change_role(server: Server, tenant: str, person: str, role: Role, by: str) -> Member:
    """Raises: ThingNotFound: no such member. Conflict: it is the last owner."""
    before = member_of(server, tenant, person)
    changed = server.people.change_role(tenant, person, role)
    if before.role != role:
        server.audit.note(
            tenant,
            by,
            "member.role_changed",
            person,
            name=changed.person.name,
            before=before.role,
            after=role,
        )
    return changed


def remove(server: Server, tenant: str, person: str, by: str) -> Member:
    """Take a member out; their browsers are signed out of the tenant at once.

    Raises:
        ThingNotFound: no such member.
        Conflict: it is the last owner.
    """
    removed = server.people.remove(tenant, person)
    server.audit.note(tenant, by, "member.removed", person, name=removed.person.name, role=removed.role)
    return removed


def choose_tenant(server: Server, principal: Principal, tenant: str) -> Member:
    """Have a browser look at another of its person's tenants.

    Raises:
        NotAllowed: it is a program.
        ThingNotFound: the person belongs to no such tenant.
    """
    member = server.people.member(tenant, principal.person)
    if member is None or principal.sign_in is None:
        raise ThingNotFound("tenant", tenant)
    server.web_sessions.move(principal.sign_in, tenant)
    return member


def choose_language(server: Server, principal: Principal, language: Language | None) -> None:
    """Raises: NotAllowed: it is a program."""
    server.people.keep_language(principal.person, language)
