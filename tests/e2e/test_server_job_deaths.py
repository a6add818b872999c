"""A real worker process: killed at any moment, stopped, and with its database gone for a while."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from corpus2skill.adapters.store.state.state_database import engine_url
from corpus2skill.application.server_wiring import open_job_engine
from corpus2skill.application.wiring import TENANT
from corpus2skill.domain.server_job import ServerJob
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.settings import ServerSettings
from tests.e2e.job_shop import KEY, JobShop, opened_shop
from tests.e2e.paid import rules
from tests.e2e.worker_process import WorkerProcess, begun_worker
from tests.fakes.postgres_cluster import PostgresCluster
from tests.fakes.providers import Script
from tests.fakes.providers.behaviour import slow
from tests.fakes.providers.script import Asked, Rule

AT_ONCE = 4
PATIENCE = 40.0
LONG_PATIENCE = 600.0
"""Of the soak, which stands behind whatever else the machine does."""


@pytest.fixture(params=["sqlite", "postgres"])
def shop(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[JobShop]:
    url = None if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    monkeypatch.setenv("CORPUS2SKILL_CONCURRENCY", str(AT_ONCE))
    with opened_shop(tmp_path, rules(10), monkeypatch, ServerSettings(database_url=url)) as found:
        yield found


class Killer:
    """Signals the worker in the moment in which the `number`th call comes in."""

    def __init__(self, number: int, sign: signal.Signals) -> None:
        self._left, self._sign = number, sign
        self.victim: WorkerProcess | None = None

    def __call__(self, _asked: Asked) -> None:
        self._left -= 1
        if not self._left and self.victim is not None:
            self.victim.signal(self._sign)


def _rule(act: Callable[[Asked], None]) -> Rule:
    return lambda asked: act(asked)


@contextmanager
def _worker(shop: JobShop) -> Generator[WorkerProcess]:
    """A worker process of the shop's server, stopped at the end."""
    process = begun_worker(shop)
    try:
        yield process
    finally:
        process.stop()


def _wait(is_there: Callable[[], bool], patience: float = PATIENCE) -> None:
    until = time.monotonic() + patience
    while not is_there():
        assert time.monotonic() < until, "it never came"
        threading.Event().wait(0.05)


def _ended(shop: JobShop, job: ServerJob, patience: float = PATIENCE) -> ServerJob:
    def is_over() -> bool:
        try:
            return shop.job(job).ended_at is not None
        except Corpus2SkillError:  # the database is gone
            return False

    _wait(is_over, patience)
    return shop.job(job)


def _is_sound(shop: JobShop, corpus: str, leaves: int) -> bool:
    """The live version is what was written, with every document in it."""
    versions = shop.server.workspace(TENANT).versions
    active = versions.active(corpus)
    assert active is not None
    return (
        not list(versions.file_faults(corpus, active))
        and len(list(versions.chunk_rows(corpus, active))) == leaves
    )


def _killed(shop: JobShop, corpus: str, killer: Killer) -> ServerJob:
    """Start a job and see its worker die."""
    shop.provider.script = Script().add(_rule(killer))
    job = shop.start(corpus)
    with _worker(shop) as victim:
        killer.victim = victim
        assert victim.ended() == -signal.SIGKILL
    shop.provider.script = Script()
    return job


@pytest.mark.requirement("S-47", "S-56")
def test_a_job_whose_worker_is_killed_ends_right_and_pays_no_finished_call_again(
    shop: JobShop, tmp_path: Path
) -> None:
    """Issue: SIGKILL at seeded moments, on SQLite and PostgreSQL; 20 random ones in the soak."""
    for number in random.Random(40).sample(range(2, 12), 3):
        documents = _documents(tmp_path, number)
        corpus = f"killed-{number}"
        shop.add_corpus(corpus, documents=documents)
        shop.provider.calls.clear()
        job = _killed(shop, corpus, Killer(number, signal.SIGKILL))
        assert (shop.job(job).state, shop.active(corpus)) == ("running", None)
        with _worker(shop):
            done = _ended(shop, job)
        assert (done.state, done.attempt, done.cause) == ("succeeded", 2, None)
        assert _is_sound(shop, corpus, 10)
        twice = shop.provider.calls.paid_twice
        assert len(twice) <= AT_ONCE, "more than were under way"
        assert all(call.tries_before == 1 for call in twice)
        # A call whose reply came too late to be kept was paid for all the same, and nobody can tell.
        assert 0 <= len(shop.answered) - done.progress.money.calls <= AT_ONCE


