"""Run records in a database, one chain per tenant."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TypeVar

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Executable,
    RowMapping,
    Table,
    and_,
    func,
    select,
    union,
    update,
)

from corpus2skill.adapters.store.database import Contents, Database
from corpus2skill.adapters.store.encoding import decode, encode
from corpus2skill.adapters.store.record_chain import Link, check_chain, make_link, storable
from corpus2skill.adapters.store.record_feedback import drop_feedback, feedback_of, is_judged, put_feedback
from corpus2skill.adapters.store.record_statements import (
    ADD_CHAIN,
    ADD_RECORD,
    ADD_VISIT,
    DROP_RUN,
    DROP_VISIT,
    DROP_VISITS,
    LAST_OF_CHAIN,
    LAST_TURN,
    LOCK_CHAIN,
    OPEN_RUN,
    SEQ_OF_RUN,
    run_key,
    usage_query,
)
from corpus2skill.adapters.store.record_tables import (
    HEADER,
    META,
    METADATA,
    OPEN_RUNS,
    OPEN_VISITS,
    RECORDS,
    SCHEMA,
    upgrade,
)
from corpus2skill.domain.feedback import Feedback
from corpus2skill.domain.message import Usage
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.run import RunIds, RunRecord, Source
from corpus2skill.domain.session import Session
from corpus2skill.domain.trail import Visit
from corpus2skill.domain.turns import turns_of
from corpus2skill.domain.usage import UsageLine
from corpus2skill.errors import Busy, Damaged, RecordNotFound
from corpus2skill.ports.clock import Clock
from corpus2skill.ports.proofs import ChainLink
from corpus2skill.ports.store import ChainVerdict, RecordFilter

Value = TypeVar("Value")

_PAGE = 200
"""Rows read at once, so that no transaction stays open between two records."""
_CONTENTS = Contents(
    metadata=METADATA,
    meta=META,
    schema=SCHEMA,
    name="records",
    upgrade=upgrade,
    damaged=lambda file: Damaged("records_damaged", file=file),
    busy=lambda path: Busy("records_busy", path=path),
)


def records_url(workspace: Path) -> URL:
    """Return the URL of the records of a workspace folder."""
    return URL.create("sqlite", database=str(workspace / "records.db"))


class SqlRecordStore:
    """`ports.store.RecordStore` over SQLAlchemy."""

    def __init__(self, url: str | URL, clock: Clock) -> None:
        self._database = Database(url, _CONTENTS)
        self._clock = clock

    def close(self) -> None:
        """Give back the connections; the store may be used again."""
        self._database.close()

    def open_run(self, ids: RunIds, opening: RunRecord, lease_seconds: float) -> int:
        row = {
            "tenant": storable(ids.tenant),
            "run": storable(ids.run),
            "corpus": storable(ids.corpus),
            "version": ids.version,
            "session": storable(ids.session),
            "lease_until": self._clock.now().timestamp() + lease_seconds,
        }

        def work(connection: Connection) -> int:
            connection.execute(DROP_RUN, run_key(ids.tenant, ids.run))
            turn = _free_turn(connection, ids)
            opened = encode(replace(opening, ids=replace(ids, turn=turn))).decode("utf-8")
            connection.execute(OPEN_RUN, {**row, "turn": turn, "opening": opened})
            return turn

        return self._database.write(work, outlasts_power_cut=False)

    def add_visit(self, ids: RunIds, visit: Visit) -> None:
        """Write a visit of an open run; of a run that was closed meanwhile there is nothing to add to."""
        row = run_key(ids.tenant, ids.run) | {
            "of_number": visit.number,
            "of_visit": encode(visit).decode("utf-8"),
        }

        def work(connection: Connection) -> None:
            connection.execute(DROP_VISIT, row)
            connection.execute(ADD_VISIT, row)

        self._database.write(work, outlasts_power_cut=False)

    def close_run(self, record: RunRecord) -> None:
        """Append the record. A run that is closed already keeps the record it has."""
        self._database.write(lambda connection: _append(connection, record))

    def close_dead(self) -> int:
        now = self._clock.now()
        lapsed = select(OPEN_RUNS.c.tenant, OPEN_RUNS.c.run).where(OPEN_RUNS.c.lease_until <= now.timestamp())
        return sum(self._close_dead(row["tenant"], row["run"], now) for row in self._rows(lapsed))

    def close_abandoned(self, tenant: str, run: str) -> bool:
        return self._close_dead(storable(tenant), storable(run), self._clock.now())

    def session(self, tenant: str, session: str, corpus: str) -> Session:
        in_session = and_(_is_kept(tenant), RECORDS.c.session == storable(session))
        query = (
            select(RECORDS.c.run, RECORDS.c.turn, RECORDS.c.corpus, RECORDS.c.payload)
            .where(in_session)
            .order_by(RECORDS.c.turn, RECORDS.c.seq)
        )
        rows = self._rows(query)
        records = [self._record(row) for row in rows if row["corpus"] == storable(corpus)]
        return Session(
            session_id=session,
            turns=turns_of(records),
            last_turn=max((row["turn"] for row in rows), default=0),
        )

    def record(self, tenant: str, run: str) -> RunRecord:
        begins = RECORDS.c.run.startswith(storable(run), autoescape=True)
        query = select(RECORDS.c.run, RECORDS.c.payload, RECORDS.c.tombstoned_at).where(
            RECORDS.c.tenant == storable(tenant), begins
        )
        # Databases differ in whether LIKE minds the case.
        rows = [row for row in self._rows(query) if run and row["run"].startswith(storable(run))]
        rows = [row for row in rows if row["run"] == storable(run)] or rows
        if len(rows) > 1:
            raise RecordNotFound("record_ambiguous", run=run, records=len(rows))
        if not rows:
            raise RecordNotFound(run=run)
        row = rows[0]
        if row["tombstoned_at"] is not None:
            raise RecordNotFound("record_deleted", run=row["run"], at=row["tombstoned_at"])
        return self._record(row)

    def records(self, tenant: str, which: RecordFilter) -> Iterator[RunRecord]:
        found = (record for record in self._found(tenant, which) if which.takes(record))
        return islice(found, which.limit)

    def under_way(self, tenant: str, which: RecordFilter) -> int:
        query = select(OPEN_RUNS.c.run, OPEN_RUNS.c.opening).where(OPEN_RUNS.c.tenant == storable(tenant))
        openings = (self._decode(row["opening"], RunRecord, row["run"]) for row in self._rows(query))
        return sum(which.takes(opening) for opening in openings)

    def spent(self, tenant: str, *, session: str | None = None, since: datetime | None = None) -> float:
        query = select(func.sum(RECORDS.c.usd).label("usd")).where(RECORDS.c.tenant == storable(tenant))
        if session is not None:
            query = query.where(RECORDS.c.session == storable(session))
        if since is not None:
            query = query.where(RECORDS.c.started_at >= moment_of(since))
        return sum(row["usd"] or 0.0 for row in self._rows(query))

    def usage(self, tenant: str, since: str, until: str) -> tuple[UsageLine, ...]:
        return tuple(map(_usage_line, self._rows(usage_query(storable(tenant), since, until))))

    def tombstone(self, tenant: str, runs: Collection[str]) -> None:
        """Delete what these records say; header and hashes stay, so that the chain still verifies."""
        now = self._clock.now().isoformat(timespec="seconds").replace("+00:00", "Z")
        wanted = sorted({storable(run) for run in runs})

        def work(connection: Connection) -> None:
            for start in range(0, len(wanted), _PAGE):
                part = wanted[start : start + _PAGE]
                drop_feedback(connection, tenant, part)
                connection.execute(
                    update(RECORDS)
                    .where(_is_kept(tenant), RECORDS.c.run.in_(part))
                    .values(payload=None, user_id=None, tombstoned_at=now)
                )

        if wanted:
            self._database.write(work)
        self._database.wipe()  # also where nothing is left to do: the last time it may have been busy

    def put_feedback(self, tenant: str, run: str, feedback: Feedback) -> None:
        if not self._database.write(lambda connection: put_feedback(connection, tenant, run, feedback)):
            raise RecordNotFound(run=run)

    def feedback(self, tenant: str, runs: Collection[str]) -> Mapping[str, Feedback]:
        return self._database.read(lambda connection: feedback_of(connection, tenant, runs), {})

    def cited_versions(self, tenant: str, corpus: str) -> frozenset[int]:
        """Versions that a kept record ran on, and those that a run is on now."""
        query = union(
            select(RECORDS.c.version).where(_is_kept(tenant), RECORDS.c.corpus == storable(corpus)),
            select(OPEN_RUNS.c.version).where(
                OPEN_RUNS.c.tenant == storable(tenant), OPEN_RUNS.c.corpus == storable(corpus)
            ),
        )
        return frozenset(row["version"] for row in self._rows(query))

    def verify(self, tenant: str, kept_head: str | None = None) -> ChainVerdict:
        return check_chain(self._links(tenant), kept_head)

    def session_links(self, tenant: str, session: str) -> tuple[ChainLink, ...]:
        of_session = select(RECORDS.c.seq).where(
            RECORDS.c.tenant == storable(tenant), RECORDS.c.session == storable(session)
        )
        wanted = {row["seq"] + step for row in self._rows(of_session) for step in (-1, 0, 1)}
        query = select(RECORDS).where(RECORDS.c.tenant == storable(tenant), RECORDS.c.seq.in_(wanted))
        return tuple(map(_chain_link, self._rows(query.order_by(RECORDS.c.seq))))

    def _close_dead(self, tenant: str, run: str, now: datetime) -> bool:
        """Close one run, unless another process has done so meanwhile."""

        def work(connection: Connection) -> bool:
            query = select(OPEN_RUNS.c.opening).where(_is_run(OPEN_RUNS, tenant, run))
            opening = connection.scalar(query)
            if opening is None:
                return False
            visits = connection.scalars(
                select(OPEN_VISITS.c.visit)
                .where(_is_run(OPEN_VISITS, tenant, run))
                .order_by(OPEN_VISITS.c.number)
            )
            record = self._decode(opening, RunRecord, run)
            trail = tuple(self._decode(visit, Visit, run) for visit in visits)
            _append(connection, _stopped(record, trail, now))
            return True

        return self._database.write(work)

    def _found(self, tenant: str, which: RecordFilter) -> Iterator[RunRecord]:
        """Records that their headers do not rule out, newest first."""
        size = min(which.limit, _PAGE) if which.limit is not None and which.is_of_headers else _PAGE
        before: int | None = None
        while size:
            rows = self._page(_matches(tenant, which), before, size)
            yield from map(self._record, rows)
            if len(rows) < size:
                return
            before = rows[-1]["seq"]

    def _page(self, matches: ColumnElement[bool], before: int | None, size: int) -> Sequence[RowMapping]:
        query = select(RECORDS.c.seq, RECORDS.c.run, RECORDS.c.payload).where(matches)
        if before is not None:
            query = query.where(RECORDS.c.seq < before)
        return self._rows(query.order_by(RECORDS.c.seq.desc()).limit(size))

    def _links(self, tenant: str) -> Iterator[Link]:
        after = -1
        while True:
            query = (
                select(RECORDS)
                .where(RECORDS.c.tenant == storable(tenant), RECORDS.c.seq > after)
                .order_by(RECORDS.c.seq)
                .limit(_PAGE)
            )
            links = [_link(row) for row in self._rows(query)]
            yield from links
            if len(links) < _PAGE:
                return
            after = links[-1].seq

    def _rows(self, query: Executable) -> Sequence[RowMapping]:
        return self._database.read(lambda connection: connection.execute(query).mappings().all(), ())

    def _record(self, row: RowMapping) -> RunRecord:
        return self._decode(row["payload"], RunRecord, row["run"])

    def _decode(self, text: str, kind: type[Value], run: str) -> Value:
        try:
            return decode(text.encode("utf-8"), kind)
        except ValueError as error:
            raise self._database.damaged(run) from error


def _free_turn(connection: Connection, ids: RunIds) -> int:
    """The turn of `ids`, or the one after the session's last where that is not free any more.

    One statement sees open and closed runs at one moment; where two ask at the same moment all the same, the
    index of open turns lets only one through, and the other asks again.
    """
    session = {"of_tenant": storable(ids.tenant), "of_session": storable(ids.session)}
    last = connection.scalar(LAST_TURN, session)
    return max(ids.turn, (last or 0) + 1)


def _append(connection: Connection, record: RunRecord) -> None:
    """Put `record` at the end of its tenant's chain and drop the open run."""
    tenant, run = record.ids.tenant, record.ids.run
    key = run_key(tenant, run)
    for statement in (DROP_VISITS, DROP_RUN):
        connection.execute(statement, key)
    if connection.execute(SEQ_OF_RUN, key).first():
        return
    last = _last_of_locked_chain(connection, storable(tenant))
    link = make_link(record, None if last is None else _link(last))
    row = {
        **link.header,
        "payload": link.payload,
        "payload_sha256": link.payload_sha256,
        "previous_hash": link.previous_hash,
        "hash": link.hash,
        "user_id": None if record.user is None else storable(record.user),
        "usd": record.usd,
        "input_tokens": record.usage.input_tokens,
        "output_tokens": record.usage.output_tokens,
    }
    connection.execute(ADD_RECORD, row)


