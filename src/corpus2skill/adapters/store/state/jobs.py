"""Jobs in the server's database."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import msgspec
from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Index,
    Integer,
    RowMapping,
    String,
    Table,
    Text,
    func,
    insert,
    select,
    update,
)

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.domain.server_job import (
    Cause,
    Estimate,
    JobMoney,
    JobOptions,
    JobState,
    Progress,
    ServerJob,
)
from corpus2skill.errors import ThingNotFound
from corpus2skill.ports.jobs import QueuedJob, RunningJob

JOBS = Table(
    "jobs",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("job", String, primary_key=True),
    Column("corpus", String, nullable=False),
    Column("created_by", String, nullable=False),
    Column("created_at", String, nullable=False),
    Column("options", Text, nullable=False),  # JSON, so the next and those named so below
    Column("estimate", Text),
    Column("state", String, nullable=False, index=True),
    Column("state_at", String, nullable=False),
    Column("cause", Text),  # JSON
    Column("attempt", Integer, nullable=False),
    Column("worker", String),
    Column("beats", Integer, nullable=False),
    Column("is_cancelling", Boolean, nullable=False),
    Column("is_quiet", Boolean, nullable=False),
    Column("progress", Text, nullable=False),  # JSON
    Column("paid_before", Text),  # JSON
    Column("started_at", String),
    Column("ended_at", String),
    Column("retry_at", String),
    Column("retries_left", Integer, nullable=False),
    Column("version", Integer),
    Column("is_new", Boolean, nullable=False),
    Column("is_activated", Boolean, nullable=False),
    Column("warnings", Integer, nullable=False),
    Column("stand_ins", Integer, nullable=False),
    Index("jobs_of_corpus", "tenant", "corpus", "job"),
)

ESTIMATES = Table(
    "estimates",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("estimate", String, primary_key=True),
    Column("corpus", String, nullable=False),
    Column("created_at", String, nullable=False),
    Column("body", Text, nullable=False),  # JSON
)

_JSON_TYPES: dict[str, Any] = {
    "options": JobOptions,
    "estimate": Estimate | None,
    "cause": Cause | None,
    "paid_before": JobMoney | None,
    "progress": Progress,
}
_OWN_METHODS = ("tenant", "job", "progress", "beats")
"""What `change` leaves alone."""


class SqlJobStore:
    """`ports.jobs.JobStore` over SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, job: ServerJob) -> None:
        self._database.write(lambda connection: connection.execute(insert(JOBS).values(_row(job))))

    def job(self, tenant: str, job: str) -> ServerJob:
        found = self._database.read(lambda connection: _found(connection, tenant, job), None)
        if found is None:
            raise ThingNotFound("job", job)
        return _job(found)

    def jobs(
        self,
        tenant: str,
        *,
        corpus: str | None = None,
        states: Collection[JobState] = (),
        before: str | None = None,
        limit: int = 100,
    ) -> tuple[ServerJob, ...]:
        wanted = select(JOBS).where(JOBS.c.tenant == tenant)
        if corpus is not None:
            wanted = wanted.where(JOBS.c.corpus == corpus)
        if states:
            wanted = wanted.where(JOBS.c.state.in_(list(states)))
        if before is not None:
            wanted = wanted.where(JOBS.c.job < before)
        wanted = wanted.order_by(JOBS.c.job.desc()).limit(limit)

        def work(connection: Connection) -> tuple[ServerJob, ...]:
            return tuple(map(_job, connection.execute(wanted).mappings()))

        return self._database.read(work, ())

    def change(
        self, tenant: str, job: str, turn: Callable[[ServerJob], ServerJob | None]
    ) -> ServerJob | None:
        def work(connection: Connection) -> ServerJob | None:
            found = _found(connection, tenant, job, for_update=True)
            if found is None:
                raise ThingNotFound("job", job)
            was = _job(found)
            becomes = turn(was)
            if becomes is None:
                return None
            values = {name: value for name, value in _row(becomes).items() if name not in _OWN_METHODS}
            connection.execute(update(JOBS).where(_is(tenant, job)).values(values))
            return replace(becomes, progress=was.progress, beats=was.beats)

        return self._database.write(work)

    def save_progress(self, tenant: str, job: str, attempt: int, progress: Progress) -> bool:
        is_meant = _is(tenant, job) & (JOBS.c.attempt == attempt) & (JOBS.c.state == "running")
        saved = update(JOBS).where(is_meant).values(progress=_encoded(progress))
        return self._database.write(
            lambda connection: connection.execute(saved).rowcount > 0, outlasts_power_cut=False
        )

    def count_by_state(self) -> dict[str, int]:
        counted = select(JOBS.c.state, func.count()).group_by(JOBS.c.state)

        def work(connection: Connection) -> dict[str, int]:
            return {str(state): int(count) for state, count in connection.execute(counted)}

        return self._database.read(work, {})

    def queued(self) -> tuple[QueuedJob, ...]:
        oldest = func.min(JOBS.c.job).label("oldest")
        wanted = (
            select(JOBS.c.tenant, JOBS.c.corpus, oldest)
            .where(JOBS.c.state == "queued")
            .group_by(JOBS.c.tenant, JOBS.c.corpus)
            .order_by(oldest)
        )

        def work(connection: Connection) -> tuple[QueuedJob, ...]:
            rows = connection.execute(wanted)
            return tuple(QueuedJob(tenant=tenant, corpus=corpus, job=job) for tenant, corpus, job in rows)

        return self._database.read(work, ())

    def running(self) -> tuple[RunningJob, ...]:
        columns = (
            JOBS.c.tenant,
            JOBS.c.corpus,
            JOBS.c.job,
            JOBS.c.attempt,
            JOBS.c.worker,
            JOBS.c.beats,
            JOBS.c.is_cancelling,
        )
        wanted = select(*columns).where(JOBS.c.state == "running").order_by(JOBS.c.job)

        def work(connection: Connection) -> tuple[RunningJob, ...]:
            return tuple(
                RunningJob(
                    tenant=row["tenant"],
                    corpus=row["corpus"],
                    job=row["job"],
                    attempt=row["attempt"],
                    worker=row["worker"] or "",
                    beats=row["beats"],
                    is_cancelling=row["is_cancelling"],
                )
                for row in connection.execute(wanted).mappings()
            )

        return self._database.read(work, ())

    def stalled_with_retry(self) -> tuple[ServerJob, ...]:
        is_meant = (JOBS.c.state == "stalled") & JOBS.c.retry_at.is_not(None)

        def work(connection: Connection) -> tuple[ServerJob, ...]:
            return tuple(map(_job, connection.execute(select(JOBS).where(is_meant)).mappings()))

        return self._database.read(work, ())

    def beat(self, worker: str, jobs: Collection[str]) -> None:
        is_meant = (JOBS.c.worker == worker) & (JOBS.c.state == "running") & JOBS.c.job.in_(list(jobs))
        beaten = update(JOBS).where(is_meant).values(beats=JOBS.c.beats + 1)
        self._database.write(lambda connection: connection.execute(beaten), outlasts_power_cut=False)

    def add_estimate(self, estimate: Estimate) -> None:
        row = {
            "tenant": estimate.tenant,
            "estimate": estimate.estimate,
            "corpus": estimate.corpus,
            "created_at": estimate.created_at,
            "body": _encoded(estimate),
        }
        self._database.write(lambda connection: connection.execute(insert(ESTIMATES).values(row)))

    def estimate(self, tenant: str, estimate: str) -> Estimate:
        wanted = select(ESTIMATES.c.body).where(
            (ESTIMATES.c.tenant == tenant) & (ESTIMATES.c.estimate == estimate)
        )
        body = self._database.read(lambda connection: connection.scalar(wanted), None)
        if body is None:
            raise ThingNotFound("estimate", estimate)
        return msgspec.json.decode(body, type=Estimate)


def _is(tenant: str, job: str) -> Any:  # noqa: ANN401 - SQLAlchemy's own word for a condition
    return (JOBS.c.tenant == tenant) & (JOBS.c.job == job)


def _found(connection: Connection, tenant: str, job: str, *, for_update: bool = False) -> RowMapping | None:
    wanted = select(JOBS).where(_is(tenant, job))
    if for_update:
        wanted = wanted.with_for_update()
    return connection.execute(wanted).mappings().first()


def _encoded(value: object) -> str:
    return msgspec.json.encode(value).decode("utf-8")


def _row(job: ServerJob) -> dict[str, object]:
    row: dict[str, object] = {column.name: getattr(job, column.name) for column in JOBS.columns}
    for name in _JSON_TYPES:
        row[name] = None if row[name] is None else _encoded(row[name])
    return row


def _job(row: RowMapping) -> ServerJob:
    values: dict[str, Any] = dict(row)
    for name, kind in _JSON_TYPES.items():
        if values[name] is not None:
            values[name] = msgspec.json.decode(values[name], type=kind)
    return ServerJob(**values)
