"""People and where they belong, in the server's database."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    RowMapping,
    String,
    Table,
    Text,
    delete,
    func,
    insert,
    select,
    update,
)

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.links import LINKS, use_up
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.adapters.store.state.web_sessions import WEB_SESSIONS
from corpus2skill.domain.people import Member, Person, Role, name_key
from corpus2skill.domain.sign_in import OneTimeLink
from corpus2skill.errors import Conflict, ThingNotFound

PEOPLE = Table(
    "people",  # the server's own: one may belong to several tenants
    METADATA,
    Column("person", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("name_key", String, nullable=False, unique=True),
    Column("password", Text),
    Column("language", String(2)),
    Column("created_at", String, nullable=False),
)
MEMBERS = Table(
    "members",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("person", String, primary_key=True, index=True),
    Column("role", String, nullable=False),
    Column("since", String, nullable=False),
)
_JOINED = select(PEOPLE, MEMBERS.c.tenant, MEMBERS.c.role, MEMBERS.c.since).join_from(
    MEMBERS, PEOPLE, MEMBERS.c.person == PEOPLE.c.person
)


class SqlPeopleStore:
    """`ports.people.PeopleStore` over SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def by_name(self, name: str) -> Person | None:
        return self._one(PEOPLE.c.name_key == name_key(name))

    def person(self, person: str) -> Person | None:
        return self._one(PEOPLE.c.person == person)

    def _one(self, is_meant: ColumnElement[bool]) -> Person | None:
        def work(connection: Connection) -> Person | None:
            found = connection.execute(select(PEOPLE).where(is_meant)).mappings().first()
            return None if found is None else _person(found)

        return self._database.read(work, None)

    def member(self, tenant: str, person: str) -> Member | None:
        found = self._members(_is_member(tenant, person))
        return found[0] if found else None

    def members(self, tenant: str) -> tuple[Member, ...]:
        return self._members(MEMBERS.c.tenant == tenant)

    def tenants_of(self, person: str) -> tuple[Member, ...]:
        found = self._members(MEMBERS.c.person == person)
        return tuple(sorted(found, key=lambda member: member.tenant))

    def _members(self, is_meant: ColumnElement[bool]) -> tuple[Member, ...]:
        return self._database.read(lambda connection: _members(connection, is_meant), ())

    def first_owner(self, newcomer: Member) -> Member:
        def work(connection: Connection) -> Member:
            owners = _members(connection, (MEMBERS.c.tenant == newcomer.tenant) & (MEMBERS.c.role == "owner"))
            if owners:
                return owners[0]
            named = replace(newcomer, person=_with_free_name(connection, newcomer.person))
            _add(connection, named, None)
            return named

        return self._database.write(work)

    def add(self, newcomer: Member, password: str | None) -> None:
        self._database.write(lambda connection: _add(connection, newcomer, password))

    def join(self, member: Member) -> None:
        self._database.write(lambda connection: _join(connection, member))

    def accept(self, digest: str, now: str, member: Member, password: str | None) -> OneTimeLink:
        def work(connection: Connection) -> OneTimeLink:
            link = use_up(connection, "invitation", digest, now)
            invited = replace(member, tenant=link.tenant, role=cast("Role", link.role))
            if password is None:
                _join(connection, invited)
            else:
                _add(connection, invited, password)
            return link

        return self._database.write(work)

    def change_role(self, tenant: str, person: str, role: Role) -> Member:
        def work(connection: Connection) -> Member:
            member = _needed(connection, tenant, person)
            if role != "owner":
                _keep_an_owner(connection, member)
            connection.execute(update(MEMBERS).where(_is_member(tenant, person)).values(role=role))
            return replace(member, role=role)

        return self._database.write(work)

    def remove(self, tenant: str, person: str) -> Member:
        def work(connection: Connection) -> Member:
            member = _needed(connection, tenant, person)
            _keep_an_owner(connection, member)
            connection.execute(delete(MEMBERS).where(_is_member(tenant, person)))
            of_person = WEB_SESSIONS.c.person == person
            connection.execute(delete(WEB_SESSIONS).where(of_person, WEB_SESSIONS.c.tenant == tenant))
            if not _members(connection, MEMBERS.c.person == person):
                connection.execute(delete(WEB_SESSIONS).where(of_person))
                connection.execute(delete(LINKS).where(LINKS.c.person == person))
                connection.execute(delete(PEOPLE).where(PEOPLE.c.person == person))
            return member

        return self._database.write(work)

    def password(self, person: str) -> str | None:
        wanted = select(PEOPLE.c.password).where(PEOPLE.c.person == person)
        return self._database.read(lambda connection: connection.scalar(wanted), None)

    def keep_password(self, person: str, password: str) -> None:
        kept = update(PEOPLE).where(PEOPLE.c.person == person).values(password=password)
        self._database.write(lambda connection: connection.execute(kept))

    def keep_language(self, person: str, language: str | None) -> None:
        kept = update(PEOPLE).where(PEOPLE.c.person == person).values(language=language)
        self._database.write(lambda connection: connection.execute(kept))

    def has_owner_with_password(self) -> bool:
        is_meant = (MEMBERS.c.role == "owner") & PEOPLE.c.password.is_not(None)
        return bool(self._members(is_meant))


