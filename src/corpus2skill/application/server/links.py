"""Links that work once: to sign in, to become a member, to choose a new password."""

from __future__ import annotations

import secrets
from datetime import timedelta

from corpus2skill.application.server_wiring import Server
from corpus2skill.application.wiring import TENANT
from corpus2skill.domain.api_token import token_digest
from corpus2skill.domain.audit import SYSTEM
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.people import Member, Person, Role, person_name
from corpus2skill.domain.sign_in import LINK_SECONDS, LinkKind, OneTimeLink
from corpus2skill.errors import InvalidInput, NotAllowed, NotFound, ThingNotFound
from corpus2skill.settings import ServerSettings

_PATHS: dict[LinkKind, str] = {
    "sign_in": "/sign-in?code={code}",
    "invitation": "/invitation/{code}",
    "reset": "/reset/{code}",
}
_EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 - what stands for all addresses is no address to go to
_FIRST_OWNER = "owner"


def link_path(kind: LinkKind, code: str) -> str:
    """Where a link leads, below the server's own address."""
    return _PATHS[kind].format(code=code)


def own_address(settings: ServerSettings) -> str:
    """The address under which a browser on this machine, or at the first public name, finds the server."""
    name = settings.public_hosts[0] if settings.public_hosts else settings.host
    if name in _EVERYWHERE:
        name = "127.0.0.1"
    if ":" in name and not name.startswith("["):
        name = f"[{name}]"
    return f"http://{name}:{settings.port}{settings.root_path}"


def owner_of(server: Server, tenant: str) -> Member:
    """The first owner of a tenant; of the local one made here where there is none.

    Raises:
        ThingNotFound: another tenant has none yet.
    """
    if tenant == TENANT:
        return _first_owner(server)
    owners = [member for member in server.people.members(tenant) if member.role == "owner"]
    if not owners:
        raise ThingNotFound("owner", tenant)
    return owners[0]


def _first_owner(server: Server) -> Member:
    now = moment_of(server.clock.now())
    person = Person(person=server.ids.new("user"), name=_FIRST_OWNER, created_at=now)
    return server.people.first_owner(Member(tenant=TENANT, person=person, role="owner", since=now))


def check_accounts(server: Server) -> None:
    """What must be there before others than this machine can reach the server.

    Raises:
        InvalidInput: no owner has a password.
    """
    if not server.people.has_owner_with_password():
        raise InvalidInput("accounts_needed", host=server.server_settings.host)


def first_sign_in_link(server: Server) -> str | None:
    """The path of a link for the local owner; None once an owner has a password and needs none."""
    if server.people.has_owner_with_password():
        return None
    _, path = sign_in_link(server, _first_owner(server), SYSTEM)
    return path


def sign_in_link(server: Server, member: Member, by: str) -> tuple[OneTimeLink, str]:
    """Make a link that signs a member in; return it with its path. Those before it work no longer."""
    person = member.person
    server.links.revoke_of(person.person, "sign_in", moment_of(server.clock.now()))
    link, code = _new(server, "sign_in", member.tenant, person.name, by, person=person.person)
    server.audit.note(
        member.tenant, by, "sign_in_link.created", person.person, name=person.name, link=link.link
    )
    return link, link_path("sign_in", code)


def invite(server: Server, tenant: str, name: str, role: Role, by: str) -> tuple[OneTimeLink, str]:
    """Make an invitation and return it with the path of its link, which is never to be had again.

    Raises:
        InvalidInput: that can be nobody's name.
    """
    link, code = _new(server, "invitation", tenant, person_name(name), by, role=role)
    server.audit.note(tenant, by, "invitation.created", link.link, name=link.name, role=role)
    return link, link_path("invitation", code)


def revoke_invitation(server: Server, tenant: str, link: str, by: str) -> OneTimeLink:
    """Raises: ThingNotFound: the tenant has no such invitation."""
    now = moment_of(server.clock.now())
    revoked = server.links.revoke(tenant, "invitation", link, now)
    if revoked.revoked_at == now:
        server.audit.note(tenant, by, "invitation.revoked", link, name=revoked.name)
    return revoked


def reset_link(server: Server, member: Member, by: str) -> tuple[OneTimeLink, str]:
    """Make a link under which a member chooses a new password; those before it work no longer."""
    person = member.person
    server.links.revoke_of(person.person, "reset", moment_of(server.clock.now()))
    link, code = _new(server, "reset", member.tenant, person.name, by, person=person.person)
    server.audit.note(
        member.tenant, by, "reset_link.created", person.person, name=person.name, link=link.link
    )
    return link, link_path("reset", code)


def check_is_only_here(server: Server, member: Member) -> None:
    """An owner may not come into another tenant by way of somebody who belongs to both.

    Raises:
        NotAllowed: the member belongs to other tenants, too.
    """
    if len(server.people.tenants_of(member.person.person)) > 1:
        raise NotAllowed("member_elsewhere", name=member.person.name)


def living_link(server: Server, kind: LinkKind, code: str) -> OneTimeLink:
    """Look at a link without using it.

    Raises:
        NotFound: there is no such link, or it is used, revoked or run out.
    """
    link = server.links.by_digest(kind, token_digest(code))
    if link is None or not link.is_alive(moment_of(server.clock.now())):
        raise NotFound("link_dead")
    return link


def _new(
    server: Server,
    kind: LinkKind,
    tenant: str,
    name: str,
    by: str,
    *,
    person: str | None = None,
    role: Role | None = None,
) -> tuple[OneTimeLink, str]:
    code = secrets.token_urlsafe(32)
    now = server.clock.now()
    link = OneTimeLink(
        link=server.ids.new("link"),
        kind=kind,
        tenant=tenant,
        name=name,
        created_at=moment_of(now),
        created_by=by,
        expires_at=moment_of(now + timedelta(seconds=LINK_SECONDS[kind])),
        person=person,
        role=role,
    )
    server.links.add(link, token_digest(code))
    return link, code
