"""The server's worker in a process of its own, forked from one that has read all modules before."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from corpus2skill.entrypoints.worker import main
from corpus2skill.settings import server_environment
from tests.e2e.job_shop import JobShop

_PATIENCE = 60.0
_READ_BEFORE = (
    "tests.e2e.worker_process",
    "anthropic.resources",
    "dbos",
    "genai_prices.data",
    "genai_prices.data_snapshot",
    "psycopg",
    "sqlalchemy.dialects.postgresql",
    "sqlalchemy.dialects.sqlite",
    "corpus2skill.adapters.jobs.dbos_engine",
    "corpus2skill.adapters.offline.grouper",
    "corpus2skill.adapters.offline.summarizer",
    "corpus2skill.adapters.extract.extractors",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerProcess:
    process: ForkServerProcess

    @property
    def is_alive(self) -> bool:
        return self.process.is_alive()

    def signal(self, sign: signal.Signals) -> None:
        assert self.process.pid is not None
        os.kill(self.process.pid, sign)

    def ended(self) -> int:
        """Wait for its end and return its exit code, negative for a signal."""
        self.process.join(_PATIENCE)
        assert self.process.exitcode is not None, "it goes on"
        return self.process.exitcode

    def stop(self) -> None:
        if self.is_alive:
            self.signal(signal.SIGTERM)
        self.ended()


def begun_worker(shop: JobShop) -> WorkerProcess:
    """Begin the worker of a shop's server."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_READ_BEFORE))
    environment = {**os.environ, **server_environment(shop.server.server_settings)}
    process = context.Process(target=_run, args=(environment, str(shop.server.home)))
    process.start()
    return WorkerProcess(process=process)


def _run(environment: dict[str, str], home: str) -> None:
    os.environ.clear()
    os.environ.update(environment)
    sys.stderr = Path(home).with_name("worker.log").open("a", encoding="utf-8")
    sys.argv = ["worker", "--home", home, "--nice", "0"]
    main()
