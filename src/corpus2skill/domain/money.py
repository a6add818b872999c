"""What calls cost, before and after. Money is US dollars; None is "unknown", never 0."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from corpus2skill.domain.message import Usage
from corpus2skill.domain.model_call import Purpose

Price = Callable[[Usage], float | None]
"""US dollars of so many tokens; None where the price is unknown."""


def unknown_price(_usage: Usage) -> None:
    """The price of a model that no price list names."""


def free(_usage: Usage) -> float:
    """The price of what is not paid for."""
    return 0.0


def flat_price(input_price: float, output_price: float) -> Price:
    """The price of a model by US dollars for a million tokens of input and of output."""

    def price(usage: Usage) -> float:
        return (usage.input_tokens * input_price + usage.output_tokens * output_price) / 1_000_000

    return price


def most_dollars(price: Price, input_tokens: int, output_tokens: int) -> float | None:
    """Return what so many tokens cost at the dearest rate: some providers charge more for filling a cache.

    None: the price is unknown.
    """
    usages = (
        Usage(input_tokens=input_tokens, output_tokens=output_tokens, cache_written_tokens=written)
        for written in (0, input_tokens)
    )
    amounts = [price(usage) for usage in usages]
    known = [amount for amount in amounts if amount is not None]
    return max(known) if len(known) == len(amounts) else None


def total(amounts: Iterable[float | None]) -> float | None:
    """The sum; unknown as soon as one part is."""
    known = list(amounts)
    return None if None in known else sum(amount for amount in known if amount is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What the calls for one purpose with one model came to in one compile."""

    purpose: Purpose
    model: str
    calls: int = 0
    """Paid ones, those whose reply was unusable counted."""
    reused: int = 0
    """Answered from the result store."""
    retries: int = 0
    """Tries that failed before a call succeeded."""
    usage: Usage = Usage()
    dollars: float | None = 0.0
    saved: float | None = 0.0
    """What the reused ones would have cost: they were paid for before, perhaps by a compile that was broken off."""


@dataclass(frozen=True, slots=True)
class Span:
    """Low to high, both counted."""

    low: float
    high: float

    def __add__(self, other: Span) -> Span:
        return Span(self.low + other.low, self.high + other.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatedSpending:
    """What the calls for one purpose will probably come to."""

    purpose: Purpose
    model: str
    calls: Span
    input_tokens: Span
    output_tokens: Span
    dollars: Span | None
    """None: the price is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCalls:
    """The calls that a compile will probably make for one purpose, told before any of them is made.

    The sums are over all the calls together. What is only asked again where a reply cannot be used belongs
    into the high ends.
    """

    purpose: Purpose
    calls: Span
    prompt_characters: Span
    """Of system, messages and schema."""
    input_tokens: Span
    """As `domain.tokens.likely_tokens` counts them."""
    output_tokens: Span
    """As many as can be said without having seen a reply."""
