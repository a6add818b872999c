"""The statements that a run's record is written with.

Built once: SQLAlchemy takes longer to build a statement than SQLite to carry it out.
"""

from __future__ import annotations

from sqlalchemy import (
    Executable,
    Integer,
    String,
    Text,
    and_,
    bindparam,
    delete,
    func,
    insert,
    select,
    union_all,
)

from corpus2skill.adapters.store.record_chain import storable
from corpus2skill.adapters.store.record_tables import CHAINS, OPEN_RUNS, OPEN_VISITS, RECORDS

_TENANT, _RUN = bindparam("of_tenant"), bindparam("of_run")
_IS_OPEN_RUN = and_(OPEN_RUNS.c.tenant == _TENANT, OPEN_RUNS.c.run == _RUN)
_IS_OPEN_VISIT = and_(OPEN_VISITS.c.tenant == _TENANT, OPEN_VISITS.c.run == _RUN)
DROP_RUN = delete(OPEN_RUNS).where(_IS_OPEN_RUN)
OPEN_RUN = insert(OPEN_RUNS)
DROP_VISITS = delete(OPEN_VISITS).where(_IS_OPEN_VISIT)
DROP_VISIT = DROP_VISITS.where(OPEN_VISITS.c.number == bindparam("of_number"))
ADD_VISIT = insert(OPEN_VISITS).from_select(
    [OPEN_VISITS.c.tenant, OPEN_VISITS.c.run, OPEN_VISITS.c.number, OPEN_VISITS.c.visit],
    select(
        OPEN_RUNS.c.tenant,
        OPEN_RUNS.c.run,
        bindparam("of_number", type_=Integer),
        bindparam("of_visit", type_=Text),
    ).where(_IS_OPEN_RUN),
)
"""Into a run that is open; where there is none, nothing."""
_TURNS = union_all(
    *(
        select(table.c.turn).where(
            table.c.tenant == _TENANT, table.c.session == bindparam("of_session", type_=String)
        )
        for table in (RECORDS, OPEN_RUNS)
    )
).subquery()
LAST_TURN = select(func.max(_TURNS.c.turn))
SEQ_OF_RUN = select(RECORDS.c.seq).where(RECORDS.c.tenant == _TENANT, RECORDS.c.run == _RUN)
LOCK_CHAIN = select(CHAINS).where(CHAINS.c.tenant == _TENANT).with_for_update()
ADD_CHAIN = insert(CHAINS)
LAST_OF_CHAIN = select(RECORDS).where(RECORDS.c.tenant == _TENANT).order_by(RECORDS.c.seq.desc()).limit(1)
ADD_RECORD = insert(RECORDS)


def usage_query(tenant: str, since: str, until: str) -> Executable:
    """Sums of a tenant's runs by day, corpus and model, of the days from `since` on and before `until`."""
    day = func.substr(RECORDS.c.started_at, 1, 10)
    keys = (day, RECORDS.c.corpus, RECORDS.c.model)
    return (
        select(
            day.label("day"),
            RECORDS.c.corpus,
            RECORDS.c.model,
            func.count().label("calls"),
            func.count(RECORDS.c.usd).label("priced"),
            func.coalesce(func.sum(RECORDS.c.usd), 0.0).label("dollars"),
            func.coalesce(func.sum(RECORDS.c.input_tokens), 0).label("input_tokens"),
            func.coalesce(func.sum(RECORDS.c.output_tokens), 0).label("output_tokens"),
        )
        .where(RECORDS.c.tenant == tenant, RECORDS.c.started_at >= since, RECORDS.c.started_at < until)
        .group_by(*keys)
        .order_by(*keys)
    )


def run_key(tenant: str, run: str) -> dict[str, object]:
    """Which run the prepared statements are about."""
    return {"of_tenant": storable(tenant), "of_run": storable(run)}
