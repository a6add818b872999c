"""What the stores of links and of browsers' sessions promise, on both databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.links import SqlLinkStore
from corpus2skill.adapters.store.state.web_sessions import SqlWebSessionStore
from corpus2skill.domain.sign_in import LinkKind, OneTimeLink, WebSession
from corpus2skill.errors import NotFound, ThingNotFound
from corpus2skill.ports.sign_ins import LinkStore, WebSessionStore
from tests.ports.state import state as state

NOW, LATER, FAR = "2026-04-01T09:00:00.000Z", "2026-04-01T09:00:01.000Z", "2026-05-01T09:00:00.000Z"


@pytest.fixture
def links(state: Database) -> LinkStore:
    return SqlLinkStore(state)


@pytest.fixture
def sessions(state: Database) -> WebSessionStore:
    return SqlWebSessionStore(state)


def link(name: str, kind: LinkKind = "reset", tenant: str = "acme") -> OneTimeLink:
    return OneTimeLink(
        link=f"link_{name}",
        kind=kind,
        tenant=tenant,
        name="田中",
        created_at=NOW,
        created_by="system",
        expires_at=FAR,
        person="user_1",
    )


def session(name: str, person: str = "user_1", expires_at: str = FAR) -> WebSession:
    return WebSession(
        session=f"signin_{name}",
        tenant="acme",
        person=person,
        created_at=NOW,
        seen_at=NOW,
        expires_at=expires_at,
        agent="Firefox/150 日本語",
    )


@pytest.mark.requirement("S-94")
def test_new_stores_are_empty(links: LinkStore, sessions: WebSessionStore) -> None:
    """Looking makes nothing."""
    assert links.links("acme", "reset") == ()
    assert links.by_digest("reset", "a" * 64) is None
    assert sessions.sessions("user_1") == ()
    assert sessions.by_digest("a" * 64) is None


@pytest.mark.requirement("S-94")
def test_a_link_is_found_by_its_digest_kind_and_tenant(links: LinkStore) -> None:
    """Promised by the port: a reset link is no sign-in link."""
    links.add(link("b"), "b" * 64)
    links.add(link("a"), "a" * 64)
    links.add(link("c", "sign_in"), "c" * 64)
    assert links.by_digest("reset", "a" * 64) == link("a")
    assert links.by_digest("sign_in", "a" * 64) is None
    assert links.links("acme", "reset") == (link("a"), link("b"))
    assert links.links("other", "reset") == ()


@pytest.mark.requirement("S-80", "S-94")
def test_a_link_works_once_even_where_many_try_at_once(links: LinkStore) -> None:
    """Promised by the port."""
    links.add(link("a"), "a" * 64)

    def use(_: int) -> str:
        try:
            return links.use("reset", "a" * 64, LATER).link
        except NotFound as error:
            return error.code

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(use, range(4))) == ["link_a", "link_dead", "link_dead", "link_dead"]
    assert links.by_digest("reset", "a" * 64) == replace(link("a"), used_at=LATER)


@pytest.mark.requirement("S-83", "S-94")
def test_a_link_that_ran_out_or_was_revoked_or_is_of_another_kind_is_dead(links: LinkStore) -> None:
    """Promised by the port: all of them alike."""
    links.add(link("a"), "a" * 64)
    links.add(link("b"), "b" * 64)
    links.revoke("acme", "reset", "link_b", NOW)
    attempts: tuple[tuple[LinkKind, str, str], ...] = (
        ("reset", "a" * 64, FAR),
        ("reset", "b" * 64, NOW),
        ("sign_in", "a" * 64, NOW),
        ("reset", "0" * 64, NOW),
    )
    for kind, digest, now in attempts:
        with pytest.raises(NotFound, match="link_dead"):
            links.use(kind, digest, now)


@pytest.mark.requirement("S-83", "S-94")
def test_a_used_link_cannot_be_revoked_and_a_foreign_one_does_not_exist(links: LinkStore) -> None:
    """Promised by the port, and tenants are kept apart."""
    links.add(link("a"), "a" * 64)
    used = links.use("reset", "a" * 64, NOW)
    assert links.revoke("acme", "reset", "link_a", LATER) == used
    for tenant, kind, name in (
        ("other", "reset", "link_a"),
        ("acme", "invitation", "link_a"),
        ("acme", "reset", "x"),
    ):
        with pytest.raises(ThingNotFound):
            links.revoke(tenant, kind, name, LATER)  # type: ignore[arg-type]


@pytest.mark.requirement("S-86", "S-94")
def test_all_living_links_of_a_person_are_revoked_by_kind(links: LinkStore) -> None:
    """Promised by the port."""
    links.add(link("a"), "a" * 64)
    links.add(link("b", "sign_in"), "b" * 64)
    links.revoke_of("user_1", "reset", LATER)
    assert links.links("acme", "reset") == (replace(link("a"), revoked_at=LATER),)
    assert links.links("acme", "sign_in") == (link("b", "sign_in"),)


@pytest.mark.requirement("S-94")
def test_links_that_ran_out_long_ago_are_forgotten(links: LinkStore) -> None:
    """Promised by the port."""
    links.add(link("old"), "a" * 64)
    links.add(replace(link("new"), created_at="2026-07-01T09:00:00.000Z"), "b" * 64)
    assert [found.link for found in links.links("acme", "reset")] == ["link_new"]


@pytest.mark.requirement("S-81", "S-94")
def test_a_session_is_found_by_its_digest_and_its_person(sessions: WebSessionStore) -> None:
    """Promised by the port."""
    sessions.add(session("b"), "b" * 64)
    sessions.add(session("a"), "a" * 64)
    sessions.add(session("c", "user_2"), "c" * 64)
    assert sessions.by_digest("a" * 64) == session("a")
    assert sessions.sessions("user_1") == (session("a"), session("b"))


@pytest.mark.requirement("S-88", "S-94")
def test_a_session_is_used_and_looks_at_another_tenant(sessions: WebSessionStore) -> None:
    """Promised by the port."""
    sessions.add(session("a"), "a" * 64)
    sessions.touch("signin_a", LATER)
    sessions.move("signin_a", "other")
    assert sessions.by_digest("a" * 64) == replace(session("a"), seen_at=LATER, tenant="other")


@pytest.mark.requirement("S-82", "S-94")
def test_sessions_are_ended_by_their_own_person_only(sessions: WebSessionStore) -> None:
    """Promised by the port."""
    for name in "abc":
        sessions.add(session(name), name * 64)
    sessions.add(session("d", "user_2"), "d" * 64)
    with pytest.raises(ThingNotFound):
        sessions.end("user_2", "signin_a")
    sessions.end("user_1", "signin_a")
    with pytest.raises(ThingNotFound):
        sessions.end("user_1", "signin_a")
    assert sessions.end_all("user_1", but="signin_b") == 1
    assert sessions.sessions("user_1") == (session("b"),)
    assert sessions.end_all("user_1") == 1
    assert sessions.sessions("user_2") == (session("d", "user_2"),)


@pytest.mark.requirement("S-82", "S-94")
def test_sessions_that_are_over_are_forgotten(sessions: WebSessionStore) -> None:
    """Promised by the port."""
    sessions.add(session("old", expires_at="2026-03-01T09:00:00.000Z"), "a" * 64)
    sessions.add(session("new"), "b" * 64)
    assert sessions.sessions("user_1") == (session("new"),)
