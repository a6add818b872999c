"""A server with a paying corpus, and a worker that the test turns by hand."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from corpus2skill.application.server.corpora import create_corpus
from corpus2skill.application.server.credentials import NewCredential, store_credential
from corpus2skill.application.server.job_worker import JobWorker, Pace
from corpus2skill.application.server.jobs import start_job
from corpus2skill.application.server_wiring import (
    Server,
    new_master_key,
    open_server,
    worker_presence,
)
from corpus2skill.application.wiring import TENANT
from corpus2skill.domain.people import SCOPES, Principal
from corpus2skill.domain.server_job import ENDED, JobOptions, JobState, ServerJob
from corpus2skill.domain.upload import CorpusSettings
from corpus2skill.ports.job_engine import JobEngine
from corpus2skill.ports.workers import Worker
from corpus2skill.settings import ServerSettings
from tests.e2e.command_line import write_documents
from tests.e2e.paid import serve
from tests.fakes.job_engine import MemoryEngine
from tests.fakes.providers import KEY, ProviderServer, anthropic_server
from tests.fakes.providers.calls import Call
from tests.fakes.providers.hosting import in_thread

CORPUS = "kb"
MODEL = "anthropic"
PATIENCE = 30.0
"""Seconds that a test waits for something that takes a fraction of one."""
QUICK = Pace(beat=0.05, lease=0.3, retry_pauses=(0.0, 0.0, 0.0), leaving=5.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobShop:
    """One server, one provider, and the documents."""

    server: Server
    provider: ProviderServer
    documents: Path

    def person(self, tenant: str = TENANT) -> Principal:
        return Principal(tenant=tenant, actor="user_test", name="test", scopes=frozenset(SCOPES))

    def add_corpus(self, corpus: str, tenant: str = TENANT, documents: Path | None = None) -> None:
        """Make a corpus that compiles the documents, or those of another folder."""
        create_corpus(self.server, self.person(tenant), corpus, CorpusSettings())
        versions = self.server.workspace(tenant).versions
        config = replace(versions.config(corpus), paths=(str(documents or self.documents),))
        with versions.exclusive(corpus):
            versions.save_config(corpus, config)

    def store_key(self, tenant: str = TENANT) -> None:
        """Store the tenant's key: the environment's pays only for the embedded default's own tenant."""
        wanted = NewCredential(provider=MODEL, secret=KEY, base_url=self.provider.base_url)
        store_credential(self.server, self.person(tenant), wanted)

    def start(self, corpus: str = CORPUS, tenant: str = TENANT, **options: str | float | bool) -> ServerJob:
        """Queue a compile by the paid model, with a cap that is never reached unless it says otherwise."""
        wanted = JobOptions(**{"model": MODEL, "max_cost": 50.0, **options})  # type: ignore[arg-type]
        return start_job(self.server, self.person(tenant), corpus, wanted)

    def job(self, job: ServerJob) -> ServerJob:
        return self.server.jobs.job(job.tenant, job.job)

    def worker(
        self, engine: JobEngine | None = None, name: str = "worker_1", release: str = "1"
    ) -> JobWorker:
        presence, place = worker_presence(self.server)
        assert presence.hold(name)
        me = Worker(worker=name, place=place, release=release, started_at="2026-04-01T00:00:00.000Z")
        return JobWorker(self.server, engine or MemoryEngine(name, release), presence, me, QUICK)

    def turned(self, worker: JobWorker, is_there: Callable[[], bool]) -> None:
        """Turn a worker until something is so."""
        until = time.monotonic() + PATIENCE
        while not is_there():
            assert time.monotonic() < until, "it never came"
            worker.turn()
            threading.Event().wait(0.02)

    def until(self, worker: JobWorker, job: ServerJob, *states: JobState) -> ServerJob:
        """Turn a worker until a job is in one of the states, or has ended."""
        self.turned(worker, lambda: self.job(job).state in (states or ENDED))
        return self.job(job)

    @property
    def answered(self) -> list[Call]:
        return self.provider.calls.answered

    def active(self, corpus: str = CORPUS, tenant: str = TENANT) -> int | None:
        return self.server.workspace(tenant).versions.active(corpus)

    def events(self, job: ServerJob) -> list[tuple[str, object]]:
        """What was told of a job: the kind, and of a state which."""
        found = self.server.events.since(job.tenant, f"job:{job.job}", 0, 10_000)
        return [(event.kind, event.payload.get("state")) for event in found]


@contextmanager
def opened_shop(
    home: Path,
    documents: Mapping[str, str],
    monkeypatch: pytest.MonkeyPatch,
    settings: ServerSettings | None = None,
    latency: float = 0.0,
) -> Generator[JobShop]:
    """A shop with its provider up and one corpus in it."""
    provider = anthropic_server(latency=latency)
    with in_thread(provider):
        serve(provider, MODEL, monkeypatch)
        monkeypatch.setenv("CORPUS2SKILL_MASTER_KEY", new_master_key())
        shop = JobShop(
            server=open_server(
                home / "home", replace(settings or ServerSettings(), allow_private_endpoints=True)
            ),
            provider=provider,
            documents=write_documents(home / "documents", documents),
        )
        shop.add_corpus(CORPUS)
        if shop.server.server_settings.database_url is not None:
            shop.store_key()
        yield shop


__all__ = ["CORPUS", "KEY", "MODEL", "JobShop", "opened_shop"]
