"""What calls will cost and have cost, as lines under each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from corpus2skill.domain.money import EstimatedSpending, Span, Spending, total
from corpus2skill.entrypoints.cli.output import Output
from corpus2skill.entrypoints.cli.table import table, width_of_table

_INDENT = "  "


def estimate_lines(
    out: Output, estimate: Sequence[EstimatedSpending], room: int | None = None
) -> Iterator[str]:
    """Yield the expected calls, tokens and money, low to high, a row for each purpose and their sum.

    `room`: columns of the screen, None where it has no end; so below.
    """
    if not estimate:
        yield out.say("cli.estimate_free")
        return
    yield out.say("cli.estimate")
    heads = ("cli.purpose", "cli.model", "cli.calls", "cli.tokens_in", "cli.tokens_out", "cli.cost")
    rows = [tuple(map(out.say, heads))] + [
        (
            out.say(f"purpose.{part.purpose}"),
            part.model,
            _span(out, part.calls),
            _span(out, part.input_tokens),
            _span(out, part.output_tokens),
            _dollars_span(out, part.dollars),
        )
        for part in estimate
    ]
    yield from _table(rows, room)
    yield out.say("cli.estimate_total", dollars=_dollars_span(out, estimated_total(estimate)))


def estimated_total(estimate: Sequence[EstimatedSpending]) -> Span | None:
    """All the money together; unknown as soon as one part is."""
    amount = Span(0, 0)
    for part in estimate:
        if part.dollars is None:
            return None
        amount += part.dollars
    return amount


def spending_lines(out: Output, spending: Sequence[Spending], room: int | None = None) -> Iterator[str]:
    """Yield what was paid, a row for each purpose and model, and the sum; nothing where no model was asked."""
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
    yield from _table(rows, room)
    yield out.say("cli.spent_total", dollars=dollars(out, total(part.dollars for part in spending)))
    if reused := sum(part.reused for part in spending):
        saved = total(part.saved for part in spending)
        yield out.say("cli.paid_before", calls=reused, dollars=dollars(out, saved))


def dollars(out: Output, amount: float | None) -> str:
    """An amount as people read it: more places for the little that one call costs."""
    if amount is None:
        return out.say("cli.price_unknown")
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


def _table(rows: Sequence[Sequence[str]], room: int | None) -> Iterator[str]:
    """The rows with their two names to the left and their figures to the right, indented.

    Where that is too wide, each model stands once, above its rows, and cells are folded if need be.
    """
    inner = None if room is None else room - len(_INDENT)
    lines = table(rows, range(2, len(rows[0])))
    if inner is None or width_of_table(lines) <= inner:
        yield from (_INDENT + line for row in lines for line in row)
        return
    lines = table([(row[0], *row[2:]) for row in rows], range(1, len(rows[0]) - 1), inner - len(_INDENT))
    for (_, model, *_), above, folded in zip(rows, (None, *rows), lines, strict=False):
        if above is not None and above[1] != model:
            yield _INDENT + model
        yield from (_INDENT * 2 + line for line in folded)


def _dollars_span(out: Output, amount: Span | None) -> str:
    if amount is None:
        return out.say("cli.price_unknown")
    return _range(out, dollars(out, amount.low), dollars(out, amount.high))


def _span(out: Output, count: Span) -> str:
    return _range(out, f"{count.low:,.0f}", f"{count.high:,.0f}")


def _range(out: Output, low: str, high: str) -> str:
    return low if low == high else out.say("cli.range", low=low, high=high)
