"""The cap: never over it, whatever the order and whatever the calls turn out to cost."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus2skill.domain.message import Usage
from corpus2skill.domain.money import free, unknown_price
from corpus2skill.errors import SpendingCapReached, UnusableSettings
from corpus2skill.messages import error_message
from corpus2skill.paying.budget import Budget, most_dollars
from tests.fakes.virtual_time import run_in_virtual_time

Call = tuple[float, float | None, float]
"""Most dollars, the share of them that it comes to (None: unknown), seconds."""
CALLS = st.lists(
    st.tuples(st.floats(0, 2), st.one_of(st.none(), st.floats(0, 1)), st.integers(0, 9).map(float)),
    max_size=40,
)


@settings(max_examples=100, deadline=None)
@given(calls=CALLS, cap=st.floats(0, 10))
@example(calls=[(0.1, 1.0, 1.0)] * 30, cap=1.0)
@example(calls=[(1.0, 0.01, 1.0)] * 30, cap=1.0)
def test_the_cap_is_never_passed_whatever_the_order(calls: list[Call], cap: float) -> None:
    """Issue 4, money: each call reserves its upper bound before it is sent."""
    spent, under_way, worst = 0.0, 0.0, 0.0

    async def one(budget: Budget, most: float, share: float | None, seconds: float) -> None:
        nonlocal spent, under_way, worst
        reservation = await budget.reserve(most)
        under_way += most
        worst = max(worst, spent + under_way)
        await asyncio.sleep(seconds)
        under_way -= most
        spent += most if share is None else most * share
        budget.settle(reservation, None if share is None else most * share)

    async def main() -> list[BaseException | None]:
        budget = Budget(cap)
        return await asyncio.gather(*(one(budget, *call) for call in calls), return_exceptions=True)

    ended = run_in_virtual_time(main())
    assert all(error is None or isinstance(error, SpendingCapReached) for error in ended)
    assert worst <= cap * (1 + 1e-9) + 1e-9
    if sum(most for most, _, _ in calls) < cap * 0.999:
        assert ended == [None] * len(calls)


def test_a_call_waits_for_what_those_under_way_do_not_need() -> None:
    """Upper bounds of 64 calls at once are not to stop a compile that costs half of its cap."""

    async def one(budget: Budget) -> None:
        reservation = await budget.reserve(0.4)
        await asyncio.sleep(1)
        budget.settle(reservation, 0.001)

    async def main() -> float:
        budget = Budget(1.0)
        await asyncio.gather(*(one(budget) for _ in range(50)))
        return asyncio.get_running_loop().time()

    assert run_in_virtual_time(main()) == 25.0


def test_the_cap_says_what_was_spent_and_what_was_wanted() -> None:
    """house-style.md, rule 21."""

    async def main() -> SpendingCapReached:
        budget = Budget(0.5)
        budget.settle(await budget.reserve(0.25), 0.2004)
        with pytest.raises(SpendingCapReached) as reached:
            await budget.reserve(0.31)
        return reached.value

    error = run_in_virtual_time(main())
    for language in ("ja", "en"):
        for wanted in ("0.5", "0.31", "0.2004"):
            assert wanted in error_message(language, error)


def test_a_call_that_was_not_answered_gives_its_money_back() -> None:
    """A failed try costs nothing."""

    async def main() -> None:
        budget = Budget(1.0)
        for _ in range(10):
            budget.release(await budget.reserve(1.0))
        budget.settle(await budget.reserve(1.0), 1.0)
        with pytest.raises(SpendingCapReached):
            await budget.reserve(0.001)
        await budget.reserve(0.0)

    run_in_virtual_time(main())


def test_an_unknown_price_is_refused_under_a_cap_only() -> None:
    """design.md, paying: a model of unknown price is refused under a cap."""
    with pytest.raises(UnusableSettings) as refused:
        Budget(2.5).require_price("openai:mystery", unknown_price)
    assert refused.value.code == "price_unknown"
    assert "openai:mystery" in error_message("ja", refused.value)
    Budget(None).require_price("openai:mystery", unknown_price)
    Budget(2.5).require_price("offline", free)


def test_without_a_cap_nothing_is_held_up() -> None:
    async def main() -> None:
        budget = Budget(None)
        for _ in range(5):
            await budget.reserve(1e9)

    run_in_virtual_time(main())


def test_the_most_that_a_call_costs_counts_the_dearest_rate() -> None:
    """Writing into a provider's cache costs more than sending."""

    def price(usage: Usage) -> float:
        plain = usage.input_tokens - usage.cache_written_tokens
        return plain * 1.0 + usage.cache_written_tokens * 1.25 + usage.output_tokens * 5.0

    assert most_dollars(price, 100, 10) == 175.0
    assert most_dollars(unknown_price, 100, 10) is None
