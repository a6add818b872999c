"""When a call is tried again, and when it is given up."""

from __future__ import annotations

import pytest

from corpus2skill.errors import ModelUnavailable
from corpus2skill.messages import error_message
from corpus2skill.paying.tries import Course, Patience

BUSY = ModelUnavailable("rate_limited", model="m", reason="busy")
GONE = ModelUnavailable("network_unreachable", is_unreachable=True, model="m", endpoint="e", reason="r")


def waits(
    error: ModelUnavailable, *, successes: int = 0, chance: float = 0.99, took: float = 0.0
) -> list[float]:
    """Return the waits until the call is given up."""
    course = Course(Patience(), lambda: chance)
    found: list[float] = []

    def go_on() -> None:
        while True:
            found.append(course.wait_after(error, took, successes))

    with pytest.raises(ModelUnavailable) as given_up:
        go_on()
    assert given_up.value is error
    return found


@pytest.mark.parametrize("chance", [0.0, 0.5, 0.99])
def test_waits_double_up_to_a_bound_and_are_jittered(chance: float) -> None:
    """Issue 4: jittered backoff."""
    found = waits(BUSY, chance=chance)
    assert found[:5] == [base * (0.5 + chance / 2) for base in (1, 2, 4, 8, 16)]
    assert max(found) <= 30


@pytest.mark.parametrize("chance", [0.0, 0.5, 0.99])
def test_a_call_is_given_up_after_five_minutes_and_not_before_four(chance: float) -> None:
    """Bounded in tries and time; a storm of a minute is outlived."""
    assert 240 <= sum(waits(BUSY, chance=chance)) <= 300


@pytest.mark.parametrize("chance", [0.0, 0.99])
def test_an_address_where_nobody_ever_answered_is_given_up_soon(chance: float) -> None:
    """Issue 4, bad input: no network, wrong base_url."""
    found = waits(GONE, chance=chance)
    assert 3 <= len(found) <= 5
    assert 7 <= sum(found) <= 20
    assert sum(waits(GONE, chance=chance, successes=1)) >= 240


def test_what_a_provider_asks_for_is_waited_and_a_little_more() -> None:
    """Issue 4: Retry-After obeyed, also when it is longer than our own wait."""
    asked = ModelUnavailable("rate_limited", retry_after=50.0)
    for chance in (0.0, 0.99):
        found = waits(asked, chance=chance)
        assert 4 <= len(found) <= 6
        assert all(50 <= wait <= 55 for wait in found)
    short = ModelUnavailable("rate_limited", retry_after=0.1)
    assert waits(short, chance=0.0)[:4] == [0.5, 1.0, 2.0, 4.0]


def test_more_patience_than_there_is_is_refused_at_once_and_said() -> None:
    """An hour's pause is not waited for in silence."""
    asked = ModelUnavailable("rate_limited", retry_after=3_600.0, model="openai:x", reason="slow down")
    with pytest.raises(ModelUnavailable) as refused:
        Course(Patience(), lambda: 0.5).wait_after(asked, 0.0, 0)
    assert refused.value.code == "retry_after_too_long"
    assert refused.value.retry_after == 3_600.0
    for language in ("ja", "en"):
        for wanted in ("3600", "300", "openai:x", "slow down"):
            assert wanted in error_message(language, refused.value)


def test_another_call_s_success_begins_patience_anew_but_not_without_end() -> None:
    """One call that fails for good must not hold a compile for ever."""
    course = Course(Patience(), lambda: 0.99)
    found: list[float] = []

    def go_on() -> None:
        while True:
            found.append(course.wait_after(BUSY, 0.0, successes=len(found)))

    with pytest.raises(ModelUnavailable):
        go_on()
    assert course.failed == 25
    assert sum(found) > 300


def test_one_endless_try_or_a_clock_that_jumped_does_not_use_up_all_patience() -> None:
    """Issue 4, bad input: a clock that jumps."""
    course = Course(Patience(), lambda: 0.0)
    course.wait_after(BUSY, 1e9, 0)
    with pytest.raises(ModelUnavailable):
        course.wait_after(BUSY, 1e9, 0)