def _members(connection: Connection, is_meant: ColumnElement[bool]) -> tuple[Member, ...]:
    wanted = _JOINED.where(is_meant).order_by(MEMBERS.c.since, MEMBERS.c.person)
    return tuple(map(_member, connection.execute(wanted).mappings()))


def _needed(connection: Connection, tenant: str, person: str) -> Member:
    found = _members(connection, _is_member(tenant, person))
    if not found:
        raise ThingNotFound("person", person)
    return found[0]


def _keep_an_owner(connection: Connection, member: Member) -> None:
    """Raises: Conflict: without `member` there would be none."""
    if member.role != "owner":
        return
    owners = (MEMBERS.c.tenant == member.tenant) & (MEMBERS.c.role == "owner")
    if connection.scalar(select(func.count()).select_from(MEMBERS).where(owners)) == 1:
        raise Conflict("last_owner", name=member.person.name, tenant=member.tenant)


def _add(connection: Connection, member: Member, password: str | None) -> None:
    person = member.person
    if _is_taken(connection, person.name):
        raise Conflict("name_taken", name=person.name)
    row = {
        "person": person.person,
        "name": person.name,
        "name_key": name_key(person.name),
        "password": password,
        "language": person.language,
        "created_at": person.created_at,
    }
    connection.execute(insert(PEOPLE).values(row))
    _join(connection, member)


def _join(connection: Connection, member: Member) -> None:
    person = member.person
    if _members(connection, _is_member(member.tenant, person.person)):
        raise Conflict("member_already", name=person.name, tenant=member.tenant)
    row = {"tenant": member.tenant, "person": person.person, "role": member.role, "since": member.since}
    connection.execute(insert(MEMBERS).values(row))


def _with_free_name(connection: Connection, person: Person) -> Person:
    name, number = person.name, 1
    while _is_taken(connection, name):
        number += 1
        name = f"{person.name} {number}"
    return replace(person, name=name)


def _is_taken(connection: Connection, name: str) -> bool:
    wanted = select(PEOPLE.c.person).where(PEOPLE.c.name_key == name_key(name))
    return connection.execute(wanted).first() is not None


def _is_member(tenant: str, person: str) -> ColumnElement[bool]:
    return (MEMBERS.c.tenant == tenant) & (MEMBERS.c.person == person)


def _person(row: RowMapping) -> Person:
    return Person(
        person=row["person"],
        name=row["name"],
        created_at=row["created_at"],
        language=row["language"],
        has_password=row["password"] is not None,
    )


def _member(row: RowMapping) -> Member:
    return Member(tenant=row["tenant"], person=_person(row), role=row["role"], since=row["since"])
