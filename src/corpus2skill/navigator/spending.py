"""Spending limits of questions: looked at before each round, with all that the round can cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from math import inf

from corpus2skill.domain.message import Usage
from corpus2skill.domain.money import Price, most_dollars
from corpus2skill.domain.run import RunLimits
from corpus2skill.domain.tokens import most_tokens
from corpus2skill.domain.usage import first_of_month
from corpus2skill.errors import SpendingCapReached, UnusableSettings
from corpus2skill.navigator.outcome import RunEnded
from corpus2skill.navigator.request import prompt_tokens, reply_tokens
from corpus2skill.navigator.run import Run
from corpus2skill.ports.navigator_model import NavigatorRequest

DAY = timedelta(hours=24)
"""Any 24 hours: a calendar day would begin at another hour for each asker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cap:
    code: str
    limit: float
    spent: float


def require_price(model: str, price: Price, limits: RunLimits) -> None:
    """Look whether the limits can be held with this model.

    Raises:
        UnusableSettings: there is a spending limit, and the model's price is unknown.
    """
    if limits.has_spending_limit and price(Usage(input_tokens=1, output_tokens=1)) is None:
        raise UnusableSettings("limit_without_price", model=model)


def hold_round(run: Run, request: NavigatorRequest) -> float:
    """Set aside what a round costs at most, and return it: US dollars, 0 where there is no limit.

    What other runs of this process hold counts as spent; what other processes have under way counts when it
    is recorded.

    Raises:
        RunEnded: `budget`; the round could go over a limit, and nothing was sent.
    """
    if not run.limits.has_spending_limit:
        return 0.0
    most = _most_of_round(run, request)
    for cap in _caps(run) if most else ():
        if cap.spent + most > cap.limit:
            raise RunEnded("budget") from SpendingCapReached(
                cap.code, cap=_shown(cap.limit), spent=_shown(cap.spent), next=_shown(most)
            )
    run.navigator.held.hold(run.ids, dollars_of(run) + most)
    return most


def dollars_of(run: Run) -> float:
    """Return what a run has come to, rounds that broke off and named no usage counted in full."""
    return (run.navigator.price(run.usage) or 0.0) + run.unaccounted


def _most_of_round(run: Run, request: NavigatorRequest) -> float:
    sent = prompt_tokens(run, request, most_tokens)
    most = most_dollars(run.navigator.price, sent, reply_tokens(run, request))
    return inf if most is None else most


def _caps(run: Run) -> Iterator[_Cap]:
    limits, ids, records, held = run.limits, run.ids, run.navigator.records, run.navigator.held
    own = dollars_of(run)
    if limits.run_dollars is not None:
        yield _Cap(code="run_cap_reached", limit=limits.run_dollars, spent=own)
    if limits.session_dollars is not None:
        spent = records.spent(ids.tenant, session=ids.session) + held.of_session(ids)
        yield _Cap(code="session_cap_reached", limit=limits.session_dollars, spent=spent + own)
    if limits.day_dollars is not None:
        spent = records.spent(ids.tenant, since=run.navigator.clock.now() - DAY) + held.of_tenant(ids)
        yield _Cap(code="day_cap_reached", limit=limits.day_dollars, spent=spent + own)
    if limits.month_dollars is not None:
        since = first_of_month(run.navigator.clock.now())
        spent = records.spent(ids.tenant, since=since) + held.of_tenant(ids)
        spent += run.navigator.spent_otherwise(since)
        yield _Cap(code="month_cap_reached", limit=limits.month_dollars, spent=spent + own)


def _shown(dollars: float) -> str:
    return f"{dollars:.4f}".rstrip("0").rstrip(".")
