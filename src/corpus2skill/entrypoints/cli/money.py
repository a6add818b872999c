"""What calls will cost and have cost, as lines under each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from corpus2skill.domain.money import EstimatedSpending, Span, Spending, total
from corpus2skill.entrypoints.cli.output import Output, columns


def estimate_lines(out: Output, estimate: Sequence[EstimatedSpending]) -> Iterator[str]:
    """Yield the expected calls, tokens and money, low to high, a line for each purpose and their sum."""
    if not estimate:
        yield out.say("cli.estimate_free")
        return
    yield out.say("cli.estimate")
    heads = ("cli.purpose", "cli.model", "cli.calls", "cli.tokens_in", "cli.tokens_out", "cli.cost")
    rows = [tuple(map(out.say, heads))] + [
        (
            out.say(f"purpose.{part.purpose}"),
            part.model,
            _span(part.calls),
            _span(part.input_tokens),
            _span(part.output_tokens),
            _dollars_span(out, part.dollars),
        )
        for part in estimate
    ]
    yield from (f"  {line}" for line in columns(rows))
    yield out.say("cli.estimate_total", dollars=_dollars_span(out, estimated_total(estimate)))


def estimated_total(estimate: Sequence[EstimatedSpending]) -> Span | None:
    """All the money together; unknown as soon as one part is."""
    amount = Span(0, 0)
    for part in estimate:
        if part.dollars is None:
            return None
        amount += part.dollars
    return amount


def spending_lines(out: Output, spending: Sequence[Spending]) -> Iterator[str]:
    """Yield what was paid, a line for each purpose and model, and the sum; nothing where no model was asked."""
    if not spending:
        return
    yield out.say("cli.spent")
    heads = ("cli.purpose", "cli.model", "cli.calls", "cli.reused", "cli.retries")
    tails = ("cli.tokens_in", "cli.tokens_out", "cli.cost")
    rows = [tuple(map(out.say, heads + tails))] + [
        (
            out.say(f"purpose.{part.purpose}"),
            part.model,
            f"{part.calls:,}",
            f"{part.reused:,}",
            f"{part.retries:,}",
            f"{part.usage.input_tokens:,}",
            f"{part.usage.output_tokens:,}",
            dollars(out, part.dollars),
        )
        for part in spending
    ]
    yield from (f"  {line}" for line in columns(rows))
    yield out.say("cli.spent_total", dollars=dollars(out, total(part.dollars for part in spending)))


def dollars(out: Output, amount: float | None) -> str:
    """An amount as people read it: more places for the little that one call costs."""
    if amount is None:
        return out.say("cli.price_unknown")
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


def _dollars_span(out: Output, amount: Span | None) -> str:
    if amount is None:
        return out.say("cli.price_unknown")
    low, high = dollars(out, amount.low), dollars(out, amount.high)
    return low if low == high else f"{low} - {high}"


def _span(count: Span) -> str:
    low, high = f"{count.low:,.0f}", f"{count.high:,.0f}"
    return low if low == high else f"{low}-{high}"
