"""What every job engine must do: the one in memory and DBOS on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import make_url

from corpus2skill.adapters.jobs.dbos_engine import DbosEngine, EngineAddress
from corpus2skill.adapters.store.state.state_database import engine_url
from corpus2skill.errors import Conflict, InvalidInput, WorkspaceUnusable
from corpus2skill.ports.job_engine import JobEngine
from corpus2skill.ports.steps import Steps
from tests.fakes.job_engine import MemoryEngine

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["memory", "sqlite", "postgres"], scope="module")
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JobEngine]:
    made = _made(request, tmp_path_factory.mktemp("engine"))
    yield made
    made.close()


def _made(request: pytest.FixtureRequest, folder: Path) -> JobEngine:
    if request.param == "memory":
        return MemoryEngine()
    url = engine_url(folder, None)
    if request.param == "postgres":
        url = make_url(request.getfixturevalue("postgres_cluster").new_database())
    return DbosEngine(EngineAddress(url=url, executor="worker_1", release="1"), first_pause=0.001)


@pytest.mark.requirement("S-52")
async def test_an_attempt_returns_its_word_and_notes_its_steps(engine: JobEngine) -> None:
    """Design, section 6: the stages are visible as durable steps, with counts and no text."""

    async def work(steps: Steps) -> str:
        texts = await steps.run("extract", _said(["本文", "秘密"]), len)
        assert texts == ["本文", "秘密"]
        for _ in range(3):
            await steps.run("summarize", _said([1, 2, 3, 4]), len)
        return "succeeded"

    assert await engine.carry_out("job_1-1", work) == "succeeded"
    assert [(step.stage, step.count) for step in await asyncio.to_thread(engine.steps, "job_1-1")] == [
        ("extract", 2),
        ("summarize", 4),
        ("summarize", 4),
        ("summarize", 4),
    ]
    assert await asyncio.to_thread(engine.unfinished) == ()
    assert await asyncio.to_thread(engine.steps, "job_9-9") == ()


@pytest.mark.requirement("S-52")
async def test_errors_come_out_as_they_were_raised(engine: JobEngine) -> None:
    """The caller decides what an error means for the job."""

    async def refuse() -> list[int]:
        raise InvalidInput("no_path", corpus="規約")

    async def work(steps: Steps) -> str:
        await steps.run("extract", refuse, len)
        return "never"

    with pytest.raises(InvalidInput) as raised:
        await engine.carry_out("job_2-1", work)
    assert raised.value.values == {"corpus": "規約"}
    assert await asyncio.to_thread(engine.unfinished) == ()


@pytest.mark.requirement("S-52")
async def test_an_attempt_is_begun_once(engine: JobEngine) -> None:
    """Design, trap: two processes must not run a job twice."""

    async def work(_steps: Steps) -> str:
        return "succeeded"

    await engine.carry_out("job_3-1", work)
    with pytest.raises(Conflict):
        await engine.carry_out("job_3-1", work)


@pytest.mark.requirement("S-52")
async def test_cancelling_the_caller_cancels_the_work_and_waits_for_it(engine: JobEngine) -> None:
    """Cancel really stops."""
    begun, ended = asyncio.Event(), asyncio.Event()

    async def endless() -> list[int]:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return []

    async def work(steps: Steps) -> str:
        await steps.run("summarize", endless, len)
        return "never"

    task = asyncio.create_task(engine.carry_out("job_4-1", work))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
    assert await asyncio.to_thread(engine.unfinished) == ()


@pytest.mark.requirement("S-52")
@pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)
async def test_a_step_is_tried_again_on_what_passes_and_only_then(engine: JobEngine) -> None:
    """Issue 6: each stage retried on its own. The engine in memory tries nothing again."""
    tries = {"disk": 0, "bug": 0, "wrong": 0}

    async def disk() -> list[int]:
        tries["disk"] += 1
        if tries["disk"] < 4:
            raise WorkspaceUnusable("workspace_io", path="x", reason="y")
        return [1]

    async def bug() -> list[int]:
        tries["bug"] += 1
        raise ZeroDivisionError

    async def wrong() -> list[int]:
        tries["wrong"] += 1
        raise InvalidInput("no_path", corpus="x")

    async def work(steps: Steps) -> str:
        assert await steps.run("extract", disk, len) == [1]
        with pytest.raises(ZeroDivisionError):
            await steps.run("chunk", bug, len)
        with pytest.raises(InvalidInput):
            await steps.run("cluster", wrong, len)
        return "succeeded"

    await engine.carry_out("job_5-1", work)
    assert tries == {"disk": 4, "bug": 2, "wrong": 1}


class _Said:
    def __init__(self, made: list[object]) -> None:
        self._made = made

    async def __call__(self) -> list[object]:
        return self._made


def _said(made: list[object]) -> _Said:
    return _Said(made)
