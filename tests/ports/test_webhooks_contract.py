"""What the stores of webhooks and of retention promise, on both databases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.announcements import SqlAnnouncer
from corpus2skill.adapters.store.state.audit import SqlAuditLog
from corpus2skill.adapters.store.state.event_log import SqlEventLog
from corpus2skill.adapters.store.state.hosted import SqlHostedStore
from corpus2skill.adapters.store.state.retention import SqlRetentionStore
from corpus2skill.adapters.store.state.webhooks import SqlWebhookStore
from corpus2skill.domain.credential import Sealed
from corpus2skill.domain.event_log import NewEvent
from corpus2skill.domain.hosted import HostedSession
from corpus2skill.domain.retention import LegalHold, RetentionPolicy
from corpus2skill.domain.webhook import Delivery, DeliveryTry, WebhookEndpoint, WebhookKind
from corpus2skill.errors import Conflict, Corpus2SkillError, ThingNotFound
from corpus2skill.ports.retention import RetentionStore
from corpus2skill.ports.webhooks import Announcement, HeldEndpoint, WebhookStore
from tests.fakes.clock import FakeClock, FakeIds
from tests.ports.state import clock as clock
from tests.ports.state import ids as ids
from tests.ports.state import state as state

_AT = "2026-04-01T09:00:00.000Z"


@pytest.fixture
def store(state: Database) -> WebhookStore:
    return SqlWebhookStore(state)


@pytest.fixture
def retention(state: Database) -> RetentionStore:
    return SqlRetentionStore(state)


def held(name: str = "webhook_1", tenant: str = "acme", *kinds: WebhookKind) -> HeldEndpoint:
    endpoint = WebhookEndpoint(
        endpoint=name,
        tenant=tenant,
        url="https://example.jp/受信",
        kinds=kinds or ("run.not_found",),
        description="社内",
        created_at=_AT,
        created_by="user_1",
    )
    return HeldEndpoint(endpoint=endpoint, secret=Sealed(key="k1", text="封"))


def delivery(number: int, endpoint: str = "webhook_1") -> Delivery:
    return Delivery(
        delivery=f"delivery_{number}",
        tenant="acme",
        endpoint=endpoint,
        message=f"msg_{number}",
        kind="run.not_found",
        body="{}",
        state="waiting",
        created_at=_AT,
        next_at=_AT,
    )


@pytest.mark.requirement("S-136")
def test_endpoints_are_kept_changed_and_removed_within_their_tenant(store: WebhookStore) -> None:
    """Promised by the port."""
    store.add(held(), 2)
    store.add(held("webhook_2"), 2)
    with pytest.raises(Conflict, match="too_many_webhooks"):
        store.add(held("webhook_3"), 2)
    assert store.held("acme", "webhook_1") == held()
    assert store.endpoints("other") == ()
    with pytest.raises(ThingNotFound):
        store.held("other", "webhook_1")
    changed = replace(held().endpoint, both_until=_AT)
    becomes = HeldEndpoint(
        endpoint=changed, secret=Sealed(key="k2", text="新"), old_secret=Sealed(key="k1", text="封")
    )
    assert store.change("acme", "webhook_1", lambda _: becomes) == changed
    assert store.held("acme", "webhook_1") == becomes
    store.add_delivery(delivery(1))
    assert store.remove("acme", "webhook_1") == changed
    with pytest.raises(ThingNotFound):
        store.delivery("acme", "webhook_1", "delivery_1")


@pytest.mark.requirement("S-136")
def test_announcements_become_deliveries_to_those_who_listen_once(
    state: Database, store: WebhookStore, clock: FakeClock, ids: FakeIds
) -> None:
    """Promised by the port: none is lost and none doubled."""
    announcer = SqlAnnouncer(state, clock, ids)
    store.add(held("webhook_1"), 9)
    store.add(held("webhook_2", "acme", "feedback.negative"), 9)
    store.add(held("webhook_3", "other"), 9)
    for number in range(3):
        announcer.announce("acme", "run.not_found", {"run": number})

    def make(announced: Announcement, hearer: WebhookEndpoint) -> Delivery:
        made = delivery(int(str(announced.payload["run"])), hearer.endpoint)
        return replace(made, message=announced.message, tenant=announced.tenant)

    assert [store.fan_out(make, 2) for _ in range(3)] == [2, 1, 0]
    assert store.due(_AT) == (("acme", "webhook_1"),)
    found = store.due_of("acme", "webhook_1", _AT, 9)
    assert [one.delivery for one in found] == ["delivery_0", "delivery_1", "delivery_2"]


@pytest.mark.requirement("S-136")
def test_a_delivery_is_claimed_by_one_and_keeps_its_tries(store: WebhookStore) -> None:
    """Promised by the port."""
    store.add(held(), 9)
    one = delivery(1)
    store.add_delivery(one)
    assert store.claim(one, "2026-04-01T09:01:00.000Z")
    assert not store.claim(one, "2026-04-01T09:01:00.000Z")
    assert store.due(_AT) == ()
    tried = DeliveryTry(at=_AT, code="timeout", ms=10_000)
    store.note_try(one, tried, "given_up", None)
    shown = store.delivery("acme", "webhook_1", "delivery_1")
    assert (shown.tries, shown.state, shown.next_at) == ((tried,), "given_up", None)
    assert store.try_again("acme", "webhook_1", "delivery_1", _AT).state == "waiting"
    with pytest.raises(Conflict):
        store.try_again("acme", "webhook_1", "delivery_1", _AT)
    off = replace(held().endpoint, off_reason="operator")
    store.change("acme", "webhook_1", lambda was: replace(was, endpoint=off))
    store.note_try(shown, tried, "waiting", _AT)
    assert store.delivery("acme", "webhook_1", "delivery_1").state == "given_up"


@pytest.mark.requirement("S-136")
def test_deliveries_are_listed_in_pages_newest_first(store: WebhookStore) -> None:
    """Promised by the port."""
    for number in range(5):
        store.add_delivery(delivery(number))
    first = store.deliveries("acme", "webhook_1", limit=3)
    rest = store.deliveries("acme", "webhook_1", before=first[-1].delivery, limit=3)
    assert [one.delivery for one in (*first, *rest)] == [f"delivery_{n}" for n in (4, 3, 2, 1, 0)]
    assert store.deliveries("acme", "webhook_1", state="delivered", limit=3) == ()


@pytest.mark.requirement("S-136")
def test_policies_holds_and_runs_are_kept(retention: RetentionStore) -> None:
    """Promised by the port."""
    assert retention.state("acme").policy == RetentionPolicy()
    assert retention.set_policy("acme", RetentionPolicy(audit=30), _AT).changed_at == _AT
    retention.note_run("acme", _AT, {"runs": 3})
    set_again = retention.set_policy("acme", RetentionPolicy(events=2), _AT)
    assert (set_again.policy, set_again.ran_at, set_again.counts) == (
        RetentionPolicy(events=2),
        _AT,
        {"runs": 3},
    )
    assert retention.tenants() == ("acme",)
    hold = LegalHold(
        hold="hold_1",
        tenant="acme",
        kind="corpus",
        name="規約",
        reason="訴訟",
        placed_at=_AT,
        placed_by="user_1",
    )
    retention.place(hold)
    assert retention.holds("acme") == (hold,)
    with pytest.raises(ThingNotFound):
        retention.lift("other", "hold_1")
    assert retention.lift("acme", "hold_1") == hold
    assert retention.holds("acme") == ()


@pytest.mark.requirement("S-136")
def test_what_is_past_its_time_is_counted_and_removed(
    state: Database, retention: RetentionStore, clock: FakeClock, ids: FakeIds
) -> None:
    """Promised by the port; the operators' log refuses every other removal, before and after."""
    audit, events = SqlAuditLog(state, clock, ids), SqlEventLog(state, clock)
    for topic in ("job:1", "run:1"):
        events.append("acme", topic, [NewEvent(kind="x", payload={})] * 3)
    audit.note("acme", "user_1", "token.created", "token_1")
    audit.note("other", "user_1", "token.created", "token_1")
    clock.advance(60)
    before = "2026-04-01T09:00:30.000Z"
    late = audit.note("acme", "user_1", "token.revoked", "token_1")
    for kind, count in (("audit", 1), ("events", 2), ("deliveries", 0)):
        assert retention.count_past("acme", kind, before) == count  # type: ignore[arg-type]
        assert retention.forget_past("acme", kind, before) == count  # type: ignore[arg-type]
    assert audit.events("acme") == (late,)
    assert len(audit.events("other")) == 1
    assert [event.number for event in events.since("acme", "job:1", 0)] == [3]
    assert len(events.since("acme", "run:1", 0)) == 3
    with pytest.raises(Corpus2SkillError):
        state.write(lambda connection: connection.exec_driver_sql("DELETE FROM audit_events"))


@pytest.mark.requirement("S-136")
def test_idle_conversations_are_found(state: Database, retention: RetentionStore) -> None:
    """Promised by the port: by when they were last asked, or made."""
    hosted = SqlHostedStore(state)
    for number, asked in enumerate((None, "2026-05-01T00:00:00.000Z")):
        hosted.add_session(
            HostedSession(
                session=f"session_{number}",
                tenant="acme",
                corpus="規約",
                channel="text",
                actor="token_1",
                end_user="客",
                created_at=_AT,
                asked_at=asked,
            )
        )
    found = retention.idle_sessions("acme", "2026-04-02T00:00:00.000Z")
    assert found == (("session_0", "規約", "客"),)
