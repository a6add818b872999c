"""Jobs of the server, with a worker turned by hand against a provider over HTTP."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from corpus2skill.application.server.job_estimate import estimate_job
from corpus2skill.application.server.job_watch import JobWatch
from corpus2skill.application.server.jobs import (
    cancel_job,
    continue_job,
    key_arrived,
    retry_job,
    start_job,
)
from corpus2skill.application.server_wiring import Server, worker_presence
from corpus2skill.application.wiring import TENANT
from corpus2skill.domain.server_job import JobOptions, ServerJob
from corpus2skill.errors import ConfirmationNeeded, Conflict, InvalidInput, Outrun, ThingNotFound
from corpus2skill.ports.announcements import Announcer
from corpus2skill.ports.workers import Worker
from tests.e2e.job_shop import CORPUS, KEY, MODEL, JobShop, opened_shop
from tests.e2e.paid import purpose_of, rules
from tests.fakes.job_engine import MemoryEngine, MemoryLog
from tests.fakes.providers import Script
from tests.fakes.providers.behaviour import fails, slow
from tests.fakes.providers.script import Asked


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobShop]:
    with opened_shop(tmp_path, rules(12), monkeypatch) as found:
        yield found


@pytest.mark.requirement("S-40")
def test_a_job_runs_through_all_six_stages_and_says_so_the_same_everywhere(shop: JobShop) -> None:
    """Issue, jobs: the article's six stages; field report 7: the number is done/total, everywhere the same."""
    engine = MemoryEngine()
    worker = shop.worker(engine)
    job = shop.until(worker, shop.start())
    assert (job.state, job.version, job.is_activated, job.attempt) == ("succeeded", 1, True, 1)
    assert [stage.stage for stage in job.progress.stages] == [
        "extract",
        "chunk",
        "summarize",
        "cluster",
        "write",
        "publish",
    ]
    assert all(stage.is_done and stage.done == stage.total and stage.tries for stage in job.progress.stages)
    assert job.progress.stage("summarize").done == 12
    noted = Counter(step.stage for step in engine.steps(job.attempt_id))
    assert noted == {"extract": 1, "chunk": 1, "summarize": 1, "cluster": 1, "write": 1, "publish": 1}
    assert job.progress.money.calls == len(shop.answered)
    states = [state for kind, state in shop.events(job) if kind == "job.state"]
    assert states == ["queued", "running", "succeeded"]
    told = shop.server.events.since(TENANT, f"job:{job.job}", 0)
    last = next(event for event in reversed(told) if event.kind == "job.progress")
    assert [stage["done"] for stage in last.payload["stages"]] == [  # type: ignore[index]
        stage.done for stage in job.progress.stages
    ]


@pytest.mark.requirement("S-41")
def test_a_paid_job_needs_an_estimate_that_was_shown_or_a_cap(shop: JobShop) -> None:
    """Field report 9: no compile starts without a shown estimate."""
    by, wanted = shop.person(), JobOptions(model=MODEL)
    with pytest.raises(ConfirmationNeeded, match="estimate_or_cap"):
        start_job(shop.server, by, CORPUS, wanted)
    estimate = estimate_job(shop.server, by, CORPUS, wanted)
    assert (estimate.to_summarize, bool(estimate.lines), len(shop.provider.calls)) == (12, True, 0)
    assert estimate.most_dollars is not None
    worker = shop.worker()
    job = shop.until(worker, start_job(shop.server, by, CORPUS, JobOptions(), estimate.estimate))
    assert (job.state, job.estimate, job.options.model) == ("succeeded", estimate, MODEL)
    assert job.progress.money.dollars is not None
    assert job.progress.money.dollars <= estimate.most_dollars
    assert shop.until(worker, start_job(shop.server, by, CORPUS, JobOptions(model="offline"))).state


