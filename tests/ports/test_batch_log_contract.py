"""What every `BatchLog` promises, asked of the real one and of the one in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from corpus2skill.adapters.store.batch_log import SqlBatchLog
from corpus2skill.adapters.store.results import SqlResultStore, results_url
from corpus2skill.ports.batch_log import BatchedCall, BatchLog, NotedBatch
from tests.fakes.batch_log import FakeBatchLog
from tests.fakes.clock import START
from tests.ports.results import key_of, result

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["sqlite", "postgres", "memory"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BatchLog]:
    if request.param == "memory":
        yield FakeBatchLog()
        return
    url = str(request.getfixturevalue("postgres_url")) if request.param == "postgres" else None
    opened = SqlBatchLog(url or results_url(tmp_path / "作業"))
    yield opened
    opened.close()


def noted(token: str, *subjects: str, corpus: str = "terms", identity: str = "fake-1") -> NotedBatch:
    return NotedBatch(
        token=token,
        corpus=corpus,
        model="fake:model",
        identity=identity,
        calls=tuple(
            BatchedCall(
                key=key_of(subject),
                purpose="summarize",
                subject=subject,
                prompt_characters=900,
                most_dollars=None if number else 0.25,
            )
            for number, subject in enumerate(subjects)
        ),
        noted_at=START,
    )


def by_key(batch: NotedBatch) -> NotedBatch:
    """The same with its calls in one order: the log promises none."""
    return replace(batch, calls=tuple(sorted(batch.calls, key=lambda call: call.key)))


def bytes_of(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.glob("results.db*"))


async def test_a_new_log_is_empty(log: BatchLog) -> None:
    """Looking makes nothing."""
    assert await log.open("terms", "fake-1") == ()


async def test_what_nobody_picks_up_any_more_can_be_seen(log: BatchLog) -> None:
    """Issue 4, batch mode: the batches of a model that is used no more are not waited for in silence."""
    assert log.left() == ()
    left = (noted("a", "解約"), noted("b", "更新", corpus="manual", identity="fake-2"))
    for batch in left:
        await log.note(batch)
    assert log.left() == left
    await log.strike("a")
    assert log.left() == left[1:]


async def test_what_was_noted_is_there_whole_until_it_is_struck_out(log: BatchLog) -> None:
    """Issue 4, batch mode: a restart picks the batch up."""
    batch = noted("a", "解約", "更新")
    await log.note(batch)
    assert [by_key(found) for found in await log.open("terms", "fake-1")] == [by_key(batch)]
    await log.name("a", "batch-7")
    (named,) = await log.open("terms", "fake-1")
    assert by_key(named) == by_key(replace(batch, batch_id="batch-7"))
    await log.name("a", None)
    assert (await log.open("terms", "fake-1"))[0].batch_id is None
    await log.strike("a")
    assert await log.open("terms", "fake-1") == ()


async def test_batches_come_in_the_order_in_which_they_were_noted(log: BatchLog) -> None:
    """The port, whatever the clock said."""
    for number, token in enumerate(("c", "a", "b")):
        await log.note(replace(noted(token, "x"), noted_at=START - timedelta(hours=number)))
    assert [batch.token for batch in await log.open("terms", "fake-1")] == ["c", "a", "b"]


async def test_another_corpus_or_model_has_its_own(log: BatchLog) -> None:
    """A batch is picked up only by the model it was handed in with."""
    await log.note(noted("a", "x"))
    await log.note(noted("b", "x", corpus="other"))
    await log.note(noted("c", "x", identity="fake-2"))
    assert [batch.token for batch in await log.open("terms", "fake-1")] == ["a"]
    await log.strike("never noted")
    assert [batch.token for batch in await log.open("other", "fake-1")] == ["b"]


async def test_a_large_batch_is_noted(log: BatchLog) -> None:
    """Databases bound how many values a statement may name."""
    await log.note(noted("a", *(f"{number}" for number in range(10_000))))
    (batch,) = await log.open("terms", "fake-1")
    assert len(batch.calls) == 10_000


async def test_forgetting_a_chunk_takes_it_out_of_its_batch(tmp_path: Path) -> None:
    """design.md, section 5: what `remove` took out is not brought back by a batch; no key of it is left."""
    log, store = SqlBatchLog(results_url(tmp_path)), SqlResultStore(results_url(tmp_path))
    await log.note(noted("a", "gone", "kept"))
    await log.note(noted("b", "gone", corpus="other"))
    assert store.forget("terms", ["gone"]) == 0
    (batch,) = await log.open("terms", "fake-1")
    assert [call.subject for call in batch.calls] == ["kept"]
    assert len((await log.open("other", "fake-1"))[0].calls) == 1
    await log.strike("b")
    store.forget("terms", ["gone"])
    assert key_of("gone").encode() not in bytes_of(tmp_path)
    log.close()
    store.close()


async def test_a_file_of_results_from_before_there_were_batches_takes_them(tmp_path: Path) -> None:
    """Its tables are made when they are first needed."""
    log, store = SqlBatchLog(results_url(tmp_path)), SqlResultStore(results_url(tmp_path))
    await store.keep(result("a"))
    store.close()
    with sqlite3.connect(tmp_path / "results.db") as connection:
        connection.execute("DROP TABLE batches")
        connection.execute("DROP TABLE batch_calls")
    connection.close()
    assert await log.open("terms", "fake-1") == ()
    assert store.forget("terms", ["unseen"]) == 0
    await log.note(noted("a", "x"))
    assert len(await log.open("terms", "fake-1")) == 1
    log.close()
    store.close()
