"""`/v1/corpora/{c}/jobs` and `/v1/jobs`, with a worker turned by hand."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

from corpus2skill.application.server.exam_worker import Examiner
from corpus2skill.application.server.job_worker import JobWorker, Pace
from corpus2skill.application.server_wiring import Server, worker_presence
from corpus2skill.ports.workers import Worker
from tests.fakes.job_engine import MemoryEngine

TEXT = "# 解約\n\n年額プランの解約は、契約管理画面の「解約申請」から行うものとし、日割りの返金は行わない。\n"


@pytest.fixture
def worker(server: Server) -> JobWorker:
    presence, place = worker_presence(server)
    assert presence.hold("worker_1")
    me = Worker(worker="worker_1", place=place, release="1", started_at="2026-04-01T00:00:00.000Z")
    return JobWorker(server, MemoryEngine(), presence, me, Pace(beat=0.05))


@pytest.fixture
def corpus(api: TestClient) -> str:
    assert api.post("/v1/corpora", json={"corpus": "kb"}).status_code == 201
    sent = api.post("/v1/corpora/kb/documents", files={"files": ("規約.md", TEXT.encode())})
    assert sent.status_code == 202
    return "kb"


def _done(api: TestClient, worker: JobWorker, job: str) -> dict[str, object]:
    for _ in range(500):
        worker.turn()
        body = api.get(f"/v1/jobs/{job}").json()
        if body["ended_at"]:
            return dict(body)
        threading.Event().wait(0.02)
    raise AssertionError("it never ended")


@pytest.mark.requirement("S-40")
def test_an_upload_compiles_in_the_background_and_is_followed(
    api: TestClient, corpus: str, worker: JobWorker
) -> None:
    """interfaces.md: 202 with Location; job.state and job.progress by SSE; the page and the events agree."""
    asked = api.post(f"/v1/corpora/{corpus}/jobs", json={})
    assert (asked.status_code, asked.json()["state"]) == (202, "queued")
    job = asked.json()["job_id"]
    assert asked.headers["location"].endswith(f"/v1/jobs/{job}")
    done = _done(api, worker, job)
    assert (done["state"], done["version"], done["is_activated"]) == ("succeeded", 1, True)
    assert api.get(f"/v1/corpora/{corpus}").json()["active_version"] == 1
    told = api.get(f"/v1/jobs/{job}/events").text
    assert told.count("event: job.state") == 3
    assert "event: job.progress" in told
    last = told.strip().rpartition("\n\n")[2].split("\n")[0].removeprefix("id: ")
    assert api.get(f"/v1/jobs/{job}/events", headers={"Last-Event-ID": last}).status_code == 204
    assert [item["job_id"] for item in api.get(f"/v1/corpora/{corpus}/jobs").json()["data"]] == [job]
    assert [item["job_id"] for item in api.get("/v1/jobs?state=succeeded").json()["data"]] == [job]
    assert api.get("/v1/jobs?state=failed").json()["data"] == []


@pytest.mark.requirement("S-41")
def test_an_estimate_calls_nothing_and_a_paid_start_wants_one(api: TestClient, corpus: str) -> None:
    """interfaces.md: `dry_run=true` returns the estimate; field report 9."""
    free = api.post(f"/v1/corpora/{corpus}/jobs?dry_run=true", json={})
    assert (free.status_code, free.json()["lines"], free.json()["chunks"]) == (200, [], 1)
    bare = api.post(f"/v1/corpora/{corpus}/jobs", json={"model": "anthropic"})
    assert (bare.status_code, bare.json()["code"]) == (409, "estimate_or_cap")
    paid = api.post(f"/v1/corpora/{corpus}/jobs", json={"model": "anthropic", "dry_run": True}).json()
    assert paid["dollars"]["high"] > 0
    api.post(
        f"/v1/corpora/{corpus}/documents", files={"files": ("他.md", "# 料金\n\n月額は千円です。".encode())}
    )
    late = api.post(f"/v1/corpora/{corpus}/jobs", json={"estimate_id": paid["estimate_id"]})
    assert (late.status_code, late.json()["code"]) == (412, "estimate_outdated")
    fresh = api.post(f"/v1/corpora/{corpus}/jobs?dry_run=1", json={"model": "anthropic"}).json()
    started = api.post(f"/v1/corpora/{corpus}/jobs", json={"estimate_id": fresh["estimate_id"]})
    assert (started.status_code, started.json()["estimate"]) == (202, fresh)
    assert started.json()["options"]["max_cost"] >= fresh["dollars"]["high"]


@pytest.mark.requirement("S-44", "S-46")
def test_cancel_retry_and_continue_answer_by_the_jobs_state(
    api: TestClient, corpus: str, worker: JobWorker
) -> None:
    """Field report 6: the API can do what the screen can, by one documented POST."""
    job = api.post(f"/v1/corpora/{corpus}/jobs", json={}).json()["job_id"]
    assert api.post(f"/v1/jobs/{job}/cancel").json()["state"] == "cancelled"
    assert api.post(f"/v1/jobs/{job}/cancel").status_code == 202
    paused = api.post(f"/v1/jobs/{job}/continue", json={"max_cost": 3})
    assert (paused.status_code, paused.json()["code"]) == (409, "job_not_paused")
    assert api.post(f"/v1/jobs/{job}/retry").json()["state"] == "queued"
    twice = api.post(f"/v1/jobs/{job}/retry", headers={"Accept-Language": "ja"})
    assert (twice.status_code, twice.json()["code"]) == (409, "job_not_repeatable")
    assert "やり直す" in twice.json()["detail"]
    assert _done(api, worker, job)["attempt"] == 1
    over = api.post(f"/v1/jobs/{job}/cancel")
    assert (over.status_code, over.json()["code"]) == (409, "job_over")
    actions = [event["action"] for event in api.get("/v1/audit-events").json()["data"]]
    assert {"job.started", "job.cancelled", "job.retried"} <= set(actions)


@pytest.mark.requirement("S-50")
def test_a_refused_document_is_listed_with_its_reason_in_both_languages(
    api: TestClient, corpus: str, worker: JobWorker
) -> None:
    """Field report 2: exactly the failed ones, with a reason each."""
    api.post(f"/v1/corpora/{corpus}/documents", files={"files": ("空.md", b"   \n")})
    job = api.post(f"/v1/corpora/{corpus}/jobs", json={}).json()["job_id"]
    done = _done(api, worker, job)
    assert (done["state"], done["warnings"], done["failed_count"]) == ("succeeded", 1, 1)
    reasons = {
        language: api.get(f"/v1/jobs/{job}", headers={"Accept-Language": language}).json()["failed_items"]
        for language in ("ja", "en")
    }
    assert [item["source"] for item in reasons["ja"]] == ["空.md"]
    assert reasons["ja"][0]["reason"] != reasons["en"][0]["reason"] != ""


@pytest.mark.requirement("S-40")
def test_another_tenants_job_is_as_one_that_does_not_exist(
    api: TestClient, corpus: str, client_of: Callable[..., TestClient]
) -> None:
    """Brief: the same 404 body."""
    job = api.post(f"/v1/corpora/{corpus}/jobs", json={}).json()["job_id"]
    other = client_of("other")
    routes = (("GET", ""), ("GET", "/events"), ("POST", "/cancel"), ("POST", "/retry"), ("POST", "/continue"))
    for method, path in routes:
        body = {"max_cost": 1} if path == "/continue" else None
        foreign, missing = (
            other.request(method, f"/v1/jobs/{name}{path}", json=body) for name in (job, "job_missing")
        )
        assert foreign.status_code == missing.status_code == 404
        assert foreign.json()["code"] == missing.json()["code"]
    assert other.get("/v1/jobs").json()["data"] == []
    reader = client_of("local", "read")
    assert reader.post(f"/v1/jobs/{job}/cancel").status_code == 403
    assert reader.get(f"/v1/jobs/{job}").status_code == 200


@pytest.mark.requirement("S-122")
@pytest.mark.parametrize("answers", [True, False])
def test_a_compile_is_switched_to_by_itself_when_its_tests_go_well(
    api: TestClient, server: Server, corpus: str, worker: JobWorker, answers: bool
) -> None:
    """Issue 6: test questions, required before a switch if the owner says so."""
    api.patch(f"/v1/corpora/{corpus}", json={"tests_required": True})
    question = {"question": "年額プランの解約は？", "expected_sources": ["規約.md" if answers else "無い.md"]}
    assert api.post(f"/v1/corpora/{corpus}/test-questions", json=question).status_code == 201
    job = api.post(f"/v1/corpora/{corpus}/jobs", json={}).json()["job_id"]
    done = _done(api, worker, job)
    assert (done["state"], done["version"], done["is_activated"]) == ("succeeded", 1, False)
    assert api.get(f"/v1/corpora/{corpus}").json()["active_version"] is None
    while Examiner(server).turn():
        pass
    (run,) = api.get(f"/v1/corpora/{corpus}/test-runs").json()["data"]
    assert (run["job_id"], run["state"], run["is_switched"]) == (job, "finished", answers)
    assert (run["cause"] is None) == answers
    assert api.get(f"/v1/corpora/{corpus}").json()["active_version"] == (1 if answers else None)


@pytest.mark.requirement("S-122")
def test_a_tested_version_takes_nobody_s_place_that_came_meanwhile(
    api: TestClient, server: Server, corpus: str, worker: JobWorker
) -> None:
    """Bad input: a version activated by another meanwhile."""
    _done(api, worker, api.post(f"/v1/corpora/{corpus}/jobs", json={}).json()["job_id"])
    api.patch(f"/v1/corpora/{corpus}", json={"tests_required": True})
    question = {"question": "年額プランの解約は？", "expected_sources": ["規約.md"]}
    api.post(f"/v1/corpora/{corpus}/test-questions", json=question)
    jobs: list[str] = []
    for number in (2, 3):
        files = {"files": (f"他{number}.md", f"# 料金{number}\n\n月額は千円です。".encode())}
        api.post(f"/v1/corpora/{corpus}/documents", files=files)
        jobs.append(api.post(f"/v1/corpora/{corpus}/jobs", json={}).json()["job_id"])
        assert _done(api, worker, jobs[-1])["is_activated"] is False
    while Examiner(server).turn():
        pass
    assert _switched(api, corpus) == [True, True]
    api.post(f"/v1/corpora/{corpus}/documents", files={"files": ("後.md", "# 後\n\n後で足した。".encode())})
    _done(api, worker, api.post(f"/v1/corpora/{corpus}/jobs", json={}).json()["job_id"])
    by_hand = {"version": 1, "override_reason": "急ぎ"}
    api.put(f"/v1/corpora/{corpus}/active", json=by_hand, headers={"If-Match": '"3"'})
    while Examiner(server).turn():
        pass
    assert _switched(api, corpus) == [False, True, True]
    newest = api.get(f"/v1/corpora/{corpus}/test-runs").json()["data"][0]
    assert newest["cause"]["code"] == "version_outrun"
    assert api.get(f"/v1/corpora/{corpus}").json()["active_version"] == 1


def _switched(api: TestClient, corpus: str) -> list[bool]:
    """Of all test runs, the newest first."""
    return [run["is_switched"] for run in api.get(f"/v1/corpora/{corpus}/test-runs").json()["data"]]