@pytest.mark.requirement("S-41")
def test_an_estimate_is_of_its_documents_and_models_only(shop: JobShop) -> None:
    """Issue 6: an estimate that documents have outdated is refused with 412."""
    by = shop.person()
    estimate = estimate_job(shop.server, by, CORPUS, JobOptions(model=MODEL))
    for other in (JobOptions(model="anthropic:claude-opus-4-5"), JobOptions(regroup=True)):
        with pytest.raises(Outrun, match="estimate_outdated"):
            start_job(shop.server, by, CORPUS, other, estimate.estimate)
    (shop.documents / "new.md").write_text("返品は三十日以内に申し出てください。" * 5, encoding="utf-8")
    with pytest.raises(Outrun, match="estimate_outdated"):
        start_job(shop.server, by, CORPUS, JobOptions(), estimate.estimate)
    shop.add_corpus(CORPUS, "other")
    with pytest.raises(ThingNotFound):
        start_job(shop.server, shop.person("other"), CORPUS, JobOptions(), estimate.estimate)


@pytest.mark.requirement("S-42")
def test_a_cap_pauses_the_job_and_a_higher_one_goes_on_from_there(shop: JobShop) -> None:
    """Field report 9: crossing the cap pauses the job, it does not fail; all attempts share the cap."""
    worker = shop.worker()
    job = shop.until(worker, shop.start(max_cost=0.012), "paused_budget")
    assert job.cause is not None
    assert (job.state, job.cause.code, shop.active()) == ("paused_budget", "spending_cap_reached", None)
    spent = job.progress.money.dollars
    assert spent is not None
    assert 0 < spent <= 0.012
    with pytest.raises(InvalidInput, match="cap_below_spent"):
        continue_job(shop.server, shop.person(), job.job, spent / 2)
    continue_job(shop.server, shop.person(), job.job, 0.013)
    again = shop.until(worker, job, "paused_budget")
    assert again.progress.money.dollars is not None
    assert again.progress.money.dollars <= 0.013
    continue_job(shop.server, shop.person(), job.job, 5.0)
    done = shop.until(worker, job)
    assert (done.state, done.attempt) == ("succeeded", 3)
    assert done.progress.money.calls == len(shop.answered)
    assert shop.provider.calls.paid_twice == []
    with pytest.raises(Conflict, match="job_not_paused"):
        continue_job(shop.server, shop.person(), job.job, 9.0)


