"""What planned calls will probably come to, said before any of them is made. It needs no network."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from corpus2skill.domain.message import Usage
from corpus2skill.domain.money import EstimatedSpending, PlannedCalls, Price, Span
from corpus2skill.ports.result_store import PastUsage

_ENOUGH_CALLS = 20
"""From so many past calls on the workspace's own figures are better than those of other people's texts."""
_SPREAD = 0.15
"""How far the next calls may be from the past ones."""


def estimate(
    planned: Iterable[PlannedCalls],
    model: Callable[[PlannedCalls], str],
    price: Callable[[PlannedCalls], Price],
    past: Callable[[PlannedCalls], PastUsage],
) -> tuple[EstimatedSpending, ...]:
    """Return a line for each of `planned` with calls in it.

    `model` names the model that makes them, `price` is what its tokens cost then, and `past` is what the same
    model's calls for the same purpose came to so far.
    """
    return tuple(
        estimated_spending(calls, model(calls), price(calls), past(calls))
        for calls in planned
        if calls.calls.high > 0
    )


def estimated_spending(planned: PlannedCalls, model: str, price: Price, past: PastUsage) -> EstimatedSpending:
    """Return one line, corrected by past calls where there are enough of them."""
    input_tokens, output_tokens = planned.input_tokens, planned.output_tokens
    if past.calls >= _ENOUGH_CALLS and past.prompt_characters > 0:
        corrected = _spread(planned.prompt_characters, past.input_tokens / past.prompt_characters)
        if _overlap(corrected, input_tokens):  # else those calls were about texts in another language
            input_tokens = corrected
            output_tokens = _spread(planned.calls, past.output_tokens / past.calls)
    low = _dollars(price, planned.calls.low, input_tokens.low, output_tokens.low)
    high = _dollars(price, planned.calls.high, input_tokens.high, output_tokens.high)
    return EstimatedSpending(
        purpose=planned.purpose,
        model=model,
        calls=planned.calls,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        dollars=None if low is None or high is None else Span(low, high),
    )


def _overlap(one: Span, other: Span) -> bool:
    return one.low <= other.high and other.low <= one.high


def _spread(amount: Span, each: float) -> Span:
    return Span(amount.low * each * (1 - _SPREAD), amount.high * each * (1 + _SPREAD))


def _dollars(price: Price, calls: float, input_tokens: float, output_tokens: float) -> float | None:
    """Price one average call: dearer rates of long prompts go by the call, not by the sum."""
    if not calls:
        return price(Usage())
    one = price(Usage(input_tokens=round(input_tokens / calls), output_tokens=round(output_tokens / calls)))
    return None if one is None else one * calls
