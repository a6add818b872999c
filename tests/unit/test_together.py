"""Calls that are made at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from corpus2skill.compiler.together import together
from corpus2skill.errors import ModelUnavailable, SpendingCapReached

pytestmark = pytest.mark.anyio


async def test_answers_come_in_the_order_of_the_calls() -> None:
    """The same calls give the same tree, whichever is answered first."""
    first_may_end = asyncio.Event()

    async def first() -> str:
        await first_may_end.wait()
        return "first"

    async def second() -> str:
        first_may_end.set()
        return "second"

    assert await together([first, second]) == ["first", "second"]
    assert await together(list[Callable[[], Awaitable[str]]]()) == []


async def test_a_failure_waits_for_what_is_in_flight_and_begins_nothing_more() -> None:
    """Issue: the others in flight are awaited, their paid results are kept, then the error goes up."""
    ended: list[int] = []

    async def call(number: int) -> int:
        await asyncio.sleep(0)
        if number == 1:
            raise SpendingCapReached
        if number == 0:
            for _ in range(5):
                await asyncio.sleep(0)
        ended.append(number)
        return number

    with pytest.raises(SpendingCapReached):
        await together([partial(call, number) for number in range(9)], most=2)
    assert ended == [0]


async def test_of_several_failures_the_first_call_s_goes_up() -> None:
    """What is told does not depend on who was quicker."""

    async def slow() -> None:
        await asyncio.sleep(0)
        raise ModelUnavailable

    async def quick() -> None:
        raise SpendingCapReached

    with pytest.raises(ModelUnavailable):
        await together([slow, quick])


async def test_to_be_cancelled_cancels_what_is_in_flight() -> None:
    """An interrupted compile leaves nothing running."""
    cancelled: list[str] = []

    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append("one")
            raise

    task = asyncio.ensure_future(together([endless, endless]))
    for _ in range(3):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancelled == ["one", "one"]