def _last_of_locked_chain(connection: Connection, tenant: str) -> RowMapping | None:
    key = {"of_tenant": tenant}
    if connection.execute(LOCK_CHAIN, key).first() is None:
        connection.execute(ADD_CHAIN, {"tenant": tenant})
    return connection.execute(LAST_OF_CHAIN, key).mappings().first()


def _usage_line(row: RowMapping) -> UsageLine:
    return UsageLine(
        day=row["day"],
        corpus=row["corpus"],
        model=row["model"],
        purpose="navigate",
        calls=int(row["calls"]),
        input_tokens=int(row["input_tokens"]),
        output_tokens=int(row["output_tokens"]),
        dollars=float(row["dollars"]),
        unpriced=int(row["calls"]) - int(row["priced"]),
    )


def _chain_link(row: RowMapping) -> ChainLink:
    link = _link(row)
    return ChainLink(
        header=link.header,
        payload=link.payload,
        payload_sha256=link.payload_sha256,
        previous_hash=link.previous_hash,
        hash=link.hash,
        tombstoned_at=link.tombstoned_at,
    )


def _link(row: RowMapping) -> Link:
    return Link(
        header={column.name: row[column.name] for column in HEADER},
        payload=row["payload"],
        payload_sha256=row["payload_sha256"],
        previous_hash=row["previous_hash"],
        hash=row["hash"],
        tombstoned_at=row["tombstoned_at"],
    )


