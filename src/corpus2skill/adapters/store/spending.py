"""Sums of what paid calls came to, written with their results."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, and_, bindparam, func, insert, select, update

from corpus2skill.adapters.store.record_chain import storable
from corpus2skill.adapters.store.result_tables import SPENT
from corpus2skill.domain.usage import SpentCall, UsageLine, day_of

_KEYS = ("tenant", "day", "corpus", "model", "purpose")
_SUMS = ("calls", "input_tokens", "output_tokens", "dollars", "unpriced")
_ADD_TO = (
    update(SPENT)
    .where(and_(*(SPENT.c[name] == bindparam(f"of_{name}") for name in _KEYS)))
    .values({name: SPENT.c[name] + bindparam(f"more_{name}") for name in _SUMS})
)
_ADD = insert(SPENT)
_Key = tuple[str, ...]


def add_spending(connection: Connection, tenant: str, calls: Iterable[SpentCall]) -> None:
    """Add calls to the sums. Two that begin the same sum at once are told apart by the primary key."""
    gathered = _gathered(tenant, calls)
    for key in sorted(gathered):  # in one order: two writers never wait for each other
        sums = gathered[key]
        named = dict(zip(_KEYS, key, strict=True))
        added = connection.execute(
            _ADD_TO,
            {
                **{f"of_{name}": value for name, value in named.items()},
                **{f"more_{name}": value for name, value in sums.items()},
            },
        )
        if not added.rowcount:
            connection.execute(_ADD, {**named, **sums})


def spending(connection: Connection, tenant: str, since: str, until: str) -> tuple[UsageLine, ...]:
    """The sums of days from `since` on and before `until`."""
    is_meant = and_(SPENT.c.tenant == tenant, SPENT.c.day >= since, SPENT.c.day < until)
    rows = connection.execute(select(SPENT).where(is_meant).order_by(*(SPENT.c[name] for name in _KEYS)))
    return tuple(
        UsageLine(**{name: value for name, value in row.items() if name != "tenant"})
        for row in rows.mappings()
    )


def dollars_spent(connection: Connection, tenant: str, since: str) -> float:
    is_meant = and_(SPENT.c.tenant == tenant, SPENT.c.day >= since)
    return float(connection.scalar(select(func.sum(SPENT.c.dollars)).where(is_meant)) or 0.0)


def _gathered(tenant: str, calls: Iterable[SpentCall]) -> dict[_Key, dict[str, float]]:
    gathered: dict[_Key, dict[str, float]] = {}
    for call in calls:
        key = (tenant, day_of(call.paid_at), storable(call.corpus), storable(call.model), call.purpose)
        sums = gathered.setdefault(key, dict.fromkeys(_SUMS, 0))
        sums["calls"] += 1
        sums["input_tokens"] += call.usage.input_tokens
        sums["output_tokens"] += call.usage.output_tokens
        sums["dollars"] += call.dollars or 0.0
        sums["unpriced"] += call.dollars is None
    return gathered
