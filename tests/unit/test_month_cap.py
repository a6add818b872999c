"""The cap of a month, which several compiles share."""

from __future__ import annotations

import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus2skill.domain.money import unknown_price
from corpus2skill.errors import SpendingCapReached, UnusableSettings
from corpus2skill.paying.budget import Budget
from corpus2skill.paying.month import MonthCap, MonthHold
from tests.fakes.clock import FakeClock


class Till:
    """Where what was paid is counted."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.spent = 0.0
        self.hold = MonthHold()
        self.clock = FakeClock()

    def budget(self, cap: float | None = None) -> Budget:
        return Budget(cap, MonthCap(self.limit, lambda: self.spent, self.hold, self.clock))


async def pay(till: Till, budget: Budget, most: float, came_to: float) -> None:
    """One call, as a paid model makes it: reserved, settled, kept, given back."""
    reservation = await budget.reserve(most)
    budget.settle(reservation, came_to)
    till.spent += came_to
    budget.release(reservation)


@pytest.mark.requirement("S-106")
@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 40)), max_size=40), st.integers(2, 3))
def test_compiles_side_by_side_never_pay_more_than_the_month_has(
    calls: list[tuple[int, int]], compiles: int
) -> None:
    """Issue 6: reserves as the cap of a compile does."""
    till = Till(1.0)

    async def compile_all() -> None:
        budgets = [till.budget() for _ in range(compiles)]
        for number, (most, came_to) in enumerate(calls):
            try:
                await pay(till, budgets[number % compiles], most / 100, min(most, came_to) / 100)
            except SpendingCapReached:
                assert till.spent + most / 100 > 1.0 - 1e-9

    asyncio.run(compile_all())
    assert till.spent <= 1.0 + 1e-9
    assert till.hold.dollars == 0


@pytest.mark.requirement("S-106")
def test_a_call_waits_for_another_compile_that_may_give_money_back() -> None:
    """Two loops, as two jobs have them: neither overspends, neither gives up too early."""
    till = Till(1.0)
    first, second = till.budget(), till.budget()
    begun = threading.Event()

    async def hold() -> None:
        reservation = await first.reserve(0.9)
        begun.set()
        await asyncio.to_thread(waiting.wait)
        first.settle(reservation, 0.1)
        till.spent += 0.1
        first.release(reservation)

    waiting = threading.Event()
    holder = threading.Thread(target=lambda: asyncio.run(hold()))
    holder.start()
    begun.wait()

    async def want() -> None:
        task = asyncio.ensure_future(second.reserve(0.5))
        await asyncio.sleep(0)
        assert not task.done()
        waiting.set()
        second.release(await task)

    asyncio.run(want())
    holder.join()
    assert till.hold.dollars == 0


@pytest.mark.requirement("S-106")
def test_a_call_that_can_never_fit_says_so_and_holds_nothing() -> None:
    """The error names the month."""
    till = Till(1.0)
    till.spent = 0.8

    async def want() -> None:
        with pytest.raises(SpendingCapReached, match="month_cap_reached"):
            await till.budget(cap=50.0).reserve(0.3)

    asyncio.run(want())
    assert till.hold.dollars == 0


def test_what_a_compile_leaves_behind_is_given_back_when_it_ends() -> None:
    """A month is not held by calls that nobody waits for any more."""
    till = Till(1.0)
    budget = till.budget()
    budget.commit(0.7)
    assert till.hold.dollars == pytest.approx(0.7)
    assert budget.room == pytest.approx(0.3)
    budget.close()
    assert till.hold.dollars == 0


def test_a_model_of_unknown_price_is_refused_under_a_months_cap() -> None:
    """A cap that cannot be held is none."""
    with pytest.raises(UnusableSettings, match="price_unknown"):
        Till(1.0).budget().require_price("openai:mystery", unknown_price)
