"""What is past its time goes, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from corpus2skill.application.server.retain import Keeper, carry_out
from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.event_log import NewEvent, job_topic
from corpus2skill.domain.retention import RetentionPolicy, RetentionState, next_run
from tests.http.answering import CORPUS, QUESTION, compile_corpus
from tests.http.test_conversations import finished, session_of

_SECRET = "山田太郎の契約番号は 12345678 です。年額プランを解約したら、いつまで使えますか？"


class MovedClock:
    """The machine's clock, some days on."""

    def __init__(self, server: Server) -> None:
        self._clock = server.clock
        self.days = 0.0
        self.jump = 0.0

    def now(self) -> datetime:
        return self._clock.now() + timedelta(days=self.days, seconds=self.jump)

    def monotonic(self) -> float:
        return self._clock.monotonic() + self.days * 86_400


@pytest.fixture
def clock(server: Server) -> MovedClock:
    return MovedClock(server)


@pytest.fixture
def later(server: Server, clock: MovedClock, tmp_path: Path) -> Server:
    """The same server, whose time a test moves, with a corpus."""
    compile_corpus(server, tmp_path / "documents")
    return replace(server, clock=clock)


def set_days(api: TestClient, **days: int) -> Mapping[str, Any]:
    answer = api.put("/v1/retention", json=days)
    assert answer.status_code == 200, answer.text
    return answer.json()


def preview(api: TestClient, **days: int) -> Mapping[str, Any]:
    return api.get("/v1/retention/preview", params=days).json()


def all_bytes(home: Path) -> bytes:
    return b"".join(file.read_bytes() for file in home.glob("*.db*"))


@pytest.mark.requirement("S-133")
def test_old_conversations_go_everywhere_and_the_chain_still_verifies(
    api: TestClient, later: Server, clock: MovedClock, tmp_path: Path
) -> None:
    """Field reports, 20: deletes text really, keeps an audit line with counts only."""
    old = session_of(api)
    run = finished(api, old, _SECRET)
    api.put(f"/v1/runs/{run['run_id']}/feedback", json={"rating": "not_helpful", "comment": "甲乙丙丁の件"})
    head = api.get("/v1/records/verify").json()["head"]
    set_days(api, conversations=30)
    clock.days = 31
    carry_out(later, "local")
    written = all_bytes(tmp_path / "home")
    assert "山田太郎".encode() not in written
    assert "甲乙丙丁".encode() not in written
    assert b"\\u5c71\\u7530" not in written
    verdict = api.get("/v1/records/verify", params={"kept_head": head}).json()
    assert (verdict["is_sound"], verdict["records"]) == (True, 1)
    assert api.get(f"/v1/records/{run['run_id']}").status_code == 404
    assert api.get(f"/v1/sessions/{old}").status_code == 404
    assert api.get(f"/v1/runs/{run['run_id']}/events").status_code == 404
    (event,) = api.get("/v1/audit-events", params={"action": "retention.done"}).json()["data"]
    assert (event["values"]["runs"], event["values"]["sessions"], event["actor"]) == (1, 1, "system")
    assert "山田" not in str(event)


@pytest.mark.requirement("S-134")
def test_a_dry_run_counts_what_would_go_and_changes_nothing(
    api: TestClient, later: Server, clock: MovedClock
) -> None:
    """Field reports, 20: a dated job with dry-run count."""
    finished(api, session_of(api))
    assert preview(api)["next_run_at"] is None
    assert api.get("/v1/retention").json()["next_run_at"] is None
    assert preview(api, conversations=1)["would_go"]["runs"] == 0
    shown = set_days(api, conversations=1)
    assert shown["next_run_at"].endswith("T03:00:00.000Z")
    api.app.state.server = later  # type: ignore[attr-defined]
    clock.days = 2
    for _ in range(2):
        assert preview(api)["would_go"] == {
            "runs": 1,
            "sessions": 1,
            "versions": 0,
            "audit": 0,
            "events": 0,
            "deliveries": 0,
        }
    assert dict(carry_out(later, "local")) == preview(api, conversations=1)["would_go"] | {
        "runs": 1,
        "sessions": 1,
    }
    assert api.get("/v1/retention").json()["last_run"]["runs"] == 1


@pytest.mark.requirement("S-135")
def test_what_is_held_stays_whatever_its_age_until_the_hold_is_lifted(
    api: TestClient, later: Server, clock: MovedClock
) -> None:
    """Field reports, 20: legal hold exempts; nor is it deleted by hand."""
    held, other, users = session_of(api), session_of(api), session_of(api, end_user="客-1")
    for session in (held, other, users):
        finished(api, session)
    holds = [
        api.post("/v1/retention/holds", json={"kind": kind, "name": name, "reason": "訴訟 7 号"}).json()
        for kind, name in (("session", held), ("end_user", "客-1"))
    ]
    set_days(api, conversations=1)
    clock.days = 2
    assert carry_out(later, "local")["runs"] == 1
    assert len(api.get("/v1/records").json()["data"]) == 2
    for where in (f"/v1/sessions/{held}", f"/v1/records?session_id={held}", "/v1/records?end_user=客-1"):
        refused = api.delete(where)
        assert (refused.status_code, refused.json()["code"]) == (409, "on_hold"), where
    for hold in holds:
        assert api.delete(f"/v1/retention/holds/{hold['hold_id']}").status_code == 200
    assert carry_out(later, "local")["runs"] == 2
    assert api.get("/v1/records").json()["data"] == []


