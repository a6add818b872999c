"""What the stores of tenants and people promise, on both databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.links import SqlLinkStore
from corpus2skill.adapters.store.state.people import SqlPeopleStore
from corpus2skill.adapters.store.state.tenants import SqlTenantStore
from corpus2skill.adapters.store.state.web_sessions import SqlWebSessionStore
from corpus2skill.domain.people import Member, Person, Role, Tenant
from corpus2skill.domain.sign_in import OneTimeLink, WebSession
from corpus2skill.errors import Conflict, Corpus2SkillError, NotFound, ThingNotFound
from corpus2skill.ports.people import PeopleStore, TenantStore
from corpus2skill.ports.sign_ins import LinkStore
from tests.ports.state import state as state

NOW, LATER, FAR = "2026-04-01T09:00:00.000Z", "2026-04-01T09:00:01.000Z", "2027-04-01T09:00:00.000Z"


@pytest.fixture
def people(state: Database) -> PeopleStore:
    return SqlPeopleStore(state)


@pytest.fixture
def links(state: Database) -> LinkStore:
    return SqlLinkStore(state)


@pytest.fixture
def tenants(state: Database) -> TenantStore:
    return SqlTenantStore(state)


def member(name: str, role: Role = "viewer", tenant: str = "acme", since: str = NOW) -> Member:
    person = Person(person=f"user_{name}", name=name, created_at=NOW)
    return Member(tenant=tenant, person=person, role=role, since=since)


def invitation(name: str = "link_1", role: Role = "editor") -> OneTimeLink:
    return OneTimeLink(
        link=name,
        kind="invitation",
        tenant="acme",
        name="佐藤",
        created_at=NOW,
        created_by="user_1",
        expires_at=FAR,
        role=role,
    )


def names(people: PeopleStore, tenant: str = "acme") -> list[tuple[str, Role]]:
    return [(found.person.name, found.role) for found in people.members(tenant)]


@pytest.mark.requirement("S-94")
def test_new_stores_are_empty(people: PeopleStore, tenants: TenantStore) -> None:
    """Looking makes nothing."""
    assert tenants.tenants() == ()
    assert people.members("acme") == ()
    assert people.by_name("田中") is None
    assert people.person("user_1") is None
    assert people.password("user_1") is None
    assert not people.has_owner_with_password()


@pytest.mark.requirement("S-94")
def test_tenants_are_told_by_name_and_none_is_added_twice(tenants: TenantStore) -> None:
    """Promised by the port."""
    second = Tenant(tenant="b", created_at=NOW)
    first = Tenant(tenant="a", created_at=LATER)
    tenants.add(second)
    tenants.add(first)
    assert tenants.tenants() == (first, second)
    with pytest.raises(Conflict, match="tenant_exists"):
        tenants.add(Tenant(tenant="a", created_at=LATER))


@pytest.mark.requirement("S-94")
def test_a_person_is_found_by_name_whatever_its_case_and_width(people: PeopleStore) -> None:
    """Promised by the port: people take such names for the same."""
    people.add(member("Ｔａｎａｋａ 太郎"), None)
    found = people.by_name("tanaka　太郎")
    assert found == people.person("user_Ｔａｎａｋａ 太郎")
    assert found is not None
    assert not found.has_password
    with pytest.raises(Conflict, match="name_taken"):
        people.add(member("TANAKA 太郎", tenant="other"), None)
    assert names(people, "other") == []


@pytest.mark.requirement("S-94", "S-88")
def test_a_person_may_belong_to_several_tenants(people: PeopleStore) -> None:
    """Promised by the port, and each role is its own."""
    people.add(member("a", "owner", "z"), None)
    people.join(member("a", "viewer", "b"))
    assert [(found.tenant, found.role) for found in people.tenants_of("user_a")] == [
        ("b", "viewer"),
        ("z", "owner"),
    ]
    with pytest.raises(Conflict, match="member_already"):
        people.join(member("a", "owner", "b"))
    assert people.member("b", "user_a") == member("a", "viewer", "b")
    assert people.member("c", "user_a") is None


@pytest.mark.requirement("S-94", "S-80")
def test_the_first_owner_is_made_once(people: PeopleStore) -> None:
    """Promised by the port: under a name that is free."""
    people.add(member("owner", tenant="other"), None)

    def newcomer(number: int) -> Member:
        person = Person(person=f"user_{number}", name="owner", created_at=NOW)
        return Member(tenant="acme", person=person, role="owner", since=NOW)

    with ThreadPoolExecutor(2) as pool:
        made = set(pool.map(lambda number: people.first_owner(newcomer(number)), range(4)))
    assert [found.person.name for found in made] == ["owner 2"]
    assert names(people) == [("owner 2", "owner")]


@pytest.mark.requirement("S-94", "S-84")
def test_a_password_is_replaced_and_told_of(people: PeopleStore) -> None:
    """Promised by the port."""
    people.add(member("a", "owner"), None)
    assert not people.has_owner_with_password()
    people.keep_password("user_a", "$argon2id$1")
    people.keep_password("user_none", "$argon2id$2")
    assert people.password("user_a") == "$argon2id$1"
    assert people.has_owner_with_password()
    found = people.person("user_a")
    assert found is not None
    assert found.has_password
    assert people.password("user_none") is None


@pytest.mark.requirement("S-94")
def test_a_viewers_password_lets_no_owner_in(people: PeopleStore) -> None:
    """Promised by the port."""
    people.add(member("a"), "$argon2id$1")
    assert not people.has_owner_with_password()


@pytest.mark.requirement("S-94")
def test_the_language_of_pages_is_kept(people: PeopleStore) -> None:
    """Promised by the port."""
    people.add(member("a"), None)
    people.keep_language("user_a", "ja")
    found = people.person("user_a")
    assert found is not None
    assert found.language == "ja"


@pytest.mark.requirement("S-87", "S-94")
def test_the_last_owner_stays(people: PeopleStore) -> None:
    """Promised by the port: neither demoted nor removed; another tenant's owners do not count."""
    people.add(member("a", "owner"), None)
    people.add(member("b", "owner", "other"), None)
    with pytest.raises(Conflict, match="last_owner"):
        people.change_role("acme", "user_a", "editor")
    with pytest.raises(Conflict, match="last_owner"):
        people.remove("acme", "user_a")
    assert people.change_role("acme", "user_a", "owner").role == "owner"
    people.add(member("c", "owner"), None)
    assert people.change_role("acme", "user_a", "editor").role == "editor"
    assert names(people) == [("a", "editor"), ("c", "owner")]


