"""The rules of jobs: whose turn it is, who is dead, what an error means."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace

import pytest

from corpus2skill.application.server.job_pace import is_to_be_told
from corpus2skill.application.server.job_queue import next_job
from corpus2skill.application.server.job_watch import Stillness
from corpus2skill.compiler.stepwise_summarizer import StepwiseSummarizer
from corpus2skill.domain.chunk import Chunk, ChunkSummary, Place
from corpus2skill.domain.job import Stage
from corpus2skill.domain.server_job import Progress, ending_of
from corpus2skill.errors import (
    Busy,
    CompileFailed,
    ConfirmationNeeded,
    ModelUnavailable,
    ModelUnusable,
    SpendingCapReached,
    WorkspaceUnusable,
)
from corpus2skill.ports.jobs import QueuedJob, RunningJob
from corpus2skill.ports.steps import Result, at_once
from tests.fakes.clock import FakeClock


def _queued(tenant: str, job: str, corpus: str = "kb") -> QueuedJob:
    return QueuedJob(tenant=tenant, corpus=corpus, job=job)


def _running(tenant: str, corpus: str) -> RunningJob:
    return RunningJob(
        tenant=tenant, corpus=corpus, job="job_0", attempt=1, worker="w", beats=0, is_cancelling=False
    )


@pytest.mark.requirement("S-49")
def test_the_tenant_with_the_fewest_running_jobs_comes_first() -> None:
    """Issue: fair between tenants."""
    queued = [_queued("big", f"job_{n}", f"c{n}") for n in range(5)] + [_queued("small", "job_9")]
    first = next_job(queued, (), {}, per_tenant=2)
    assert first == queued[0]
    second = next_job(queued[1:], (_running("big", "c0"),), {"big": 1}, per_tenant=2)
    assert second == queued[-1]
    third = next_job(queued[1:-1], (_running("big", "c0"), _running("small", "kb")), {}, per_tenant=1)
    assert third is None


@pytest.mark.requirement("S-49")
def test_tenants_take_turns_where_one_job_runs_at_a_time() -> None:
    """A tenant with 50 jobs does not hold up another's first, even on one slot."""
    queued = [_queued("big", "job_1", "c1"), _queued("small", "job_9")]
    assert next_job(queued, (), {"big": 7}, per_tenant=1) == queued[1]


@pytest.mark.requirement("S-49")
def test_a_corpus_is_compiled_by_one_job_at_a_time() -> None:
    """Two compiles of one corpus would wait for each other's lock."""
    assert next_job([_queued("a", "job_2")], (_running("a", "kb"),), {}, per_tenant=5) is None


@pytest.mark.requirement("S-47", "S-55")
def test_who_does_not_move_is_dead_by_a_steady_clock_and_not_in_a_gap() -> None:
    """A wall clock is not asked; a time in which nobody could look proves nothing."""
    clock = FakeClock()
    stillness = Stillness(clock, 30.0)
    assert stillness.still({"a": 1}) == frozenset()
    clock.advance(3600)
    assert stillness.still({"a": 1}) == frozenset()
    for _ in range(5):
        clock.advance(5)
        stillness.still({"a": 1, "b": 1})
    assert stillness.still({"a": 1, "b": 2}) == frozenset({"a"})


@pytest.mark.requirement("S-53")
@pytest.mark.parametrize(
    ("chunks", "seconds"), [(20_000, 60.0), (20_000, 3600.0), (200_000, 60.0), (7, 600.0)]
)
def test_what_is_told_of_a_job_does_not_grow_with_its_chunks(chunks: int, seconds: float) -> None:
    """Issue 6: at least every 2 s while calls move, not more than 4 a second, bounded for 20,000 chunks."""
    told, told_at, count, longest = Progress(), 0.0, 0, 0.0
    for turn in range(1, round(seconds * 10) + 1):
        now, at = _summarizing(round(chunks * turn / (seconds * 10)), chunks), turn / 10
        if is_to_be_told(told, now, at - told_at):
            assert at - told_at >= 0.25
            longest = max(longest, at - told_at)
            told, told_at, count = now, at, count + 1
    assert told.stage("summarize").done >= 0.99 * chunks  # the very end is told with the job's
    assert count <= min(chunks, 201) + seconds / 2
    assert longest <= max(2.0, seconds / chunks) + 0.2


