"""What a tenant used and paid, by compiles and by questions, and what is left of the month."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from corpus2skill.application.server_wiring import Server
from corpus2skill.application.show_records import opened_records
from corpus2skill.application.wiring import Workspace
from corpus2skill.domain.usage import UsageKey, UsageLine, UsageSum, day_of, first_of_month, summed
from corpus2skill.errors import InvalidInput

MOST_DAYS = 366
_FOR_GOOD = "9999-12-31"


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """The running month, in UTC."""

    month: str
    """`2026-04`."""
    dollars: float
    """Of the calls whose price is known."""
    unpriced: int
    """Calls whose price is not known."""
    cap: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReport:
    since: str
    """The first day."""
    until: str
    """The day after the last one."""
    sums: dict[str, UsageSum]
    total: UsageSum
    month: Month


def report_usage(
    server: Server, tenant: str, by: UsageKey, since: date | None, until: date | None
) -> UsageReport:
    """Sums of the days from `since` on and before `until`; of the running month where nothing is said.

    Raises:
        InvalidInput: no day lies between them, or too many do.
    """
    workspace = server.workspace(tenant)
    today = workspace.clock.now().date()
    first = since or min(today.replace(day=1), (until or today) - timedelta(days=1))
    end = until or max(today, first) + timedelta(days=1)
    if not 0 < (end - first).days <= MOST_DAYS:
        raise InvalidInput("usage_days", most=MOST_DAYS)
    lines = usage_lines(workspace, first.isoformat(), end.isoformat())
    total = UsageSum()
    for line in lines:
        total = total.plus(line)
    return UsageReport(
        since=first.isoformat(),
        until=end.isoformat(),
        sums=summed(lines, by),
        total=total,
        month=month_of(workspace),
    )


def month_of(workspace: Workspace) -> Month:
    """What the running month has come to so far."""
    first = day_of(first_of_month(workspace.clock.now()))
    lines = usage_lines(workspace, first, _FOR_GOOD)
    return Month(
        month=first[:7],
        dollars=sum(line.dollars for line in lines),
        unpriced=sum(line.unpriced for line in lines),
        cap=workspace.settings.month_cost,
    )


def usage_lines(workspace: Workspace, since: str, until: str) -> tuple[UsageLine, ...]:
    """Compiles, then questions."""
    results = workspace.results()
    try:
        compiles = results.usage(since, until)
    finally:
        results.close()
    with opened_records(workspace) as records:
        return (*compiles, *records.usage(workspace.tenant, since, until))