@pytest.mark.requirement("S-87", "S-94")
def test_of_two_last_owners_that_are_demoted_at_once_one_stays(people: PeopleStore) -> None:
    """Promised by the port: each method is one step."""
    people.add(member("a", "owner"), None)
    people.add(member("b", "owner"), None)

    def demote(person: str) -> str:
        try:
            people.change_role("acme", person, "viewer")
        except Conflict as error:
            return error.code
        return "done"

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(demote, ("user_a", "user_b"))) == ["done", "last_owner"]
    assert sorted(role for _, role in names(people)) == ["owner", "viewer"]


@pytest.mark.requirement("S-82", "S-94")
def test_who_is_removed_is_signed_out_there_and_forgotten_when_nowhere_left(
    people: PeopleStore, links: LinkStore, state: Database
) -> None:
    """Promised by the port: password and sign-ins go with the last tenant, and the name is free again."""
    sessions = SqlWebSessionStore(state)
    people.add(member("o", "owner"), None)
    people.add(member("a"), "$argon2id$1")
    people.join(member("a", tenant="other"))
    for number, tenant in enumerate(("acme", "other")):
        session = WebSession(
            session=f"signin_{number}",
            tenant=tenant,
            person="user_a",
            created_at=NOW,
            seen_at=NOW,
            expires_at=FAR,
        )
        sessions.add(session, f"{number}" * 64)
    assert people.remove("acme", "user_a").person.name == "a"
    assert [session.tenant for session in sessions.sessions("user_a")] == ["other"]
    people.remove("other", "user_a")
    assert sessions.sessions("user_a") == ()
    assert people.person("user_a") is None
    assert people.password("user_a") is None
    people.add(member("a"), None)
    with pytest.raises(ThingNotFound):
        people.remove("other", "user_a")


@pytest.mark.requirement("S-94")
def test_another_tenants_member_is_as_one_that_does_not_exist(people: PeopleStore) -> None:
    """Issue 6: tenants are kept apart."""
    people.add(member("a", "owner"), None)
    for tenant, person in (("other", "user_a"), ("acme", "user_none")):
        with pytest.raises(ThingNotFound):
            people.change_role(tenant, person, "viewer")
        with pytest.raises(ThingNotFound):
            people.remove(tenant, person)


@pytest.mark.requirement("S-83", "S-94")
def test_an_invitation_is_accepted_into_its_own_tenant_and_role(
    people: PeopleStore, links: LinkStore
) -> None:
    """Promised by the port: whatever the newcomer says."""
    links.add(invitation(), "a" * 64)
    used = people.accept("a" * 64, LATER, member("佐藤", "owner", ""), "$argon2id$1")
    assert used.used_at == LATER
    assert names(people) == [("佐藤", "editor")]
    assert people.password("user_佐藤") == "$argon2id$1"
    with pytest.raises(NotFound, match="link_dead"):
        people.accept("a" * 64, LATER, member("鈴木"), "$argon2id$1")


@pytest.mark.requirement("S-83", "S-94")
def test_an_invitation_that_cannot_be_accepted_is_not_used_up(people: PeopleStore, links: LinkStore) -> None:
    """Promised by the port: a taken name, somebody who is a member already."""
    people.add(member("田中", tenant="other"), None)
    people.add(member("鈴木"), None)
    links.add(invitation(), "a" * 64)
    with pytest.raises(Conflict, match="name_taken"):
        people.accept("a" * 64, LATER, member("田中"), "$argon2id$1")
    with pytest.raises(Conflict, match="member_already"):
        people.accept("a" * 64, LATER, member("鈴木"), None)
    people.accept("a" * 64, LATER, member("田中"), None)
    assert sorted(names(people)) == [("田中", "editor"), ("鈴木", "viewer")]


@pytest.mark.requirement("S-83", "S-94")
def test_of_two_who_accept_one_invitation_one_becomes_a_member(people: PeopleStore, links: LinkStore) -> None:
    """Promised by the port: each method is one step."""
    links.add(invitation(), "a" * 64)

    def accept(name: str) -> str:
        try:
            people.accept("a" * 64, LATER, member(name), "$argon2id$1")
        except Corpus2SkillError as error:
            return error.code
        return "done"

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(accept, ("x", "y"))) == ["done", "link_dead"]
    assert len(names(people)) == 1