def _summarizing(done: int, total: int) -> Progress:
    stages = tuple(
        replace(stage, done=done, total=total) if stage.stage == "summarize" else stage
        for stage in Progress().stages
    )
    return Progress(stages=stages)


@pytest.mark.requirement("S-43", "S-42", "S-46")
@pytest.mark.parametrize(
    ("error", "state"),
    [
        (ModelUnusable("key_refused"), "waiting_for_key"),
        (ModelUnusable("quota_used_up"), "failed"),
        (SpendingCapReached(), "paused_budget"),
        (ConfirmationNeeded("payment_not_confirmed"), "paused_budget"),
        (ConfirmationNeeded("many_sources_gone"), "failed"),
        (ModelUnavailable(), "stalled"),
        (Busy(), "stalled"),
        (WorkspaceUnusable("disk_full"), "stalled"),
        (WorkspaceUnusable("workspace_newer"), "failed"),
        (CompileFailed(), "failed"),
        (ZeroDivisionError(), "failed"),
    ],
)
def test_every_error_has_a_state(error: Exception, state: str) -> None:
    """Design: what waits for something, what is tried again, what needs a person."""
    assert ending_of(error).state == state


class _Unsteady:
    """A summarizer that breaks off where it is told to, and counts what it makes."""

    def __init__(self, breaks_at: int) -> None:
        self.breaks_at: int | None = breaks_at
        self.made = 0

    @property
    def identity(self) -> str:
        return "unsteady"

    async def summarize(self, chunks: Sequence[Chunk]) -> AsyncIterator[ChunkSummary]:
        for chunk in chunks:
            if self.breaks_at == self.made:
                self.breaks_at = None
                raise Busy
            self.made += 1
            yield ChunkSummary(title=chunk.chunk_id, summary=chunk.text)


class _SecondTry:
    """Steps that are done once more after a failure, and whose counts are kept."""

    def __init__(self) -> None:
        self.counts: list[int] = []

    async def run(
        self, stage: Stage, work: Callable[[], Awaitable[Result]], count: Callable[[Result], int]
    ) -> Result:
        assert stage == "summarize"
        try:
            made = await work()
        except Busy:
            made = await work()
        self.counts.append(count(made))
        return made


@pytest.mark.requirement("S-52")
@pytest.mark.parametrize("breaks_at", [0, 3, 4, 9])
def test_summaries_come_in_order_however_often_a_step_is_done_again(breaks_at: int) -> None:
    """Issue 6: summaries in steps of about 50 calls, each tried again on its own."""
    chunks = [_chunk(number) for number in range(10)]
    steps = _SecondTry()
    titles = asyncio.run(_titles(StepwiseSummarizer(_Unsteady(breaks_at), steps, size=4), chunks))
    assert titles == [chunk.chunk_id for chunk in chunks]
    assert steps.counts == [4, 4, 2]


def test_a_summarizer_in_steps_is_the_one_within() -> None:
    """Its summaries are those of the same engine, and of nothing there is no step."""
    within = _Unsteady(-1)
    stepwise = StepwiseSummarizer(within, at_once)
    assert stepwise.identity == "unsteady"
    assert asyncio.run(_titles(stepwise, [])) == []


async def _titles(summarizer: StepwiseSummarizer, chunks: Sequence[Chunk]) -> list[str]:
    return [summary.title async for summary in summarizer.summarize(chunks)]


def _chunk(number: int) -> Chunk:
    return Chunk(
        chunk_id=f"chunk_{number}", source="規約.md", text=f"本文 {number}", start=0, end=4, place=Place()
    )