def _is_run(table: Table, tenant: str, run: str) -> ColumnElement[bool]:
    return and_(table.c.tenant == storable(tenant), table.c.run == storable(run))


def _is_kept(tenant: str) -> ColumnElement[bool]:
    return and_(RECORDS.c.tenant == storable(tenant), RECORDS.c.tombstoned_at.is_(None))


def _matches(tenant: str, which: RecordFilter) -> ColumnElement[bool]:
    wanted = {
        RECORDS.c.corpus: None if which.corpus is None else storable(which.corpus),
        RECORDS.c.session: None if which.session is None else storable(which.session),
        RECORDS.c.outcome: which.outcome,
        RECORDS.c.version: which.version,
        RECORDS.c.user_id: None if which.user is None else storable(which.user),
        RECORDS.c.channel: which.channel,
        RECORDS.c.door: which.door,
        RECORDS.c.model: None if which.model is None else storable(which.model),
    }
    is_meant = [column == value for column, value in wanted.items() if value is not None]
    if which.since is not None:
        is_meant.append(RECORDS.c.started_at >= which.since)
    if which.until is not None:
        is_meant.append(RECORDS.c.started_at < which.until)
    if which.before is not None:
        of_run = and_(RECORDS.c.tenant == storable(tenant), RECORDS.c.run == storable(which.before))
        is_meant.append(RECORDS.c.seq < select(RECORDS.c.seq).where(of_run).scalar_subquery())
    return and_(_is_kept(tenant), *is_meant, *is_judged(tenant, which))


def _stopped(opening: RunRecord, visits: tuple[Visit, ...], now: datetime) -> RunRecord:
    """Return the record of a run whose owner died: what it had seen, and that it was stopped."""
    leaves = {visit.doc_id: visit for visit in visits if visit.doc_id is not None and visit.status == "found"}
    began = datetime.fromisoformat(opening.started_at)
    usage = sum((visit.usage for visit in visits), Usage())
    return replace(
        opening,
        outcome="stopped",
        confidence=None,
        visits=visits,
        evidence=tuple(
            Source(
                doc_id=doc_id,
                title=visit.title,
                source=visit.source or "",
                place=visit.place or "",
                path=visit.path,
            )
            for doc_id, visit in leaves.items()
        ),
        fetches=sum(not visit.is_prefetched for visit in visits),
        rounds=sum(not (visit.is_prefetched or visit.is_shared_reason) for visit in visits),
        usage=usage,
        usd=opening.usd if usage == Usage() else None,
        ended_at=moment_of(now),
        total_ms=max(0, round((now - began).total_seconds() * 1000)),
        error_class="LeaseLapsed",
    )