@pytest.mark.requirement("S-43")
def test_a_job_without_a_key_waits_for_it_and_goes_on_by_itself(
    shop: JobShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: `waiting_for_key` until the tenant's key arrives."""
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    worker = shop.worker()
    job = shop.until(worker, shop.start(), "waiting_for_key")
    assert job.cause is not None
    assert (job.cause.code, shop.answered) == ("key_wanted", [])
    assert key_arrived(shop.server, TENANT, "openai") == ()
    assert key_arrived(shop.server, "other", "anthropic") == ()
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert key_arrived(shop.server, TENANT, "anthropic") == (job.job,)
    assert shop.until(worker, job).state == "succeeded"


@pytest.mark.requirement("S-43")
def test_a_key_that_is_revoked_in_the_middle_costs_no_call_again(shop: JobShop) -> None:
    """Issue, bad input: a provider key revoked in the middle of a job: back to `waiting_for_key`."""
    shop.provider.script = Script().for_calls(7, 10_000, fails("authentication"))
    worker = shop.worker()
    job = shop.until(worker, shop.start(), "waiting_for_key")
    assert job.cause is not None
    assert job.cause.code == "key_refused"
    assert KEY not in repr(job)
    before = len(shop.answered)
    assert before == job.progress.money.calls > 0
    shop.provider.script = Script()
    key_arrived(shop.server, TENANT, "anthropic")
    done = shop.until(worker, job)
    assert done.state == "succeeded"
    assert done.progress.money.reused == before
    assert shop.provider.calls.paid_twice == []


@pytest.mark.requirement("S-44")
def test_cancel_returns_when_no_call_is_sent_any_more(shop: JobShop) -> None:
    """Field report 4: after cancel returns the provider sees no new call; the live version is untouched."""
    worker = shop.worker()
    offline = shop.until(worker, shop.start(model="offline"))
    shop.provider.script = Script().always(slow(0.15))
    shop.server.workspace(TENANT)
    job = shop.start()
    shop.turned(worker, lambda: len(shop.provider.calls) >= 4)
    stop = threading.Event()
    turning = threading.Thread(target=lambda: [worker.turn() for _ in iter(lambda: stop.wait(0.02), True)])
    turning.start()
    cancelled = cancel_job(shop.server, shop.person(), job.job)
    seen = len(shop.provider.calls)
    stop.set()
    turning.join()
    assert cancelled.is_quiet or cancelled.state == "cancelled"
    ended = shop.until(worker, job)
    assert (ended.state, len(shop.provider.calls), shop.active()) == ("cancelled", seen, offline.version)
    shop.provider.script = Script()
    retry_job(shop.server, shop.person(), job.job)
    done = shop.until(worker, job)
    assert done.state == "succeeded"
    assert shop.provider.calls.paid_twice == []
    with pytest.raises(Conflict, match="job_over"):
        cancel_job(shop.server, shop.person(), job.job)


@pytest.mark.requirement("S-44")
def test_a_job_that_nobody_works_on_is_cancelled_at_once(shop: JobShop) -> None:
    """The same for a queued one, once and again."""
    job = shop.start()
    assert cancel_job(shop.server, shop.person(), job.job).state == "cancelled"
    assert cancel_job(shop.server, shop.person(), job.job).state == "cancelled"
    assert [event.action for event in shop.server.audit.events(TENANT)[:2]] == [
        "job.cancelled",
        "job.started",
    ]


@pytest.mark.requirement("S-45")
def test_a_failed_grouping_is_tried_again_without_one_summary_paid_again(shop: JobShop) -> None:
    """Issue: a failed grouping is retried without one summary paid again."""

    def of_groups(asked: Asked) -> bool:
        return purpose_of(asked.call) != "summarize"

    shop.provider.script = Script().add(lambda asked: fails("payment") if of_groups(asked) else None)
    worker = shop.worker()
    job = shop.until(worker, shop.start())
    assert job.state == "failed"
    assert job.progress.stage("summarize").is_done
    shop.provider.script = Script()
    retry_job(shop.server, shop.person(), job.job)
    assert shop.until(worker, job).state == "succeeded"
    assert shop.provider.calls.paid_twice == []
    summaries = [call for call in shop.answered if purpose_of(call) == "summarize"]
    assert len(summaries) == 12


@pytest.mark.requirement("S-46")
def test_what_passes_by_itself_stalls_the_job_and_is_tried_again(
    shop: JobShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Field report 8: a stalled job says its cause and goes on by itself, a few times."""
    with shop.server.workspace(TENANT).versions.exclusive(CORPUS):  # the command line compiles it
        worker = shop.worker()
        job = shop.until(worker, shop.start(), "stalled")
        assert job.cause is not None
        assert job.cause.code.startswith("busy")
        shop.turned(worker, lambda: shop.job(job).state == "stalled" and not shop.job(job).retries_left)
    stalled = shop.job(job)
    assert stalled.attempt >= 3
    retry_job(shop.server, shop.person(), job.job)
    assert shop.until(worker, job).state == "succeeded"


@pytest.mark.requirement("S-47")
def test_a_dead_worker_is_noticed_and_the_next_one_goes_on(shop: JobShop) -> None:
    """Field report 8: no heartbeat turns the job into `stalled`; field report 6: nothing is done twice."""
    log = MemoryLog()
    shop.provider.script = Script().always(slow(0.1))
    dead = shop.worker(MemoryEngine("worker_1", "1", log))
    job = shop.start()
    shop.turned(dead, lambda: len(shop.answered) > 2)
    attempt = log.unfinished[shop.job(job).attempt_id]
    dead.leave()
    shop.server.jobs.change(  # as if it had died without a word
        TENANT, job.job, lambda was: _running(was, attempt.executor)
    )
    watch = JobWatch(shop.server, lease_seconds=0.01)
    watch.look()
    threading.Event().wait(0.05)
    for _ in range(20):
        watch.look()
        threading.Event().wait(0.005)
    stalled = shop.job(job)
    assert stalled.cause is not None
    assert (stalled.state, stalled.cause.code, watch.has_worker) == ("stalled", "worker_gone", False)
    shop.provider.script = Script()
    done = shop.until(shop.worker(MemoryEngine("worker_2", "1", log), "worker_2"), job)
    assert done.state == "succeeded"
    assert shop.provider.calls.paid_twice == []


@pytest.mark.requirement("S-48")
def test_a_newer_release_names_the_jobs_of_the_older_one_and_carries_them_on(
    shop: JobShop, caplog: pytest.LogCaptureFixture
) -> None:
    """Issue: an upgrade strands no job (found and named at start)."""
    log = MemoryLog()
    old = shop.worker(MemoryEngine("worker_1", "1", log))
    shop.provider.script = Script().always(slow(0.05))
    job = shop.start()
    shop.turned(old, lambda: len(shop.answered) > 2)
    attempt = log.unfinished[shop.job(job).attempt_id]
    old.leave()
    log.unfinished[attempt.attempt] = attempt
    shop.server.jobs.change(TENANT, job.job, lambda was: _running(was, "worker_1x"))
    _come_back(shop, "worker_1")
    new = shop.worker(MemoryEngine("worker_2", "2", log), "worker_2", "2")
    new.turn()
    assert job.job in caplog.text
    assert "release 1" in caplog.text
    assert attempt.attempt not in log.unfinished
    shop.provider.script = Script()
    done = shop.until(new, job)
    assert (done.state, done.worker) == ("succeeded", "worker_2")
    assert shop.provider.calls.paid_twice == []


@pytest.mark.requirement("S-49")
def test_a_tenant_with_many_jobs_does_not_hold_up_another_tenants_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: job concurrency per tenant, fair between tenants."""
    with opened_shop(tmp_path, rules(3), monkeypatch) as shop:
        many = [shop.add_corpus(f"c{n}", "big") for n in range(8)]
        assert len(many) == 8
        shop.add_corpus("only", "small")
        first = [shop.start(f"c{n}", "big", model="offline") for n in range(8)]
        late = shop.start("only", "small", model="offline")
        worker = shop.worker()
        worker.turn()
        assert shop.job(late).state == "running"
        assert [shop.job(job).state for job in first].count("running") == 1
        shop.turned(worker, lambda: all(shop.job(job).state == "succeeded" for job in (*first, late)))


@pytest.mark.requirement("S-50")
def test_a_bad_document_is_named_and_holds_up_no_other(shop: JobShop) -> None:
    """Field report 5: one failed document never blocks the others; a retry of it alone works."""
    bad = shop.documents / "bad.pdf"
    bad.write_bytes(b"%PDF-1.4 nothing")
    worker = shop.worker()
    job = shop.until(worker, shop.start())
    assert (job.state, job.warnings, job.progress.failed_count) == ("succeeded", 1, 1)
    assert [item.source for item in job.progress.failed_items] == ["bad.pdf"]
    assert ("job.item_failed", None) in shop.events(job)
    before = len(shop.answered)
    bad.unlink()
    (shop.documents / "good.md").write_text("送料は全国一律で五百円です。" * 6, encoding="utf-8")
    again = shop.until(worker, shop.start())
    assert (again.state, again.version, again.progress.failed_count) == ("succeeded", 2, 0)
    assert Counter(map(purpose_of, shop.answered[before:]))["summarize"] == 1


@pytest.mark.requirement("S-51")
def test_what_a_job_comes_to_is_announced(shop: JobShop) -> None:
    """interfaces.md: compilation.succeeded / failed / paused, version.published."""
    told: list[str] = []

    class Ear:
        def announce(self, tenant: str, kind: str, payload: object) -> None:
            assert (tenant, bool(payload)) == (TENANT, True)
            told.append(kind)

    heard = JobShop(server=_with_announcer(shop, Ear()), provider=shop.provider, documents=shop.documents)
    worker = heard.worker()
    job = heard.until(worker, heard.start(max_cost=0.012), "paused_budget")
    continue_job(heard.server, heard.person(), job.job, 5.0)
    heard.until(worker, job)
    for path in heard.documents.rglob("*.md"):
        path.unlink()
    heard.until(worker, heard.start())
    assert told == [
        "compilation.paused",
        "compilation.succeeded",
        "version.published",
        "compilation.failed",
    ]


def _running(job: ServerJob, worker: str) -> ServerJob:
    return replace(job, state="running", worker=worker)


def _come_back(shop: JobShop, worker: str) -> None:
    """A worker that nobody saw leave."""
    _, place = worker_presence(shop.server)
    alive = Worker(worker=f"{worker}x", place=place, release="1", started_at="2026-04-01T00:00:00.000Z")
    shop.server.workers.arrive(alive)


def _with_announcer(shop: JobShop, announcer: Announcer) -> Server:
    return replace(shop.server, announcer=announcer)
