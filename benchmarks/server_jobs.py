"""What the job engine adds to a compile: the same documents with and without it, in processes of their own.

`server_jobs.py [CHUNKS]`; PostgreSQL too where Debian's package is installed. Both sides compile offline, so that
none of the time is a provider's; CPU is looked at as well as the clock, since the machine may be busy.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for the fakes

from paid_corpus import write_documents

from corpus2skill.application.compile_documents import compile_documents
from corpus2skill.application.compile_engine import silent
from corpus2skill.application.compile_options import CompileOptions
from corpus2skill.application.server.corpora import create_corpus
from corpus2skill.application.server.job_worker import JobWorker
from corpus2skill.application.server.jobs import start_job
from corpus2skill.application.server_wiring import open_job_engine, open_server, worker_presence
from corpus2skill.application.wiring import TENANT
from corpus2skill.domain.people import SCOPES, Principal
from corpus2skill.domain.server_job import JobOptions
from corpus2skill.domain.upload import CorpusSettings
from corpus2skill.ports.workers import Worker
from corpus2skill.settings import ServerSettings
from tests.fakes.postgres_cluster import PostgresCluster, binaries

CHUNKS = 20_000
_CORPUS = "bench"


def alone(home: Path, documents: Path) -> dict[str, float]:
    """Compile in the foreground."""
    server = open_server(home, ServerSettings())
    options = CompileOptions(corpus=_CORPUS, paths=(documents,))
    began, cpu = time.monotonic(), time.process_time()
    asyncio.run(compile_documents(server.workspace(TENANT), options, silent))
    return {"wall": time.monotonic() - began, "cpu": time.process_time() - cpu}


def as_job(home: Path, documents: Path, url: str | None) -> dict[str, float]:
    """Compile as a job, with the engine's log and all that is told of it."""
    server = open_server(home, ServerSettings(database_url=url))
    by = Principal(tenant=TENANT, actor="bench", name="bench", scopes=frozenset(SCOPES))
    create_corpus(server, by, _CORPUS, CorpusSettings())
    versions = server.workspace(TENANT).versions
    _remember(versions, documents)
    engine = open_job_engine(server, "worker_1")
    presence, place = worker_presence(server)
    assert presence.hold("worker_1")
    me = Worker(worker="worker_1", place=place, release="1", started_at="2026-01-01T00:00:00.000Z")
    worker = JobWorker(server, engine, presence, me)
    job = start_job(server, by, _CORPUS, JobOptions())
    began, cpu = time.monotonic(), time.process_time()
    while (now := server.jobs.job(TENANT, job.job)).ended_at is None:
        worker.turn()
        threading.Event().wait(0.1)
    took = {"wall": time.monotonic() - began, "cpu": time.process_time() - cpu}
    assert now.state == "succeeded", now.cause
    events = server.events.newest([(TENANT, f"job:{job.job}")])
    return {
        **took,
        "steps": len(engine.steps(now.attempt_id)),
        "events": sum(events.values()),
        "log_kb": sum(file.stat().st_size for file in home.glob("jobs.db*")) / 1000,
    }


def _remember(versions: object, documents: Path) -> None:
    from dataclasses import replace

    from corpus2skill.adapters.store.version_files import FileVersionStore

    assert isinstance(versions, FileVersionStore)
    with versions.exclusive(_CORPUS):
        config = replace(versions.config(_CORPUS), paths=(str(documents),))
        versions.save_config(_CORPUS, config)


def _apart(what: str, home: Path, documents: Path, url: str | None = None) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", what, str(home), str(documents), url or ""]
    ran = subprocess.run(
        command, check=True, capture_output=True, env={**os.environ, "PYTHONWARNINGS": "ignore"}
    )
    return dict(json.loads(ran.stdout))


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        what, home, documents, url = sys.argv[2:6]
        found = (
            alone(Path(home), Path(documents))
            if what == "alone"
            else as_job(Path(home), Path(documents), url or None)
        )
        sys.stdout.write(json.dumps(found))
        sys.stdout.flush()
        os._exit(0)
    chunks = int(sys.argv[1]) if len(sys.argv) > 1 else CHUNKS
    with tempfile.TemporaryDirectory() as folder:
        documents = Path(folder) / "documents"
        write_documents(documents, chunks)
        floor = _apart("alone", Path(folder) / "alone", documents)
        _tell("alone", floor, floor, chunks)
        _tell("as a job, SQLite", _apart("job", Path(folder) / "sqlite", documents), floor, chunks)
        programs = binaries()
        if programs is None:
            return
        cluster = PostgresCluster(programs)
        try:
            found = _apart("job", Path(folder) / "postgres", documents, cluster.new_database())
            _tell("as a job, PostgreSQL", found, floor, chunks)
        finally:
            cluster.remove()


def _tell(name: str, found: dict[str, float], floor: dict[str, float], chunks: int) -> None:
    each = {kind: 1000 * (found[kind] - floor[kind]) / chunks for kind in ("wall", "cpu")}
    more = " ".join(f"{key}={found[key]:.0f}" for key in ("steps", "events", "log_kb") if key in found)
    sys.stdout.write(
        f"{name}: wall {found['wall']:.1f} s (ratio {found['wall'] / floor['wall']:.2f}, {each['wall']:.3f} ms a chunk), "
        f"CPU {found['cpu']:.1f} s (ratio {found['cpu'] / floor['cpu']:.2f}, {each['cpu']:.3f} ms a chunk) {more}\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    main()