def _documents(tmp_path: Path, number: int) -> Path:
    folder = tmp_path / f"documents-{number}"
    for name, text in rules(10, first=100 * number).items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.requirement("S-52", "S-54")
def test_a_worker_that_is_asked_to_stop_leaves_its_job_to_the_next_one(shop: JobShop) -> None:
    """Issue 6: graceful stop within a few seconds; the engine's log has no text and no key."""
    shop.provider.script = Script().always(slow(0.2))
    job = shop.start()
    with _worker(shop) as first:
        _wait(lambda: len(shop.answered) > 2)
        first.signal(signal.SIGTERM)
        assert first.ended() == 0
    left = shop.job(job)
    assert (left.state, left.worker is not None) == ("queued", True)
    assert [worker.worker for worker in shop.server.workers.alive()] == []
    shop.provider.script = Script()
    with _worker(shop):
        done = _ended(shop, job)
    assert (done.state, done.attempt) == ("succeeded", 2)
    assert shop.provider.calls.paid_twice == []
    engine = open_job_engine(shop.server, "reader")
    try:
        assert engine.unfinished() == ()
        assert {step.stage for step in engine.steps(done.attempt_id)} >= {"extract", "summarize", "publish"}
    finally:
        engine.close()
    url = engine_url(shop.server.home, shop.server.server_settings.database_url)
    if url.get_backend_name() == "sqlite":
        logged = b"".join(file.read_bytes() for file in shop.server.home.glob("jobs.db*"))
        assert KEY.encode() not in logged
        assert "申請".encode() not in logged


@pytest.mark.requirement("S-55")
def test_a_database_that_is_gone_for_a_while_fails_no_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres_cluster: PostgresCluster
) -> None:
    """Issue, bad input: the database gone in the middle of everything."""
    settings = ServerSettings(database_url=postgres_cluster.new_database())
    monkeypatch.setenv("CORPUS2SKILL_CONCURRENCY", "2")
    with opened_shop(tmp_path, rules(12), monkeypatch, settings) as shop:
        shop.provider.script = Script().always(slow(0.1))
        job = shop.start()
        with _worker(shop) as worker:
            _wait(lambda: len(shop.answered) > 2)
            postgres_cluster.stop()
            threading.Event().wait(2.0)
            postgres_cluster.start()
            done = _ended(shop, job)
            assert worker.is_alive
        assert done.state == "succeeded"
        assert shop.provider.calls.paid_twice == []


@pytest.mark.soak
def test_a_job_survives_death_at_random_moments(shop: JobShop, tmp_path: Path) -> None:
    """Issue: 20 random moments, by time, so that writing and switching are hit too."""
    chance = random.Random(2026)
    for number in range(20):
        corpus = f"random-{number}"
        shop.add_corpus(corpus, documents=_documents(tmp_path, number + 50))
        shop.provider.calls.clear()
        shop.provider.script = Script().always(slow(0.05))
        job = shop.start(corpus)
        with _worker(shop) as victim:
            _wait(lambda job=job: shop.job(job).state == "running", LONG_PATIENCE)
            threading.Event().wait(chance.uniform(0.0, 1.5))
            victim.signal(signal.SIGKILL)
            victim.ended()
        with _worker(shop):
            done = _ended(shop, job, LONG_PATIENCE)
        assert done.state == "succeeded"
        assert _is_sound(shop, corpus, 10)
        assert len(shop.provider.calls.paid_twice) <= AT_ONCE
