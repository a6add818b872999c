"""How fast a key may be used, in time that jumps."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus2skill.errors import ModelUnavailable
from corpus2skill.paying.rate import KeyRate
from tests.fakes.virtual_time import VirtualClock, run_in_virtual_time


def rate(
    clock: VirtualClock,
    *,
    concurrency: int = 64,
    requests: int | None = None,
    tokens: int | None = None,
) -> KeyRate:
    return KeyRate(
        clock=clock,
        sleep=asyncio.sleep,
        concurrency=concurrency,
        requests_per_minute=requests,
        tokens_per_minute=tokens,
    )


def now() -> float:
    return asyncio.get_running_loop().time()


async def begun(key: KeyRate, sizes: Sequence[int], *, lasting: float = 1.0) -> list[float]:
    """Begin a call of each size at once; return when each did begin."""

    async def call(tokens: int) -> float:
        async with key.turn(tokens):
            at = now()
            await asyncio.sleep(lasting)
        return at

    return await asyncio.gather(*map(call, sizes))


def test_without_limits_as_many_go_at_once_as_the_key_allows() -> None:
    """Issue 4: concurrency for each key."""

    async def main() -> list[float]:
        return await begun(rate(VirtualClock(), concurrency=4), [10] * 12)

    assert run_in_virtual_time(main()) == [0.0] * 4 + [1.0] * 4 + [2.0] * 4


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 3_000), min_size=1, max_size=80),
    requests=st.integers(1, 40),
    tokens=st.integers(1_000, 20_000),
    lasting=st.floats(0, 90),
)
@example(sizes=[100] * 40, requests=3, tokens=1_000, lasting=0.0)
def test_no_stretch_of_a_minute_has_more_than_the_limits(
    sizes: list[int], requests: int, tokens: int, lasting: float
) -> None:
    """Field report 5: one shared limiter, requests and tokens a minute."""

    async def main() -> list[float]:
        return await begun(rate(VirtualClock(), requests=requests, tokens=tokens), sizes, lasting=lasting)

    begins = run_in_virtual_time(main())
    assert begins == sorted(begins)
    for first in begins:
        within = [size for at, size in zip(begins, sizes, strict=True) if first <= at < first + 60]
        assert len(within) <= requests
        assert sum(within) <= tokens or len(within) == 1


def test_a_key_reaches_the_rate_that_it_is_allowed() -> None:
    """A limit is not to be halved by being careful."""

    async def main() -> list[float]:
        return await begun(rate(VirtualClock(), requests=60), [10] * 300)

    begins = run_in_virtual_time(main())
    assert begins[-1] <= 300 - 10
    assert begins[10] == 0.0
    assert begins[11] > 0.0


def test_what_was_reserved_and_not_used_is_free_again() -> None:
    """Reservations are upper bounds: they are not to cost half of the rate."""

    async def main() -> float:
        key = rate(VirtualClock(), tokens=1_000)
        for _ in range(50):
            async with key.turn(400) as turn:
                turn.used(20)
        return now()

    assert run_in_virtual_time(main()) < 75


def test_the_pause_that_a_provider_asks_for_holds_all_calls_of_the_key() -> None:
    """Issue 4: Retry-After obeyed, by all models of a key."""

    async def main() -> tuple[float, list[float]]:
        key = rate(VirtualClock())
        with pytest.raises(ModelUnavailable):
            async with key.turn(1):
                raise ModelUnavailable("rate_limited", retry_after=42.5)
        return now(), await begun(key, [1] * 3, lasting=0.0)

    assert run_in_virtual_time(main()) == (0.0, [42.5] * 3)


def test_a_jam_halves_the_calls_at_a_time_once_and_successes_bring_them_back() -> None:
    """A provider that is over its load is not asked 64 times at once again."""

    async def fail(key: KeyRate) -> None:
        async with key.turn(1):
            await asyncio.sleep(1)
            raise ModelUnavailable("model_overloaded")

    async def main() -> list[int]:
        key = rate(VirtualClock(), concurrency=16)
        await asyncio.gather(*(fail(key) for _ in range(16)), return_exceptions=True)
        begins = await begun(key, [1] * 200)
        return [begins.count(at) for at in sorted(set(begins))]

    waves = run_in_virtual_time(main())
    assert waves[0] == 8
    assert waves[1] == 10
    assert max(waves) == 16


def test_a_key_in_a_long_jam_still_tries_one_call() -> None:
    """Otherwise nobody would notice that the jam is over."""

    async def main() -> list[float]:
        key = rate(VirtualClock(), concurrency=8)
        for _ in range(30):
            with pytest.raises(ModelUnavailable):
                async with key.turn(1):
                    raise ModelUnavailable("rate_limited")
        return await begun(key, [1] * 2)

    assert run_in_virtual_time(main()) == [0.0, 1.0]


@pytest.mark.parametrize("jump", [-100_000.0, -0.5, 30.0, 100_000.0])
def test_a_clock_that_jumps_does_no_harm(jump: float) -> None:
    """Issue 4, bad input: nobody waits for longer than a minute more, and nothing is thrown."""

    async def main() -> float:
        clock = VirtualClock()
        key = rate(clock, requests=5)
        await begun(key, [1] * 5, lasting=0.0)
        after = now()
        clock.jump(jump)
        await begun(key, [1] * 5, lasting=0.0)
        return now() - after

    assert run_in_virtual_time(main()) <= 121.0


def test_who_gives_up_waiting_holds_nobody_up() -> None:
    """A cancelled call leaves the queue."""

    async def main() -> tuple[float, list[float]]:
        key = rate(VirtualClock(), concurrency=1)
        running = asyncio.create_task(begun(key, [1], lasting=10))
        await asyncio.sleep(1)
        waiting = [asyncio.create_task(begun(key, [1])) for _ in range(3)]
        await asyncio.sleep(1)
        for task in waiting[:2]:
            task.cancel()
        await running
        return now(), await waiting[2]

    assert run_in_virtual_time(main()) == (10.0, [10.0])


@settings(max_examples=60, deadline=None)
@given(
    calls=st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 6), st.booleans()), max_size=30
    )
)
def test_no_slot_is_lost_whoever_is_cancelled_or_fails(calls: list[tuple[int, int, int, bool]]) -> None:
    """Whatever happened before, as many calls go at a time as the key allows, and never more."""
    under_way, most = 0, 0

    async def call(key: KeyRate, begin: int, lasting: int, fails: bool) -> None:
        nonlocal under_way, most
        await asyncio.sleep(begin)
        async with key.turn(1):
            under_way += 1
            most = max(most, under_way)
            try:
                await asyncio.sleep(lasting)
            finally:
                under_way -= 1
            if fails:
                raise ModelUnavailable("rate_limited", retry_after=1.0)

    async def main() -> list[float]:
        key = rate(VirtualClock(), concurrency=3)
        tasks = []
        for begin, lasting, cancelled, fails in calls:
            tasks.append(asyncio.create_task(call(key, begin, lasting, fails)))
            asyncio.get_running_loop().call_later(cancelled, tasks[-1].cancel)
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(10)
        await begun(key, [1] * 40)
        after = now()
        begins = await begun(key, [1] * 4)
        return [at - after for at in begins]

    assert run_in_virtual_time(main()) == [0.0, 0.0, 0.0, 1.0]
    assert most <= 3
