"""Signing in with a name and a password, and what is done with passwords else."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

from corpus2skill.application.server.links import living_link
from corpus2skill.application.server.sign_in import begin_session
from corpus2skill.application.server.tries import Try
from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.api_token import token_digest
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.password import check_password
from corpus2skill.domain.people import Member, Person, Principal, person_name
from corpus2skill.domain.sign_in import WebSession
from corpus2skill.errors import Conflict, InvalidInput, NotFound, NotSignedIn

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """A browser that nobody is signed in with yet."""

    address: str
    agent: str


def sign_in(server: Server, name: str, password: str, visitor: Visitor) -> tuple[WebSession, str]:
    """Sign somebody in, in the first of their tenants; return the session and the secret for its cookie.

    Wrong names and wrong passwords are answered alike, after the same work.

    Raises:
        NotSignedIn: name and password do not belong together.
        TooMany: that was tried too often.
    """
    person = _proved(server, name, password, visitor)
    tenants = server.people.tenants_of(person.person) if person is not None else ()
    if not tenants:
        _log.warning("a sign-in from %s failed", visitor.address)
        raise NotSignedIn("sign_in_wrong")
    return begin_session(server, tenants[0], visitor.agent, "password")


def sign_in_by_link(server: Server, code: str, visitor: Visitor) -> tuple[WebSession, str]:
    """Use up a sign-in link.

    Raises:
        NotFound: there is no such link, or it is used, revoked or run out.
    """
    link = server.links.use("sign_in", token_digest(code), moment_of(server.clock.now()))
    member = server.people.member(link.tenant, link.person or "")
    if member is None:
        raise NotFound("link_dead")
    return begin_session(server, member, visitor.agent, "link")


def accept_invitation(
    server: Server, code: str, name: str, password: str, visitor: Visitor
) -> tuple[WebSession, str]:
    """Make a new person a member, or somebody who has a name and password here already.

    Raises:
        NotFound: there is no such invitation, or it is used, revoked or run out.
        InvalidInput: the name or the password is not as they must be.
        Conflict: the name is another's (or the password is not theirs), or they are a member already.
        TooMany: that was tried too often.
    """
    living_link(server, "invitation", code)
    name = person_name(name)
    now = moment_of(server.clock.now())
    kept: str | None = None
    person = server.people.by_name(name)
    if person is None:
        check_password(password, name)
        kept = server.passwords.hashed(password)
        person = Person(person=server.ids.new("user"), name=name, created_at=now, has_password=True)
    elif _proved(server, name, password, visitor) is None:
        raise Conflict("name_taken", name=name)
    member = Member(tenant="", person=person, role="viewer", since=now)
    link = server.people.accept(token_digest(code), now, member, kept)
    server.audit.note(
        link.tenant, person.person, "invitation.accepted", link.link, name=person.name, role=link.role
    )
    joined = server.people.member(link.tenant, person.person)
    assert joined is not None
    return begin_session(server, joined, visitor.agent, "invitation")


def change_password(server: Server, principal: Principal, current: str, new: str, address: str) -> None:
    """Change one's own password; all other browsers are signed out. Who has none gives no current one.

    Raises:
        NotAllowed: it is a program.
        InvalidInput: the current password is wrong, or the new one not as it must be.
        TooMany: that was tried too often.
    """
    person = _person(server, principal.person)
    if person.has_password:
        visitor = Visitor(address=address, agent="")
        if _proved(server, person.name, current, visitor) is None:
            raise InvalidInput("password_wrong")
    check_password(new, person.name)
    server.people.keep_password(person.person, server.passwords.hashed(new))
    server.web_sessions.end_all(person.person, but=principal.sign_in)
    _revoke_links(server, person.person)
    server.audit.note(principal.tenant, principal.actor, "password.changed", person.person, name=person.name)


def reset_password(server: Server, code: str, new: str, visitor: Visitor) -> tuple[WebSession, str]:
    """Use up a reset link: the new password holds, all browsers are signed out, and this one is signed in.

    Raises:
        NotFound: there is no such link, or it is used, revoked or run out.
        InvalidInput: the password is not as it must be; the link still works.
    """
    link = living_link(server, "reset", code)
    check_password(new, link.name)
    kept = server.passwords.hashed(new)
    server.links.use("reset", token_digest(code), moment_of(server.clock.now()))
    member = server.people.member(link.tenant, link.person or "")
    if member is None:
        raise NotFound("link_dead")
    _replace(server, member.person, kept)
    server.audit.note(
        link.tenant, member.person.person, "password.reset", member.person.person, name=link.name
    )
    return begin_session(server, member, visitor.agent, "reset")


def set_password(server: Server, member: Member, new: str, by: str) -> None:
    """Give a member a new password, as the operator does at the machine; all their browsers are signed out.

    Raises:
        InvalidInput: the password is not as it must be.
    """
    check_password(new, member.person.name)
    _replace(server, member.person, server.passwords.hashed(new))
    server.audit.note(member.tenant, by, "password.reset", member.person.person, name=member.person.name)


def add_person(server: Server, member: Member, password: str, by: str) -> None:
    """Add a new person with a password, as the operator does at the machine.

    Raises:
        InvalidInput: the password is not as it must be.
        Conflict: the name is another's.
    """
    check_password(password, member.person.name)
    newcomer = replace(member, person=replace(member.person, has_password=True))
    server.people.add(newcomer, server.passwords.hashed(password))
    server.audit.note(
        member.tenant, by, "member.added", member.person.person, name=member.person.name, role=member.role
    )


def _proved(server: Server, name: str, password: str, visitor: Visitor) -> Person | None:
    """The person of this name, where the password is theirs. Takes as long where there is no such person."""
    name = _findable(name)
    attempt = Try(name=name, address=visitor.address)
    server.tries.begin(attempt, server.clock.monotonic())
    person = server.people.by_name(name)
    kept = server.people.password(person.person if person is not None else "")
    if not server.passwords.is_right(password, kept) or person is None or kept is None:
        return None
    server.tries.succeeded(attempt)
    if server.passwords.is_outdated(kept):
        server.people.keep_password(person.person, server.passwords.hashed(password))
    return person


def _findable(name: str) -> str:
    """A name that may be looked for; empty for what can be nobody's."""
    try:
        return person_name(name)
    except InvalidInput:
        return ""


def _person(server: Server, person: str) -> Person:
    found = server.people.person(person)
    if found is None:
        raise NotSignedIn
    return found


def _replace(server: Server, person: Person, kept: str) -> None:
    server.people.keep_password(person.person, kept)
    server.web_sessions.end_all(person.person)
    _revoke_links(server, person.person)


def _revoke_links(server: Server, person: str) -> None:
    """Whoever had an older way in has it no longer."""
    now = moment_of(server.clock.now())
    server.links.revoke_of(person, "reset", now)
    server.links.revoke_of(person, "sign_in", now)
