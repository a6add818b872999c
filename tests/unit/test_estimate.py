"""What a compile will cost, said before: without a network, and corrected by what calls really came to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus2skill.domain.message import Usage
from corpus2skill.domain.money import PlannedCalls, Span, free, unknown_price
from corpus2skill.paying.estimate import estimate, estimated_spending
from corpus2skill.ports.result_store import PastUsage

NOTHING = PastUsage(calls=0, prompt_characters=0, input_tokens=0, output_tokens=0)
PLANNED = PlannedCalls(
    purpose="summarize",
    calls=Span(1_000, 1_050),
    prompt_characters=Span(2_000_000, 2_100_000),
    input_tokens=Span(1_400_000, 3_150_000),
    output_tokens=Span(80_000, 200_000),
)


def price(usage: Usage) -> float:
    """Dollars: 1 and 5 for a million, and double of it for calls over 10,000 tokens."""
    dollars = (usage.input_tokens + 5 * usage.output_tokens) / 1e6
    return dollars * 2 if usage.input_tokens > 10_000 else dollars


def test_a_first_estimate_is_from_the_texts_alone() -> None:
    """Issue 4: calls, tokens and US dollars, low to high."""
    line = estimated_spending(PLANNED, "fake:model", price, NOTHING)
    assert (line.purpose, line.model, line.calls) == ("summarize", "fake:model", Span(1_000, 1_050))
    assert (line.input_tokens, line.output_tokens) == (PLANNED.input_tokens, PLANNED.output_tokens)
    assert line.dollars is not None
    assert line.dollars.low == pytest.approx(1.4 + 0.4)
    assert line.dollars.high == pytest.approx(3.15 + 1.0, rel=0.01)


def test_enough_past_calls_correct_it() -> None:
    """Issue 4: corrected by the workspace's own past usage."""
    past = PastUsage(calls=20, prompt_characters=40_000, input_tokens=44_000, output_tokens=2_000)
    line = estimated_spending(PLANNED, "fake:model", price, past)
    assert line.input_tokens.low == pytest.approx(2_000_000 * 1.1 * 0.85)
    assert line.input_tokens.high == pytest.approx(2_100_000 * 1.1 * 1.15)
    assert line.output_tokens.low == pytest.approx(1_000 * 100 * 0.85)
    assert line.output_tokens.high == pytest.approx(1_050 * 100 * 1.15)


def test_a_few_past_calls_do_not() -> None:
    """Nineteen calls may have been odd ones."""
    past = PastUsage(calls=19, prompt_characters=40_000, input_tokens=44_000, output_tokens=2_000)
    assert estimated_spending(PLANNED, "m", price, past) == estimated_spending(PLANNED, "m", price, NOTHING)


def test_an_unknown_price_is_no_price_and_a_free_one_is_nothing() -> None:
    """design.md: money is unknown, never 0."""
    assert estimated_spending(PLANNED, "m", unknown_price, NOTHING).dollars is None
    assert estimated_spending(PLANNED, "m", free, NOTHING).dollars == Span(0.0, 0.0)


def test_each_purpose_has_its_line_model_and_past_and_empty_ones_have_none() -> None:
    """Separate models for summaries and grouping."""
    group = PlannedCalls(
        purpose="group",
        calls=Span(0, 3),
        prompt_characters=Span(0, 30_000),
        input_tokens=Span(0, 45_000),
        output_tokens=Span(0, 3_000),
    )
    none = PlannedCalls(
        purpose="place",
        calls=Span(0, 0),
        prompt_characters=Span(0, 0),
        input_tokens=Span(0, 0),
        output_tokens=Span(0, 0),
    )
    lines = estimate(
        (PLANNED, group, none), lambda calls: f"fake:{calls.purpose}", lambda _: price, lambda _: NOTHING
    )
    assert [(line.purpose, line.model) for line in lines] == [
        ("summarize", "fake:summarize"),
        ("group", "fake:group"),
    ]
    assert lines[1].dollars is not None
    assert lines[1].dollars.low == 0.0
    assert lines[1].dollars.high == pytest.approx((45_000 + 5 * 3_000) / 1e6 * 2)


SPANS = st.tuples(st.integers(0, 10_000_000), st.integers(0, 10_000_000)).map(
    lambda ends: Span(min(ends), max(ends))
)


@given(
    calls=SPANS, characters=SPANS, inputs=SPANS, outputs=SPANS, past=st.tuples(*[st.integers(0, 10**9)] * 4)
)
def test_low_is_never_above_high(
    calls: Span, characters: Span, inputs: Span, outputs: Span, past: tuple[int, int, int, int]
) -> None:
    """A range is a range, whatever was planned and whatever there was."""
    planned = PlannedCalls(
        purpose="group",
        calls=calls,
        prompt_characters=characters,
        input_tokens=inputs,
        output_tokens=outputs,
    )
    usage = PastUsage(calls=past[0], prompt_characters=past[1], input_tokens=past[2], output_tokens=past[3])
    line = estimated_spending(planned, "m", lambda used: used.input_tokens / 1e6, usage)
    assert line.input_tokens.low <= line.input_tokens.high
    assert line.output_tokens.low <= line.output_tokens.high
    assert line.dollars is not None
    assert 0 <= line.dollars.low <= line.dollars.high + 1
