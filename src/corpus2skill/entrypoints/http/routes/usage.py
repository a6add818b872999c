"""`/v1/usage`: tokens and money of compiles and questions."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from corpus2skill.application.server.usage import report_usage
from corpus2skill.domain.usage import UsageKey, UsageSum
from corpus2skill.entrypoints.http.caller import TheServer, Writer

router = APIRouter(prefix="/usage", tags=["usage"])


class SumBody(BaseModel):
    calls: int
    """Calls of compiles; of questions each is one."""
    input_tokens: int
    output_tokens: int
    dollars: float
    """Of the calls whose price is known."""
    unpriced_calls: int
    """Calls whose price is not known: they may have cost anything."""


class UsageBody(SumBody):
    key: str
    """The day, model, purpose or corpus; an empty one for what belongs to no corpus."""


class MonthBody(BaseModel):
    """The running month, in UTC."""

    month: str
    dollars: float
    unpriced_calls: int
    cap: float | None
    """Null: none is set."""


class UsageReportBody(BaseModel):
    since: str
    """The first day, in UTC."""
    until: str
    """The day after the last one."""
    by: UsageKey
    data: list[UsageBody]
    total: SumBody
    month: MonthBody


@router.get("")
def show_usage(
    principal: Writer,
    server: TheServer,
    since: Annotated[
        date | None,
        Query(alias="from", description="The first day, in UTC; of the running month where none is named."),
    ] = None,
    until: Annotated[
        date | None,
        Query(alias="to", description="The day after the last one: tomorrow where none is named."),
    ] = None,
    by: UsageKey = "day",
) -> UsageReportBody:
    """What was used by day, model, purpose or corpus; what was deleted since counts, too."""
    report = report_usage(server, principal.tenant, by, since, until)
    return UsageReportBody(
        since=report.since,
        until=report.until,
        by=by,
        data=[UsageBody(key=key, **_sum(found).model_dump()) for key, found in report.sums.items()],
        total=_sum(report.total),
        month=MonthBody(
            month=report.month.month,
            dollars=report.month.dollars,
            unpriced_calls=report.month.unpriced,
            cap=report.month.cap,
        ),
    )


def _sum(found: UsageSum) -> SumBody:
    return SumBody(
        calls=found.calls,
        input_tokens=found.input_tokens,
        output_tokens=found.output_tokens,
        dollars=found.dollars,
        unpriced_calls=found.unpriced,
    )
