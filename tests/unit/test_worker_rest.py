"""How the worker's duties rest: woken by what is written, asking nothing meanwhile."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from corpus2skill.application.server.resting import Rest
from corpus2skill.application.server_wiring import Server, open_server
from corpus2skill.settings import ServerSettings

pytestmark = pytest.mark.anyio
PATIENCE = 30.0


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return open_server(tmp_path / "home", ServerSettings())


@pytest.mark.requirement("S-147")
async def test_what_another_process_writes_ends_the_rest(server: Server) -> None:
    """Issue 6: the worker takes up at once what comes, and costs next to nothing while nothing does."""
    rest = Rest(server, unseen=PATIENCE)
    rest.look()
    resting = asyncio.create_task(rest.until_written(asyncio.Event()))
    await asyncio.sleep(0)
    assert not resting.done()
    another = open_server(server.home, server.server_settings)
    another.audit.note("local", "user", "corpus.created", "規程")
    await asyncio.wait_for(resting, PATIENCE)


@pytest.mark.requirement("S-147")
async def test_what_was_written_since_the_look_leaves_no_rest(server: Server) -> None:
    pulses = iter([(1, 1), (1, 1), (2, 1)])
    rest = Rest(replace(server, state_pulse=pulses.__next__), unseen=PATIENCE)
    rest.look()
    await rest.until_written(asyncio.Event())
    assert next(pulses, None) is None


async def test_where_nobody_can_tell_it_is_looked_again_after_a_while(server: Server) -> None:
    rest = Rest(replace(server, state_pulse=lambda: None), unseen=0.0)
    rest.look()
    await asyncio.wait_for(rest.until_written(asyncio.Event()), PATIENCE)


@pytest.mark.parametrize("pulse", [None, (1, 1)])
async def test_who_is_to_stop_does_not_rest(server: Server, pulse: tuple[int, int] | None) -> None:
    stop = asyncio.Event()
    stop.set()
    rest = Rest(replace(server, state_pulse=lambda: pulse), unseen=PATIENCE)
    await asyncio.wait_for(rest.until_written(stop), PATIENCE)
