"""What every job store and worker store must do, on SQLite and on PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import URL

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.jobs import SqlJobStore
from corpus2skill.adapters.store.state.state_database import open_state, state_url
from corpus2skill.adapters.store.state.workers import SqlWorkerStore
from corpus2skill.domain.job import STAGES
from corpus2skill.domain.server_job import (
    Cause,
    Estimate,
    EstimateLine,
    FailedItem,
    JobMoney,
    JobOptions,
    Progress,
    ServerJob,
    StageState,
)
from corpus2skill.errors import ThingNotFound
from corpus2skill.ports.workers import Worker

NOW = "2026-04-01T09:30:00.000Z"
PROGRESS = Progress(
    stages=tuple(StageState(stage=stage, done=2, total=3, tries=1, ms=40) for stage in STAGES),
    money=JobMoney(calls=3, dollars=0.25, saved=None),
    failed_items=(FailedItem(source="規約.pdf", verdict="empty", values={"pages": 3, "name": "第一章"}),),
    failed_count=1,
    waiting=Cause(code="model_unavailable", values={"seconds": 3, "model": "a:b"}),
)


@pytest.fixture(params=["sqlite", "postgres"])
def state(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    url: str | None = None if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    made: URL = state_url(tmp_path, url)
    return open_state(made)


def _job(number: int, tenant: str = "acme", corpus: str = "kb", **values: object) -> ServerJob:
    job = ServerJob(
        job=f"job_{number:03}",
        tenant=tenant,
        corpus=corpus,
        created_by="user_1",
        created_at=NOW,
        options=JobOptions(model="anthropic", max_cost=2.5, strict=True),
        state_at=NOW,
    )
    return replace(job, **values)


def _estimate() -> Estimate:
    line = EstimateLine(
        purpose="summarize",
        model="anthropic:x",
        calls=(1, 2),
        input_tokens=(10.5, 20),
        output_tokens=(3, 4),
        dollars=None,
    )
    return Estimate(
        estimate="estimate_1",
        tenant="acme",
        corpus="kb",
        options=JobOptions(),
        fingerprint="f" * 64,
        created_at=NOW,
        chunks=4,
        to_summarize=3,
        to_group=2,
        refused=1,
        lines=(line,),
    )


@pytest.mark.requirement("S-56")
def test_a_job_comes_back_as_it_was_kept(state: Database) -> None:
    """Issue 6: one contract on both databases."""
    store = SqlJobStore(state)
    job = _job(
        1, estimate=_estimate(), cause=Cause(code="busy", values={"corpus": "規約"}), progress=PROGRESS
    )
    store.add(job)
    assert store.job("acme", "job_001") == job
    for tenant, name in (("other", "job_001"), ("acme", "job_002")):
        with pytest.raises(ThingNotFound):
            store.job(tenant, name)
    store.add_estimate(_estimate())
    assert store.estimate("acme", "estimate_1") == _estimate()
    with pytest.raises(ThingNotFound):
        store.estimate("other", "estimate_1")


@pytest.mark.requirement("S-56")
def test_lists_are_newest_first_by_corpus_and_state(state: Database) -> None:
    """The same filters everywhere."""
    store = SqlJobStore(state)
    assert store.jobs("acme") == ()
    for number, corpus in enumerate(("a", "b", "a", "a")):
        store.add(_job(number, corpus=corpus, state="failed" if number == 2 else "queued"))
    store.add(_job(9, tenant="other"))
    assert [job.job for job in store.jobs("acme", limit=2)] == ["job_003", "job_002"]
    assert [job.job for job in store.jobs("acme", before="job_002")] == ["job_001", "job_000"]
    assert [job.job for job in store.jobs("acme", corpus="a", states=("queued",))] == ["job_003", "job_000"]
    assert [(job.tenant, job.corpus, job.job) for job in store.queued()] == [
        ("acme", "a", "job_000"),
        ("acme", "b", "job_001"),
        ("other", "kb", "job_009"),
    ]


@pytest.mark.requirement("S-56")
def test_only_one_of_many_can_take_up_a_job(state: Database) -> None:
    """Two workers never carry out one job."""
    store = SqlJobStore(state)
    store.add(_job(1))
    taken: list[str] = []

    def claim(name: str) -> None:
        def turn(was: ServerJob) -> ServerJob | None:
            if was.state != "queued":
                return None
            return replace(was, state="running", worker=name, attempt=was.attempt + 1)

        if store.change("acme", "job_001", turn) is not None:
            taken.append(name)

    _side_by_side(claim, [f"worker_{number}" for number in range(6)])
    assert len(taken) == 1
    (running,) = store.running()
    assert (running.worker, running.attempt) == (taken[0], 1)


def _side_by_side(work: Callable[[str], None], names: list[str]) -> None:
    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.requirement("S-56")
def test_progress_and_beats_are_of_the_running_attempt_alone(state: Database) -> None:
    """A worker that was taken for dead writes nothing into its successor's job."""
    store = SqlJobStore(state)
    store.add(_job(1, state="running", worker="worker_1", attempt=2))
    assert not store.save_progress("acme", "job_001", 1, PROGRESS)
    assert store.save_progress("acme", "job_001", 2, PROGRESS)
    store.beat("worker_2", ["job_001"])
    store.beat("worker_1", ["job_001"])
    kept = store.job("acme", "job_001")
    assert (kept.progress, kept.beats) == (PROGRESS, 1)
    changed = store.change("acme", "job_001", lambda was: replace(was, state="failed", progress=Progress()))
    assert changed is not None
    assert changed.progress == store.job("acme", "job_001").progress == PROGRESS
    assert not store.save_progress("acme", "job_001", 2, Progress())


@pytest.mark.requirement("S-56")
def test_stalled_jobs_are_found_by_their_time(state: Database) -> None:
    """Those that go on by themselves alone."""
    store = SqlJobStore(state)
    store.add(_job(1, state="stalled", retry_at=NOW))
    store.add(_job(2, state="stalled"))
    store.add(_job(3, state="failed", retry_at=NOW))
    assert [job.job for job in store.stalled_with_retry()] == ["job_001"]


@pytest.mark.requirement("S-56")
def test_workers_come_live_and_leave(state: Database) -> None:
    """Readiness and recovery look at them."""
    store = SqlWorkerStore(state)
    assert store.alive() == ()
    for name in ("worker_1", "worker_2"):
        store.arrive(Worker(worker=name, place="here:/srv", release="1", started_at=NOW))
    store.beat("worker_2", NOW)
    store.leave("worker_1", NOW)
    store.leave("worker_1", "2027-01-01T00:00:00.000Z")
    (left,) = store.alive()
    assert (left.worker, left.beats, left.seen_at) == ("worker_2", 1, NOW)
