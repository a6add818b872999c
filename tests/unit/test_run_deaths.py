"""Processes that die in the middle of runs, others running beside them: what their records hold."""

from __future__ import annotations

import asyncio
import os
import random
import select
import signal
import sqlite3
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from corpus2skill.adapters.clock import SystemClock, TimeSortedIds
from corpus2skill.adapters.store.records import SqlRecordStore, records_url
from corpus2skill.domain.message import ModelEvent, TextDelta
from corpus2skill.domain.run import NodeVisited, RunEvent, RunFinished, RunStarted
from corpus2skill.navigator.loop import navigate
from corpus2skill.navigator.question import Question
from corpus2skill.navigator.run import Navigator
from corpus2skill.navigator.tree_reader import TreeReader
from corpus2skill.ports.clock import Clock
from corpus2skill.ports.navigator_model import NavigatorRequest
from corpus2skill.ports.store import RecordFilter
from tests.fakes.navigation import QUESTION
from tests.fakes.navigator_model import says, wants
from tests.fakes.sample_version import ANNUAL_LEAF, CORPUS, VERSION, sample_store
from tests.unit.children import in_children

QUICK, SOAK = 12, 200
TENANT, SESSION = "local", "session_of_all"
"""All ask in one conversation, so that their turns meet."""
LONGEST_LIFE = 0.05
"""Seconds of a process after its first run began: long enough for several."""
MOST = 0.8
"""Of the processes that die only after that; the others at any moment."""
AT_ONCE = 2
"""Runs of one process, and processes that are killed."""


class DawdlingModel:
    """Walks to two leaves and answers, with waits of chance in between. For one run."""

    name = "fake:dawdling"
    window = 100_000
    thinking_tokens = 0

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._replies = iter(
            (
                wants("cancellation", why="解約の枝を見ます"),
                wants(ANNUAL_LEAF, "doc_chunk_5", why="両方を確かめます"),
                says("契約期間の末日まで使えます [doc_chunk_7]。"),
            )
        )

    async def close(self) -> None:
        """Nothing to give back."""

    async def reply(self, request: NavigatorRequest) -> AsyncIterator[ModelEvent]:
        yield TextDelta("…")
        await asyncio.sleep(self._chance.uniform(0, 0.004))
        yield next(self._replies)


@dataclass(frozen=True, slots=True, kw_only=True)
class LateClock:
    """The machine's clock, ahead by so many seconds."""

    ahead: float

    def now(self) -> datetime:
        return SystemClock().now() + timedelta(seconds=self.ahead)

    def monotonic(self) -> float:
        return SystemClock().monotonic() + self.ahead


@dataclass(slots=True)
class Seen:
    """What a process had told of a run before it died."""

    visits: list[str] = field(default_factory=list[str])
    outcome: str | None = None


def opened(root: Path, clock: Clock) -> SqlRecordStore:
    return SqlRecordStore(records_url(root), clock)


def journal(writing: int) -> Iterable[str]:
    """The lines of a process's journal; the last one may have been cut by its death."""
    with os.fdopen(writing, encoding="utf-8") as pipe:
        return [line.rstrip("\n") for line in pipe if line.endswith("\n")]


async def ask_without_end(root: Path, seed: int, writing: int, *, runs: int | None = None) -> int:
    """Ask, `AT_ONCE` at a time, and write down what is heard; return how many dead runs were closed."""
    chance, clock = random.Random(seed), SystemClock()
    store, ids, tree = opened(root, clock), TimeSortedIds(clock), TreeReader(sample_store(), CORPUS, VERSION)
    closed, asked = 0, 0

    async def ask() -> None:
        run = ""

        def listener(event: RunEvent) -> None:
            nonlocal run
            match event:
                case RunStarted(ids=begun):
                    run, line = begun.run, f"{begun.run} begun"
                case NodeVisited(visit=visit):
                    line = f"{run} visit {visit.path}"
                case RunFinished(record=record):
                    line = f"{run} ended {record.outcome}"
                case _:
                    return
            os.write(writing, f"{line}\n".encode())

        question = Question(text=QUESTION, tenant=TENANT, session=SESSION, corpus_language="ja")
        navigator = Navigator(
            model=DawdlingModel(chance),
            tree=tree,
            records=store,
            clock=clock,
            ids=ids,
            sleep=asyncio.sleep,
            chance=chance.random,
        )
        await navigate(question, navigator, listener)

    while runs is None or asked < runs:
        closed += store.close_dead()
        await asyncio.gather(*(ask() for _ in range(AT_ONCE)))
        asked += AT_ONCE
    return closed