@pytest.mark.requirement("S-135")
def test_a_held_corpus_is_not_deleted(api: TestClient, later: Server) -> None:
    """Task: legal hold on corpora."""
    finished(api, session_of(api))
    api.post("/v1/retention/holds", json={"kind": "corpus", "name": CORPUS, "reason": "監査"})
    refused = api.delete(f"/v1/corpora/{CORPUS}", params={"confirm": CORPUS})
    assert refused.json()["code"] == "on_hold"
    assert preview(api, conversations=1, versions=1)["would_go"]["runs"] == 0


@pytest.mark.requirement("S-133")
def test_old_versions_that_no_record_cites_go_and_the_others_stay(
    api: TestClient, later: Server, clock: MovedClock, tmp_path: Path
) -> None:
    """Task: old versions by the rules of `prune`; a record keeps the version that it cites."""
    finished(api, session_of(api))
    for number in range(3):
        (tmp_path / "documents" / f"追加{number}.txt").write_text(
            f"追加の{number}条。" * 30, encoding="utf-8"
        )
        compile_corpus(later, tmp_path / "documents")
    assert later.workspace("local").versions.versions(CORPUS) == (1, 2, 3, 4)
    set_days(api, versions=5)
    assert carry_out(later, "local")["versions"] == 0
    clock.days = 6
    assert carry_out(later, "local")["versions"] == 1
    assert later.workspace("local").versions.versions(CORPUS) == (1, 3, 4)


@pytest.mark.requirement("S-133")
def test_old_events_deliveries_and_log_lines_go_by_their_age(
    api: TestClient, later: Server, clock: MovedClock
) -> None:
    """Task: days per class; an event's number is never given twice."""
    topic = job_topic("job_1")
    for _ in range(3):
        later.events.append("local", topic, [NewEvent(kind="job.progress", payload={})])
    api.post("/v1/api-tokens", json={"name": "古い", "scopes": ["read"]})
    set_days(api, audit=10, events=10, deliveries=10)
    clock.days = 11
    gone = carry_out(later, "local")
    assert (gone["events"], gone["audit"]) == (2, 3)
    assert [event.number for event in later.events.since("local", topic, 0)] == [3]
    assert later.events.append("local", topic, [NewEvent(kind="job.state", payload={})]) == 4
    actions = [event["action"] for event in api.get("/v1/audit-events").json()["data"]]
    assert actions == ["retention.done"]


@pytest.mark.requirement("S-134")
def test_the_worker_carries_it_out_once_a_night(api: TestClient, later: Server, clock: MovedClock) -> None:
    """Task: a dated job once a day; the night after a change at the earliest."""
    finished(api, session_of(api))
    set_days(api, conversations=1)
    keeper = Keeper(later)
    keeper.look()
    assert api.get("/v1/retention").json()["last_run_at"] is None
    clock.days = 2
    keeper.look()
    first = api.get("/v1/retention").json()
    keeper.look()
    assert api.get("/v1/retention").json() == first
    assert first["last_run"]["runs"] == 1
    clock.days = 3
    keeper.look()
    assert api.get("/v1/retention").json()["last_run_at"] > first["last_run_at"]


@pytest.mark.requirement("S-134")
def test_a_clock_that_jumps_deletes_nothing(api: TestClient, later: Server, clock: MovedClock) -> None:
    """Issue 6: a clock that jumps."""
    finished(api, session_of(api))
    set_days(api, conversations=30)
    keeper = Keeper(later)
    clock.jump = 400 * 86_400
    keeper.look()
    keeper.look()
    clock.jump = 0
    keeper.look()
    assert len(api.get("/v1/records").json()["data"]) == 1


@pytest.mark.requirement("S-134")
def test_the_next_run_is_the_next_three_o_clock() -> None:
    """In UTC; a time in the future, left by a wrong clock, holds up nothing."""
    state = RetentionState(policy=RetentionPolicy(audit=1), changed_at="2026-04-01T02:59:00.000Z")
    now = datetime.fromisoformat("2026-04-01T12:00:00Z")
    assert str(next_run(state, now)) == "2026-04-01 03:00:00+00:00"
    done = replace(state, ran_at="2026-04-01T03:00:00.000Z")
    assert str(next_run(done, now)) == "2026-04-02 03:00:00+00:00"
    assert str(next_run(replace(done, ran_at="2099-01-01T00:00:00.000Z"), now)) == "2026-04-02 03:00:00+00:00"
    assert next_run(replace(state, policy=RetentionPolicy()), now) is None


@pytest.mark.requirement("S-133")
def test_nothing_of_another_tenant_goes(api: TestClient, later: Server, clock: MovedClock) -> None:
    """Issue 6: tenants are kept apart."""
    finished(api, session_of(api), QUESTION)
    later.retention.set_policy("acme", RetentionPolicy(conversations=1, audit=1, events=1), "2026-01-01")
    clock.days = 9
    carry_out(later, "acme")
    assert len(api.get("/v1/records").json()["data"]) == 1
