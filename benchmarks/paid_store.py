"""The result store alone, beside SQLite used directly for the same rows."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from corpus2skill.adapters.store.results import SqlResultStore, results_url
from corpus2skill.domain.message import Usage
from corpus2skill.domain.model_call import TextReply
from corpus2skill.ports.result_store import PaidResult

AT_ONCE = 64
ALONE = 1_000
_TEXT = (
    '{"title": "年額プランの解約", "summary": "'
    + "解約は満了の三十日前までに管理画面から申請する。" * 5
    + '"}'
)
Figures = dict[str, float]


def store_alone(results: int) -> Figures:
    """Milliseconds of wall time for each call: 64 at a time, then one at a time."""
    with tempfile.TemporaryDirectory() as name:
        kept = [_result(number) for number in range(results)]
        cpu_began = time.process_time()
        figures = asyncio.run(_ours(Path(name), kept))
        figures["cpu_ms_per_find_and_keep"] = (time.process_time() - cpu_began) / results * 1e3
        return figures | _sqlite(Path(name) / "plain.db", kept[:ALONE])


async def _ours(folder: Path, kept: Sequence[PaidResult]) -> Figures:
    store = SqlResultStore(results_url(folder))
    await store.keep(_result(-1))
    figures = {
        "find_nothing_64": await _each(kept, lambda result: store.find(result.key), AT_ONCE),
        "keep_64": await _each(kept, store.keep, AT_ONCE),
        "find_64": await _each(kept, lambda result: store.find(result.key), AT_ONCE),
        "find_alone": await _each(kept[:ALONE], lambda result: store.find(result.key), 1),
        "keep_alone": await _each([_result(-number) for number in range(2, ALONE)], store.keep, 1),
    }
    store.close()
    return figures


async def _each(
    items: Sequence[PaidResult], work: Callable[[PaidResult], Awaitable[object]], at_once: int
) -> float:
    waiting = iter(items)

    async def worker(waiting: Iterator[PaidResult]) -> None:
        for item in waiting:
            await work(item)

    began = time.perf_counter()
    await asyncio.gather(*(worker(waiting) for _ in range(at_once)))
    return (time.perf_counter() - began) / len(items) * 1e3


def _sqlite(file: Path, kept: Sequence[PaidResult]) -> Figures:
    """The floor: no thread between, one row a commit that is waited for."""
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE results (key TEXT PRIMARY KEY, reply TEXT)")
    began = time.perf_counter()
    for result in kept:
        connection.execute("INSERT INTO results VALUES (?, ?)", (result.key, result.reply.text))
    wrote = time.perf_counter()
    for result in kept:
        connection.execute("SELECT reply FROM results WHERE key = ?", (result.key,)).fetchone()
    read = time.perf_counter()
    connection.close()
    return {
        "plain_sqlite_insert": (wrote - began) / len(kept) * 1e3,
        "plain_sqlite_select": (read - wrote) / len(kept) * 1e3,
    }


def _result(number: int) -> PaidResult:
    return PaidResult(
        key=hashlib.sha256(str(number).encode()).hexdigest(),
        corpus="default",
        model="anthropic:claude-haiku-5-5",
        purpose="summarize",
        subject=hashlib.sha256(f"chunk {number}".encode()).hexdigest(),
        prompt_characters=1500,
        reply=TextReply(text=_TEXT, stop="end", usage=Usage(input_tokens=900, output_tokens=120)),
        dollars=0.0012,
        paid_at=datetime.now(UTC),
    )
