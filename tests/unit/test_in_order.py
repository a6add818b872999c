"""Many calls at a time, answered in order."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from corpus2skill.compiler.in_order import CallGate, in_order

pytestmark = pytest.mark.anyio


async def test_others_run_ahead_of_a_slow_one_as_far_as_the_window_and_no_further() -> None:
    """No head-of-line waste within the window, and flat memory: four items for each call at a time."""
    begun: list[int] = []
    first_may_end = asyncio.Event()

    async def work(item: int, gate: CallGate) -> int:
        begun.append(item)
        async with gate:
            if item == 0:
                await first_may_end.wait()
        return item * 10

    answers: list[int] = []

    async def gather() -> None:
        async with aclosing(in_order(range(100), work, at_once=3)) as results:
            answers.extend([answer async for answer in results])

    gathering = asyncio.ensure_future(gather())
    for _ in range(50):
        await asyncio.sleep(0)
    assert begun == list(range(12))
    first_may_end.set()
    await gathering
    assert answers == [number * 10 for number in range(100)]


async def test_several_calls_for_one_item_each_pass_the_gate() -> None:
    """A chunk that is asked about again waits in line like any other call."""
    under_way = most = 0

    async def work(item: int, gate: CallGate) -> int:
        nonlocal under_way, most
        for _ in range(3):
            async with gate:
                under_way += 1
                most = max(most, under_way)
                await asyncio.sleep(0)
                under_way -= 1
        return item

    assert [answer async for answer in in_order(range(20), work, at_once=4)] == list(range(20))
    assert most == 4


async def test_the_first_failure_in_time_goes_up_and_no_further_call_begins() -> None:
    """What was begun later and failed first says why the rest was stopped."""
    calls: list[int] = []

    async def work(item: int, gate: CallGate) -> int:
        async with gate:
            calls.append(item)
            if item == 2:
                raise ValueError(item)
            await asyncio.sleep(0)
        async with gate:
            calls.append(-item)
        return item

    with pytest.raises(ValueError, match="2"):
        _ = [answer async for answer in in_order(range(50), work, at_once=3)]
    assert calls == [0, 1, 2]


async def test_nothing_to_do_yields_nothing() -> None:
    """An empty corpus of changes."""

    async def work(item: int, gate: CallGate) -> int:
        raise AssertionError(item, gate)

    assert [answer async for answer in in_order([], work, at_once=2)] == []
