"""Runs that come together: each gets on, and the event loop comes round in between."""

from __future__ import annotations

import asyncio

import pytest

from corpus2skill.domain.run import RunEvent, RunFinished, RunStarted
from corpus2skill.navigator.turnstile import AT_ONCE, Turnstile
from tests.fakes.navigation import Navigation
from tests.fakes.navigator_model import ScriptedModel, says, wants
from tests.fakes.sample_version import PRICING

pytestmark = pytest.mark.anyio

MANY = 40


@pytest.mark.requirement("N-65")
async def test_only_a_few_runs_begin_in_one_turn_of_the_loop() -> None:
    """Issue: 500 runs at once on one process; what else lives on the loop is not held up by them."""
    navigation, turnstile = Navigation(), Turnstile()
    begun = 0

    def listen(event: RunEvent) -> None:
        nonlocal begun
        begun += isinstance(event, RunStarted)

    tasks = [
        asyncio.create_task(
            navigation.ask(
                ScriptedModel(says("はい。")), session=f"s{number}", listener=listen, turnstile=turnstile
            )
        )
        for number in range(MANY)
    ]
    most, before = 0, 0
    while begun < MANY:
        await asyncio.sleep(0)
        most, before = max(most, begun - before), begun
    assert most == AT_ONCE
    await asyncio.gather(*tasks)


@pytest.mark.requirement("N-65")
async def test_all_runs_that_come_together_get_to_their_end() -> None:
    """No place is lost, none waits for ever."""
    navigation, turnstile = Navigation(), Turnstile()
    records = await asyncio.gather(
        *(
            navigation.ask(
                ScriptedModel(wants(PRICING), says("はい。")), session=f"s{number}", turnstile=turnstile
            )
            for number in range(MANY)
        )
    )
    assert {record.outcome for record in records} == {"answered"}
    assert len(navigation.records.closed) == MANY


@pytest.mark.requirement("N-25")
async def test_a_run_that_is_cancelled_while_it_waits_for_its_turn_holds_nobody_up() -> None:
    """It had not begun: there is nothing to record."""
    navigation, turnstile = Navigation(), Turnstile()
    tasks = [
        asyncio.create_task(
            navigation.ask(ScriptedModel(says("はい。")), session=f"s{number}", turnstile=turnstile)
        )
        for number in range(3 * AT_ONCE)
    ]
    await asyncio.sleep(0)
    for task in tasks[AT_ONCE : 2 * AT_ONCE]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert [task.cancelled() for task in tasks].count(True) == AT_ONCE
    assert len(navigation.records.closed) == 2 * AT_ONCE


@pytest.mark.requirement("N-25")
async def test_a_run_that_is_stopped_while_it_waits_is_recorded_as_cancelled() -> None:
    """As at any other moment."""
    navigation, turnstile = Navigation(), Turnstile()
    finished: list[RunEvent] = []
    for _ in range(AT_ONCE):
        await turnstile.enter()
    task = asyncio.create_task(
        navigation.ask(ScriptedModel(says("はい。")), listener=finished.append, turnstile=turnstile)
    )
    await asyncio.sleep(0)
    navigation.cancellation.cancel("stop")
    assert (await task).outcome == "cancelled"
    assert isinstance(finished[-1], RunFinished)


def test_one_turnstile_serves_one_loop_after_another() -> None:
    """A workspace outlives the loops that its commands run in."""
    turnstile = Turnstile()

    async def pass_often() -> None:
        await asyncio.wait_for(asyncio.gather(*(turnstile.enter() for _ in range(MANY))), 10)

    for _ in range(3):
        asyncio.run(pass_often())
