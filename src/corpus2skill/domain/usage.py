"""What was used and what it cost, in sums."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from corpus2skill.domain.message import Usage
from corpus2skill.domain.model_call import Purpose

UsageKey = Literal["day", "model", "purpose", "corpus"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentCall:
    """A call that was paid for and whose reply is not kept."""

    corpus: str
    model: str
    purpose: Purpose
    usage: Usage
    dollars: float | None
    """None: the price is unknown."""
    paid_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageLine:
    """Calls of one day, corpus, model and purpose. Of questions each is one, however many rounds it took."""

    day: str
    """`2026-04-01`, in UTC."""
    corpus: str
    model: str
    purpose: Purpose
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float = 0.0
    """Of the calls whose price is known."""
    unpriced: int = 0
    """Calls whose price is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageSum:
    """Lines added up."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float = 0.0
    unpriced: int = 0

    def plus(self, line: UsageLine) -> UsageSum:
        return replace(
            self,
            calls=self.calls + line.calls,
            input_tokens=self.input_tokens + line.input_tokens,
            output_tokens=self.output_tokens + line.output_tokens,
            dollars=self.dollars + line.dollars,
            unpriced=self.unpriced + line.unpriced,
        )


def summed(lines: Iterable[UsageLine], by: UsageKey) -> dict[str, UsageSum]:
    """Sums by day, model, purpose or corpus, in the order of those."""
    sums: dict[str, UsageSum] = {}
    for line in lines:
        key = {"day": line.day, "model": line.model, "purpose": line.purpose, "corpus": line.corpus}[by]
        sums[key] = sums.get(key, UsageSum()).plus(line)
    return dict(sorted(sums.items()))


def day_of(time: datetime) -> str:
    """The day of a time, in UTC."""
    return time.astimezone(UTC).date().isoformat()


def first_of_month(time: datetime) -> datetime:
    """When the month of a time began, in UTC: a cap of a month is counted from there."""
    return time.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
