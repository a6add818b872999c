"""Test questions over HTTP, the runs over them, and what depends on how they went."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from corpus2skill.application.server.exam_worker import Examiner
from corpus2skill.application.server_wiring import Server
from corpus2skill.application.wiring import EVALUATION_TENANT, TENANT
from corpus2skill.domain.audit import AuditFilter
from corpus2skill.ports.store import RecordFilter
from tests.e2e.texts import UNKNOWN
from tests.http.answering import CORPUS, QUESTION
from tests.http.conftest import ClientOf
from tests.http.versions import BASE, two_versions

TESTS, RUNS = f"{BASE}/test-questions", f"{BASE}/test-runs"
RETURNS = "返品は何日以内に受け付けますか？"


@pytest.fixture
def two(server: Server, tmp_path: Path) -> Server:
    two_versions(server, tmp_path / "documents")
    return server


@pytest.fixture
def empty(api: TestClient) -> None:
    """The corpus without a version: questions can be made all the same."""
    assert api.post("/v1/corpora", json={"corpus": CORPUS}).status_code == 201


@pytest.fixture
def asked(api: TestClient, two: Server) -> Server:
    """Three questions: one both versions answer, one the second alone, one that neither can."""
    add(api, QUESTION, "利用規約.md")
    add(api, RETURNS, "返品.md")
    add(api, UNKNOWN["ja"])
    return two


def add(api: TestClient, question: str, *sources: str) -> str:
    body = {"question": question, "expected_sources": sources, "expects_not_found": not sources}
    answer = api.post(TESTS, json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["question_id"])


def begin(api: TestClient, version: int, **more: object) -> str:
    answer = api.post(RUNS, json={"version": version, **more})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["test_run_id"])


def carry_out(server: Server, questions: int = 20) -> None:
    examiner = Examiner(server, questions)
    while examiner.turn():
        pass


def shown(api: TestClient, run: str) -> dict[str, Any]:
    return api.get(f"{RUNS}/{run}").json()


def switch(api: TestClient, version: int, **more: object) -> Any:
    return api.put(f"{BASE}/active", json={"version": version, **more}, headers={"If-Match": "*"})


@pytest.mark.requirement("S-119")
def test_questions_are_made_changed_and_removed(api: TestClient, empty: None) -> None:
    """Issue 6: test questions (expected sources or not-found)."""
    question = add(api, QUESTION, "利用規約.md")
    found = api.get(f"{TESTS}/{question}")
    tag = found.headers["etag"]
    assert found.json()["expected_sources"] == ["利用規約.md"]
    change = {"question": "変えた問い", "expects_not_found": True, "note": "確認ずみ"}
    assert api.put(f"{TESTS}/{question}", json=change).status_code == 428
    changed = api.put(f"{TESTS}/{question}", json=change, headers={"If-Match": tag})
    assert (changed.json()["revision"], changed.json()["note"]) == (2, "確認ずみ")
    late = api.put(f"{TESTS}/{question}", json=change, headers={"If-Match": tag})
    assert (late.status_code, late.json()["code"]) == (412, "question_outrun")
    assert api.delete(f"{TESTS}/{question}", headers={"If-Match": tag}).status_code == 412
    removed = api.delete(f"{TESTS}/{question}", headers={"If-Match": changed.headers["etag"]})
    assert removed.status_code == 204
    assert api.get(f"{TESTS}/{question}").status_code == 404
    assert api.get(TESTS).json()["data"] == []


@pytest.mark.requirement("S-119")
@pytest.mark.parametrize(
    "body",
    [
        {"question": "何も期待しない"},
        {"question": "  ", "expects_not_found": True},
        {"question": "問い", "expected_sources": [" "]},
        {"question": "問" * 15_000, "expects_not_found": True},
        {"question": "問い", "expects_not_found": True, "other": 1},
    ],
)
def test_a_question_of_which_nothing_is_expected_is_refused(
    api: TestClient, empty: None, body: dict[str, object]
) -> None:
    """Bad input: nothing is kept of it."""
    assert api.post(TESTS, json=body).status_code == 422
    assert api.get(TESTS).json()["data"] == []


@pytest.mark.requirement("S-119")
@pytest.mark.parametrize(("form", "kind"), [("jsonl", "application/jsonl"), ("csv", "text/csv")])
def test_what_is_exported_is_imported_again(api: TestClient, empty: None, form: str, kind: str) -> None:
    """Issue: questions come from tables that people keep; no cell is run as a formula."""
    add(api, '=HYPERLINK(1)、\n改行と"引用"', "利用規約.md", "doc_chunk_1")
    add(api, UNKNOWN["ja"])

    def all_questions() -> list[tuple[object, ...]]:
        names = ("question", "expected_sources", "expects_not_found", "note")
        return [tuple(map(str, (one[name] for name in names))) for one in api.get(TESTS).json()["data"]]

    before = all_questions()
    text = api.get(f"{TESTS}/export", params={"format": form}).content
    again = api.post(f"{TESTS}/import", content=b"\xef\xbb\xbf" + text, headers={"Content-Type": kind})
    assert again.json() == {"imported": 2}
    assert all_questions() == before * 2


@pytest.mark.requirement("S-119")
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("application/jsonl", b'{"question":"a","expects_not_found":true}\nnothing'),
        ("application/jsonl", b'{"question":"a","expects_not_found":true}\n{"question":1}'),
        ("application/jsonl", b'{"question":"a"}'),
        ("application/jsonl", b"[" * 100_000),
        ("application/jsonl", b""),
        ("application/jsonl", b"\xff\xfe"),
        ("text/csv", b"question,expects_not_found\na,true\nb,maybe\n"),
        ("text/csv", b"\x00"),
        ("text/csv", b"a,b\n1,2,3\n"),
    ],
)
def test_of_a_bad_table_nothing_is_imported(api: TestClient, empty: None, kind: str, text: bytes) -> None:
    """Bad input: all or none, and the line is named."""
    answer = api.post(f"{TESTS}/import", content=text, headers={"Content-Type": kind})
    assert answer.status_code == 422, answer.text
    assert api.get(TESTS).json()["data"] == []


@pytest.mark.requirement("S-120", "S-121")
def test_a_run_says_of_each_question_how_it_went_and_what_changed(api: TestClient, asked: Server) -> None:
    """Issue 6: run against any version."""
    first = begin(api, 1)
    carry_out(asked)
    second = begin(api, 2)
    carry_out(asked)
    assert (shown(api, first)["state"], shown(api, first)["passed"]) == ("finished", 2)
    assert (shown(api, second)["state"], shown(api, second)["score"]) == ("finished", 1.0)
    results = api.get(f"{RUNS}/{second}/results").json()
    assert (results["compared_with"], results["compared_version"]) == (first, 1)
    assert [one["change"] for one in results["data"]] == ["same", "better", "same"]
    assert [one["source_hit"] for one in results["data"]] == [True, True, None]
    assert [one["outcome"] for one in results["data"]] == ["answered", "answered", "not_found"]
    assert all(one["run_id"] for one in results["data"])
    assert results["data"][0]["steps"] >= 1
    page = api.get(f"{RUNS}/{second}/results", params={"limit": 1, "cursor": "0"}).json()
    assert (page["data"], page["next_cursor"]) == (results["data"][1:2], "1")
    assert api.get(f"{BASE}/versions/2").json()["tests"]["score"] == 1.0
    assert [one["test_run_id"] for one in api.get(RUNS).json()["data"]] == [second, first]
    assert api.get(RUNS, params={"version": 1}).json()["data"][0]["test_run_id"] == first


@pytest.mark.requirement("S-123")
def test_questions_of_a_run_are_no_conversations(api: TestClient, asked: Server) -> None:
    """The markers of evaluation: not among records, nor in the queue."""
    begin(api, 2)
    carry_out(asked)
    assert api.get("/v1/records").json()["data"] == []
    assert api.get("/v1/queue").json()["data"] == []
    records = asked.workspace(TENANT).records()
    assert len(list(records.records(EVALUATION_TENANT, RecordFilter()))) == 3
    records.close()


@pytest.mark.requirement("S-120")
def test_a_run_is_gone_on_with_where_it_was_left(api: TestClient, asked: Server) -> None:
    """Resumable: what was asked is not asked again; several take turns."""
    run, other = begin(api, 2), begin(api, 1)
    examiner = Examiner(asked, 1)
    assert examiner.turn()
    assert (shown(api, run)["done"], shown(api, run)["state"]) == (1, "queued")
    assert examiner.turn()
    assert (shown(api, run)["done"], shown(api, other)["done"]) == (1, 1)
    dead = "elsewhere/1/host_1"
    asked.exams.change(
        TENANT, run, lambda was: replace(was, state="running", owner=dead, lease_until=1.0)
    )  # its owner died a while ago
    carry_out(asked, 1)
    assert (shown(api, run)["state"], shown(api, run)["done"]) == ("finished", 3)
    records = asked.workspace(TENANT).records()
    assert len(list(records.records(EVALUATION_TENANT, RecordFilter(version=2)))) == 3
    records.close()


@pytest.mark.requirement("S-120")
def test_what_happens_to_a_run_is_told(api: TestClient, asked: Server) -> None:
    """Progress events on a topic of its own, whose last ends it."""
    run = begin(api, 2)
    carry_out(asked)
    text = api.get(f"{RUNS}/{run}/events").text
    kinds = [line.removeprefix("event: ") for line in text.splitlines() if line.startswith("event: ")]
    assert kinds == ["test_run.state"] * 2 + ["test_run.progress"] * 3 + ["test_run.state"]
    last = json.loads([line for line in text.splitlines() if line.startswith("data: ")][-1][6:])
    assert (last["state"], last["is_last"]) == ("finished", True)


@pytest.mark.requirement("S-120")
def test_a_paid_model_needs_a_cap_and_without_a_key_the_run_says_so(api: TestClient, asked: Server) -> None:
    """Issue: nothing is spent that nobody agreed to."""
    model = "anthropic:claude-sonnet-4-5"
    refused = api.post(RUNS, json={"version": 2, "model": model})
    assert (refused.status_code, refused.json()["code"]) == (409, "tests_need_cap")
    run = begin(api, 2, model=model, max_cost=1.0)
    carry_out(asked)
    found = shown(api, run)
    assert (found["state"], found["done"]) == ("failed", 0)
    assert found["cause"]["message"]
    assert api.post(f"{RUNS}/{run}/continue").json()["state"] == "queued"
    assert api.post(f"{RUNS}/{run}/continue").status_code == 409
    assert api.post(f"{RUNS}/{run}/cancel").json()["state"] == "cancelled"
    assert api.post(f"{RUNS}/{run}/cancel").json()["state"] == "cancelled"
    carry_out(asked)
    assert shown(api, run)["done"] == 0


@pytest.mark.requirement("S-120")
def test_a_spent_cap_pauses_and_a_higher_one_goes_on(api: TestClient, asked: Server) -> None:
    """Issue: the cap holds over everything that was asked."""
    run = begin(api, 2, model="anthropic:claude-sonnet-4-5", max_cost=1.0)
    asked.exams.change(TENANT, run, lambda was: replace(was, dollars=1.0))
    carry_out(asked)
    assert (shown(api, run)["state"], shown(api, run)["cause"]["code"]) == (
        "paused_budget",
        "tests_cap_reached",
    )
    low = api.post(f"{RUNS}/{run}/continue", json={"max_cost": 0.5})
    assert (low.status_code, low.json()["code"]) == (422, "cap_below_spent")
    assert api.post(f"{RUNS}/{run}/continue", json={"max_cost": 2.0}).json()["state"] == "queued"


@pytest.mark.requirement("S-120")
def test_without_questions_or_a_version_nothing_is_run(api: TestClient, two: Server) -> None:
    """Bad input."""
    assert api.post(RUNS, json={"version": 2}).json()["code"] == "no_test_questions"
    assert api.post(RUNS, json={"version": 7}).status_code == 404
    assert api.get(f"{RUNS}/testrun_1").status_code == 404


@pytest.mark.requirement("S-122")
def test_tests_come_before_a_switch_where_the_owner_says_so(
    api: TestClient, client_of: ClientOf, two: Server
) -> None:
    """Issue 6: required before a switch if the owner says so."""
    api.patch(BASE, json={"tests_required": True})
    assert switch(api, 1).json()["code"] == "tests_required_none"
    add(api, RETURNS, "返品.md")
    assert switch(api, 1).json()["code"] == "tests_required"
    for version in (1, 2):
        begin(api, version)
    carry_out(two)
    assert switch(api, 1).json()["code"] == "tests_required_failed"
    assert api.post(f"{BASE}/rollback", headers={"If-Match": "*"}).status_code == 409
    writer = client_of(TENANT, "read", "write")
    assert switch(writer, 1, override_reason="急ぎ").status_code == 403
    assert switch(api, 1, override_reason="急ぎ").json()["version"] == 1
    assert switch(writer, 2).json()["version"] == 2
    add(api, UNKNOWN["ja"])  # today's questions are others than those that went well
    assert switch(api, 1).status_code == 409
    events = two.audit.events(TENANT, which=AuditFilter(action="version."))
    assert [event.action for event in events] == ["version.activated", "version.activated_untested"]
    assert dict(events[1].values)["reason"] == "急ぎ"


@pytest.mark.requirement("S-122")
def test_a_share_of_the_questions_is_enough_where_the_owner_says_so(api: TestClient, asked: Server) -> None:
    """Two of three go well on the first version."""
    api.patch(BASE, json={"tests_required": True, "tests_percent": 66})
    begin(api, 1)
    carry_out(asked)
    assert switch(api, 1).status_code == 200
    api.patch(BASE, json={"tests_percent": 67})
    assert switch(api, 1).status_code == 409
