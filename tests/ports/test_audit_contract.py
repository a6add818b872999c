"""What the operators' log promises, on both databases."""

from __future__ import annotations

import pytest
from sqlalchemy import Delete, Update, delete, update

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.audit import AUDIT_EVENTS, SqlAuditLog
from corpus2skill.domain.audit import AuditFilter
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.ports.audit import AuditLog
from tests.fakes.clock import FakeClock, FakeIds
from tests.ports.state import clock as clock
from tests.ports.state import ids as ids
from tests.ports.state import state as state


@pytest.fixture
def log(state: Database, clock: FakeClock, ids: FakeIds) -> AuditLog:
    return SqlAuditLog(state, clock, ids)


def test_a_new_log_is_empty(log: AuditLog) -> None:
    """Looking makes nothing."""
    assert log.events("acme") == ()


def test_what_was_noted_is_told_newest_first(log: AuditLog, clock: FakeClock) -> None:
    """Promised by the port."""
    first = log.note("acme", "user_1", "token.created", "token_1", name="チャット\0", uses=3, price=None)
    clock.advance(1.5)
    second = log.note("acme", "user_1", "token.revoked", "token_1")
    assert log.events("acme") == (second, first)
    assert first.values == (("name", "チャット\0"), ("price", None), ("uses", 3))
    assert second.at == "2026-04-01T09:00:01.500Z"


def test_pages_meet_without_gap_or_overlap(log: AuditLog) -> None:
    """Promised by the port: `before` is the id of the oldest one seen."""
    noted = [log.note("acme", "system", "retention.run", f"{number}") for number in range(7)]
    seen = list(log.events("acme", limit=3))
    while page := log.events("acme", before=seen[-1].event, limit=3):
        seen += page
    assert seen == noted[::-1]


def test_tenants_see_their_own_events_only(log: AuditLog) -> None:
    """Issue 6: tenants are kept apart."""
    mine = log.note("acme", "user_1", "token.created", "token_1")
    log.note("other", "user_2", "token.created", "token_2")
    assert log.events("acme") == (mine,)


@pytest.mark.requirement("S-90")
def test_events_are_found_by_what_who_and_when(log: AuditLog, clock: FakeClock) -> None:
    """Promised by the port: an action with a dot at its end means all that begin with it, and nothing else does."""
    made = log.note("acme", "user_1", "token.created", "token_1")
    clock.advance(10)
    gone = log.note("acme", "user_2", "token.revoked", "token_1")
    other = log.note("acme", "user_1", "tokenXcreated", "token_2")
    assert log.events("acme", which=AuditFilter(action="token.")) == (gone, made)
    assert log.events("acme", which=AuditFilter(action="token.created")) == (made,)
    assert log.events("acme", which=AuditFilter(action="token_.")) == ()
    assert log.events("acme", which=AuditFilter(actor="user_1")) == (other, made)
    assert log.events("acme", which=AuditFilter(object="token_1", actor="user_2")) == (gone,)
    assert log.events("acme", which=AuditFilter(since=gone.at)) == (other, gone)
    assert log.events("acme", which=AuditFilter(until=gone.at)) == (made,)
    assert log.events("acme", which=AuditFilter(actor="user_1"), before=other.event, limit=1) == (made,)


@pytest.mark.requirement("S-90")
@pytest.mark.parametrize("statement", [update(AUDIT_EVENTS).values(actor="nobody"), delete(AUDIT_EVENTS)])
def test_the_database_itself_refuses_to_change_or_remove_an_event(
    state: Database, log: AuditLog, statement: Update | Delete
) -> None:
    """Issue 6: an append-only log."""
    noted = log.note("acme", "user_1", "token.created", "token_1")
    with pytest.raises(Corpus2SkillError, match=r"append-only|state_damaged|workspace_io"):
        state.write(lambda connection: connection.execute(statement))
    assert log.events("acme") == (noted,)