def begin(root: Path, seed: int, runs: int | None = None) -> tuple[int, int]:
    """Begin a process that asks until it is killed, or has asked so often: its id and its journal."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        code = 1
        try:
            code = asyncio.run(ask_without_end(root, seed, writing, runs=runs))
        finally:
            os._exit(code)
    os.close(writing)
    return child, reading


def die_at_random(root: Path, deaths: int) -> dict[str, Seen]:
    """Kill so many processes at random moments, `AT_ONCE` at work beside one another; return what they told."""
    chance = random.Random(5)
    seen: dict[str, Seen] = {}
    bystander, its_journal = begin(root, -1, runs=deaths // AT_ONCE)
    alive = [begin(root, seed) for seed in range(AT_ONCE)]
    for number in range(deaths):
        child, reading = alive.pop(0)
        if chance.random() < MOST:
            select.select([reading], [], [])  # its first run has begun
        time.sleep(chance.uniform(0, LONGEST_LIFE))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), "it ended by itself"
        _note(seen, journal(reading))
        if number < deaths - AT_ONCE:
            alive.append(begin(root, AT_ONCE + number))
    _note(seen, journal(its_journal))
    assert os.waitpid(bystander, 0)[1] == 0, "it failed, or closed a run whose lease had not lapsed"
    return seen


def _note(seen: dict[str, Seen], lines: Iterable[str]) -> None:
    for line in lines:
        run, kind, *more = line.split(" ")
        told = seen.setdefault(run, Seen())
        if kind == "visit":
            told.visits.append(more[0])
        elif kind == "ended":
            told.outcome = more[0]


def sweep(root: Path, deaths: int) -> None:
    opened(root, SystemClock()).close()
    seen = die_at_random(root, deaths)
    now, later = opened(root, SystemClock()), opened(root, LateClock(ahead=3600))
    assert now.close_dead() == 0, "a lease that has not lapsed"
    open_runs = now.under_way(TENANT, RecordFilter())
    kept = {record.ids.run for record in now.records(TENANT, RecordFilter())}
    assert len(seen.keys() - kept) <= open_runs
    assert later.close_dead() == open_runs
    assert open_runs > deaths // 4, "most deaths have to meet a run"
    _check(later, seen)
    with sqlite3.connect(root / "records.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        for table in ("open_runs", "open_visits"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    connection.close()


def _check(store: SqlRecordStore, seen: dict[str, Seen]) -> None:
    records = {record.ids.run: record for record in store.records(TENANT, RecordFilter())}
    verdict = store.verify(TENANT)
    assert (verdict.records, verdict.faults) == (len(records), ())
    turns = sorted(record.ids.turn for record in records.values())
    assert turns == list(range(1, len(records) + 1)), "each has a turn of its own"
    assert {record.outcome for record in records.values()} == {"answered", "stopped"}
    for run, told in seen.items():
        record = records[run]
        assert [visit.path for visit in record.visits][: len(told.visits)] == told.visits
        assert told.outcome in (None, record.outcome)
        leaves = [visit.doc_id for visit in record.visits if visit.doc_id is not None]
        assert [source.doc_id for source in record.evidence] == leaves
        assert all(source.source for source in record.evidence)


@pytest.mark.requirement("N-54")
def test_runs_of_processes_that_die_are_recorded(tmp_path: Path) -> None:
    """N-54. Issue: no record half-written, the chain verifies, each run that had begun has a record."""
    sweep(tmp_path / "workspace", QUICK)


@pytest.mark.soak
def test_runs_of_two_hundred_processes_that_die_are_recorded(tmp_path: Path) -> None:
    """N-54. Issue: 200 random deaths of the process in mid-run, others running beside it."""
    sweep(tmp_path / "workspace", SOAK)


@pytest.mark.requirement("N-53")
def test_processes_that_ask_in_one_conversation_at_once_each_have_a_turn(tmp_path: Path) -> None:
    """N-53. Two processes, two runs at a time in each."""
    root = tmp_path / "workspace"
    nowhere = os.open(os.devnull, os.O_WRONLY)

    def asking(seed: int) -> object:
        return asyncio.run(ask_without_end(root, seed, nowhere, runs=6))

    ended = in_children([lambda seed=seed: asking(seed) for seed in range(2)])
    os.close(nowhere)
    assert [child.said for child in ended] == ["0", "0"]
    records = list(opened(root, SystemClock()).records(TENANT, RecordFilter()))
    assert sorted(record.ids.turn for record in records) == list(range(1, 13))
    assert {record.outcome for record in records} == {"answered"}
