"""Watchers of events: told by this process and by others, however slow they are."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from corpus2skill.adapters.store.state.event_log import SqlEventLog
from corpus2skill.adapters.store.state.state_database import open_state, state_url
from corpus2skill.application.server.event_hub import EventHub, HeardEventLog, Told, Watcher
from corpus2skill.domain.event_log import RUN_FINISHED, TEXT_DELTA, NewEvent
from tests.fakes.clock import FakeClock

TENANT = "acme"
RUN = "run:1"

pytestmark = pytest.mark.anyio


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def opened(home: Path) -> HeardEventLog:
    """The log as another process opens it."""
    return HeardEventLog(SqlEventLog(open_state(state_url(home, None)), FakeClock()))


def step(number: int) -> NewEvent:
    return NewEvent(kind="node.visited", payload={"n": number})


END = NewEvent(kind=RUN_FINISHED, payload={})


async def rest(watcher: Watcher) -> list[Told]:
    told: list[Told] = []
    while (events := await watcher.next(30)) is not None:
        told += events
    return told


@pytest.mark.requirement("S-64")
async def test_what_this_process_and_another_append_is_told_in_order_and_once(home: Path) -> None:
    """A worker of its own appends to the same topics."""
    ours, theirs = opened(home), opened(home)
    hub = EventHub(ours)
    async with hub.watch(TENANT, [RUN], [0]) as watcher:
        for number in range(40):
            (theirs if number % 3 else ours).append(TENANT, RUN, [step(number)])
            await asyncio.sleep(0)
        theirs.append(TENANT, RUN, [END])
        told = await rest(watcher)
    assert [event.number for event in told] == list(range(1, 42))
    assert hub.watched == 0


@pytest.mark.requirement("S-64")
async def test_who_falls_far_behind_reads_the_log_and_holds_up_nobody(home: Path) -> None:
    """More events than the hub holds; pieces of text that lie behind are told as one."""
    log = opened(home)
    hub = EventHub(log)
    async with hub.watch(TENANT, [RUN], [0]) as slow, hub.watch(TENANT, [RUN], [0]) as quick:
        seen = 0
        for number in range(300):
            log.append(TENANT, RUN, [NewEvent(kind=TEXT_DELTA, payload={"text": f"{number},"})])
            while seen <= number:
                seen += len(await quick.next(30) or ())
        log.append(TENANT, RUN, [END])
        told = await rest(slow)
    text = "".join(str(event.data) for event in told[:-1])
    assert [f"{number}," in text for number in (0, 150, 299)] == [True] * 3
    assert (told[-1].kind, told[-1].number) == (RUN_FINISHED, 301)
    assert len(told) < 300


@pytest.mark.requirement("S-63")
async def test_a_number_that_was_never_given_is_told_the_end_rather_than_nothing(home: Path) -> None:
    """The machine died with the last events: who saw them comes back with a number that is not there."""
    log = opened(home)
    log.append(TENANT, RUN, [step(1), END])
    hub = EventHub(log)
    async with hub.watch(TENANT, [RUN], [99]) as watcher:
        assert [event.kind for event in await rest(watcher)] == [RUN_FINISHED]
    async with hub.watch(TENANT, [RUN], [2]) as watcher:
        assert watcher.has_seen_all


@pytest.mark.requirement("S-64")
async def test_a_closing_hub_ends_every_stream(home: Path) -> None:
    """The server stops."""
    hub = EventHub(opened(home))
    async with hub.watch(TENANT, [RUN, "job:1"], [0, 0]) as watcher:
        asyncio.get_running_loop().call_soon(hub.close)
        assert await watcher.next(30) is None
    async with hub.watch(TENANT, [RUN], [0]) as late:
        assert await late.next(30) is None


@pytest.mark.requirement("S-64")
async def test_silence_is_told_too(home: Path) -> None:
    """So that proxies keep the connection."""
    hub = EventHub(opened(home))
    async with hub.watch(TENANT, [RUN], [0]) as watcher:
        assert await watcher.next(0) == []
