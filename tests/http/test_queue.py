"""The queue of unanswered and badly rated questions over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from corpus2skill.application.server.reviews import note_ended_run, rebuild_queue
from corpus2skill.application.server_wiring import Server
from corpus2skill.application.wiring import TENANT
from corpus2skill.domain.feedback import Feedback
from tests.e2e.texts import UNKNOWN
from tests.http.answering import CORPUS, QUESTION, compile_corpus
from tests.http.conftest import ClientOf
from tests.ports.runs import record, visit


def keep(server: Server, *outcomes: str) -> None:
    """Records `run_0`, `run_1`, ..., as a run that ends leaves them."""
    records = server.workspace(TENANT).records()
    for number, outcome in enumerate(outcomes):
        one = record(
            f"run_{number}",
            outcome=outcome,  # type: ignore[arg-type]
            question=f"質問{number}",
            visits=(visit(1), visit(2, doc_id="doc_chunk_7")),
        )
        records.close_run(one)
        note_ended_run(server, one)
    records.close()


def runs(api: TestClient, **which: object) -> list[str]:
    answer = api.get("/v1/queue", params=which)  # type: ignore[arg-type]
    assert answer.status_code == 200, answer.text
    return [entry["run_id"] for entry in answer.json()["data"]]


def ask(api: TestClient, question: str) -> str:
    session = api.post("/v1/sessions", json={"corpus": CORPUS}).json()["session_id"]
    run = api.post(f"/v1/sessions/{session}/runs", json={"question": question}).json()["run_id"]
    while api.get(f"/v1/runs/{run}").json()["outcome"] is None:
        pass
    return str(run)


@pytest.mark.requirement("S-124")
def test_what_is_not_answered_or_rated_badly_comes_by_itself(
    api: TestClient, server: Server, tmp_path: Path
) -> None:
    """Issue 6: the queue of unanswered and badly rated questions."""
    compile_corpus(server, tmp_path / "documents")
    unanswered, answered = ask(api, UNKNOWN["ja"]), ask(api, QUESTION)
    assert api.get(f"/v1/runs/{answered}").json()["outcome"] == "answered"
    rate = f"/v1/runs/{answered}/feedback"
    api.put(rate, json={"rating": "not_helpful", "comment": "古い"})
    api.app.state.runs.stop(5.0)  # type: ignore[attr-defined] - what follows a run's end is done then
    assert runs(api) == [answered, unanswered]
    assert runs(api, reason="not_helpful") == [answered]
    assert runs(api, has_comment=True) == [answered]
    assert runs(api, outcome="not_found") == [unanswered]
    entry = api.get(f"/v1/queue/{answered}").json()
    assert entry["record"]["question"] == QUESTION
    assert entry["branch"].endswith("SKILL.md")
    api.put(rate, json={"rating": "helpful"})
    assert runs(api) == [unanswered]


@pytest.mark.requirement("S-124")
def test_entries_are_grouped_by_the_branch_where_the_walk_ended(api: TestClient, server: Server) -> None:
    """Which branch misleads, or lacks a document."""
    keep(server, "not_found", "fetch_limit", "answered")
    (line,) = api.get("/v1/queue/branches").json()["data"]
    assert (line["branch"], line["title"], line["entries"]) == ("cancellation/SKILL.md", "解約手続き", 2)
    assert runs(api, branch=line["branch"]) == ["run_1", "run_0"]
    assert runs(api, branch="SKILL.md") == []


@pytest.mark.requirement("S-124")
def test_the_queue_is_listed_page_by_page_for_reviewers(
    api: TestClient, client_of: ClientOf, server: Server
) -> None:
    """Cursor lists; scope records."""
    keep(server, *["not_found"] * 5)
    first = api.get("/v1/queue", params={"limit": 2}).json()
    assert [entry["run_id"] for entry in first["data"]] == ["run_4", "run_3"]
    assert runs(api, cursor=first["next_cursor"]) == ["run_2", "run_1", "run_0"]
    assert client_of(TENANT, "read", "ask", "write").get("/v1/queue").status_code == 403
    assert client_of("other").get("/v1/queue").json()["data"] == []
    assert client_of("other").get("/v1/queue/run_1").status_code == 404


@pytest.mark.requirement("S-125")
def test_what_is_to_be_done_is_noted_with_who_said_so(api: TestClient, server: Server) -> None:
    """Issue: open, to do, mend the branch, made a test, fine."""
    keep(server, "not_found", "not_found")
    settled = api.post("/v1/queue/run_1", json={"state": "to_do", "note": "第9条の文書がない"}).json()
    assert (settled["state"], settled["note"]) == ("to_do", "第9条の文書がない")
    assert settled["changed_by"].startswith("token_")
    assert runs(api) == ["run_0"]
    assert runs(api, state=["to_do", "open"]) == ["run_1", "run_0"]
    api.post("/v1/queue/run_1", json={"state": "open"})
    assert runs(api) == ["run_1", "run_0"]
    assert api.post("/v1/queue/run_9", json={"state": "fine"}).status_code == 404
    assert api.post("/v1/queue/run_1", json={"state": "other"}).status_code == 422


@pytest.mark.requirement("S-125")
def test_a_test_question_is_made_of_an_entry_once(
    api: TestClient, client_of: ClientOf, server: Server
) -> None:
    """Issue: a bad answer of today is a test of tomorrow."""
    keep(server, "not_found")
    api.post("/v1/corpora", json={"corpus": "terms"})
    path, made = "/v1/queue/run_0", {"state": "made_a_test", "test": {"expected_sources": ["返品.md"]}}
    assert api.post(path, json={"state": "made_a_test"}).status_code == 422
    assert api.post(path, json={"state": "fine", "test": {"expects_not_found": True}}).status_code == 422
    assert client_of(TENANT, "records").post(path, json=made).status_code == 403
    entry = api.post(path, json=made).json()
    question = api.get(f"/v1/corpora/terms/test-questions/{entry['question_id']}").json()
    assert (question["question"], question["expected_sources"]) == ("質問0", ["返品.md"])
    assert api.post(path, json=made).status_code == 422
    assert api.post(path, json={"state": "made_a_test", "note": "済"}).json()["note"] == "済"
    assert len(api.get("/v1/corpora/terms/test-questions").json()["data"]) == 1


@pytest.mark.requirement("S-124", "S-67")
def test_what_was_deleted_is_gone_from_the_queue(api: TestClient, server: Server) -> None:
    """Deleted conversations are gone from every list, with the notes on them."""
    keep(server, "not_found", "not_found")
    assert api.delete("/v1/records", params={"run_id": "run_1"}).json()["is_done"]
    assert runs(api) == ["run_0"]
    assert api.get("/v1/queue/run_1").status_code == 404
    records = server.workspace(TENANT).records()
    records.tombstone(TENANT, ["run_0"])  # by some other way
    records.close()
    assert runs(api) == []
    assert api.get("/v1/queue/branches").json()["data"] == []


@pytest.mark.requirement("S-124")
def test_the_queue_is_made_again_from_the_records(api: TestClient, server: Server) -> None:
    """Records from before there was a queue; what somebody made of entries stays."""
    keep(server, "not_found", "answered", "fetch_limit")
    records = server.workspace(TENANT).records()
    said = Feedback(is_helpful=False, given_at="2026-04-01T10:00:00.000Z", given_by="token_1")
    records.put_feedback(TENANT, "run_1", said)
    records.close()
    api.post("/v1/queue/run_2", json={"state": "fine"})
    server.reviews.forget(TENANT, ["run_0"])
    assert rebuild_queue(server, TENANT) == 3
    assert runs(api) == ["run_1", "run_0"]
    visits = server.branch_visits.visits(TENANT, "terms", 1, ["cancellation/SKILL.md"])
    assert visits == {"cancellation/SKILL.md": 3}
