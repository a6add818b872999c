"""What every `HostedStore` promises, over SQLite and PostgreSQL."""

from __future__ import annotations

from dataclasses import replace

import pytest

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.hosted import SqlHostedStore
from corpus2skill.domain.hosted import Asker, HostedRun, HostedSession
from corpus2skill.errors import ThingNotFound
from corpus2skill.ports.hosted import HostedStore
from tests.ports.state import state as state

TENANT = "acme"
AT = "2026-04-01T09:00:00.000Z"
LATER = "2026-04-01T10:00:00.000Z"


@pytest.fixture
def store(state: Database) -> HostedStore:
    return SqlHostedStore(state)


def session(name: str, *, actor: str = "token_1", end_user: str | None = None) -> HostedSession:
    return HostedSession(
        session=name,
        tenant=TENANT,
        corpus="terms",
        channel="text",
        actor=actor,
        end_user=end_user,
        created_at=AT,
    )


def run(name: str, of: str = "session_1", *, owner: str = "host_1") -> HostedRun:
    return HostedRun(
        run=name,
        tenant=TENANT,
        session=of,
        corpus="terms",
        channel="text",
        door="http",
        actor="token_1",
        end_user=None,
        asked_at=LATER,
        owner=owner,
        lease_until=100.0,
    )


@pytest.mark.requirement("S-61", "S-75")
def test_conversations_are_found_by_those_whose_they_are(store: HostedStore) -> None:
    """Promised by the port."""
    for number, end_user in enumerate((None, "tanaka", "sato", "tanaka")):
        store.add_session(session(f"session_{number}", end_user=end_user))
    store.add_session(session("session_9", actor="token_2"))

    def found(asker: Asker, **page: str) -> list[str]:
        return [kept.session for kept in store.sessions(asker, limit=10, **page)]

    mine = Asker(tenant=TENANT, actor="token_1")
    assert found(mine) == ["session_3", "session_2", "session_1", "session_0"]
    assert found(mine, before="session_2") == ["session_1", "session_0"]
    assert found(replace(mine, end_user="tanaka")) == ["session_3", "session_1"]
    assert found(replace(mine, tenant="other")) == []
    assert sorted(store.sessions_of(TENANT, "tanaka")) == ["session_1", "session_3"]
    assert store.sessions_of(TENANT, "token_2") == ("session_9",)
    with pytest.raises(ThingNotFound):
        store.session("other", "session_1")


@pytest.mark.requirement("S-66", "S-75")
def test_a_run_is_owned_renewed_claimed_once_and_finished(store: HostedStore) -> None:
    """Promised by the port."""
    store.add_session(session("session_1"))
    for name in ("run_1", "run_2"):
        store.add_run(run(name))
    assert store.session(TENANT, "session_1").asked_at == LATER
    store.renew("host_1", 200.0)
    assert {kept.lease_until for kept in store.unfinished()} == {200.0}
    seen = store.run(TENANT, "run_1")
    assert store.claim(seen, "host_2", 300.0)
    assert not store.claim(seen, "host_3", 300.0)
    store.renew("host_1", 250.0)
    assert store.run(TENANT, "run_1").lease_until == 300.0
    store.finish(TENANT, "run_1", LATER)
    assert [kept.run for kept in store.unfinished()] == ["run_2"]
    assert not store.claim(store.run(TENANT, "run_1"), "host_3", 300.0)
    store.drop_run(TENANT, "run_2")
    assert store.unfinished() == ()


@pytest.mark.requirement("S-64", "S-75")
def test_finished_runs_are_named_until_their_events_are_forgotten(store: HostedStore) -> None:
    """Promised by the port."""
    for name in ("run_1", "run_2"):
        store.add_run(run(name))
        store.finish(TENANT, name, AT)
    assert store.finished_before(AT, 10) == ()
    assert [kept.run for kept in store.finished_before(LATER, 1)] == ["run_1"]
    store.events_forgotten(TENANT, "run_1")
    assert [kept.run for kept in store.finished_before(LATER, 10)] == ["run_2"]
    assert store.run(TENANT, "run_1").finished_at == AT


@pytest.mark.requirement("S-67", "S-75")
def test_a_forgotten_conversation_takes_its_runs_along(store: HostedStore) -> None:
    """Promised by the port."""
    store.add_session(session("session_1"))
    for number in range(3):
        store.add_run(run(f"run_{number}"))
    assert [kept.run for kept in store.runs(TENANT, "session_1", before="run_2", limit=1)] == ["run_1"]
    store.drop_sessions("other", ("session_1",))
    assert len(store.runs(TENANT, "session_1", limit=9)) == 3
    store.drop_sessions(TENANT, ("session_1", "session_0"))
    assert store.runs(TENANT, "session_1", limit=9) == ()
    with pytest.raises(ThingNotFound):
        store.run(TENANT, "run_1")
