"""The queue of runs to be looked at, in the server's database."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Index,
    Integer,
    RowMapping,
    String,
    Table,
    Text,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.domain.review import BranchCount, ReviewEntry, ReviewReason
from corpus2skill.errors import ThingNotFound
from corpus2skill.ports.reviews import ReviewFilter
from corpus2skill.ports.store import RecordFilter

REVIEWS = Table(
    "reviews",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("run", String, primary_key=True),
    Column("corpus", String, nullable=False),
    Column("version", Integer, nullable=False),
    Column("session", String, nullable=False),
    Column("outcome", String, nullable=False),
    Column("channel", String, nullable=False),
    Column("door", String, nullable=False),
    Column("model", String, nullable=False),
    Column("user_name", String),
    Column("started_at", String, nullable=False),
    Column("branch", String, nullable=False),
    Column("branch_title", Text, nullable=False),
    Column("is_unhelpful", Boolean, nullable=False),
    Column("is_doubtful", Boolean, nullable=False),
    Column("has_comment", Boolean, nullable=False),
    Column("state", String, nullable=False),
    Column("note", Text),
    Column("question", String),
    Column("revision", Integer, nullable=False),
    Column("changed_at", String),
    Column("changed_by", String),
    Index("reviews_by_state", "tenant", "state", "run"),
    Index("reviews_by_branch", "tenant", "corpus", "branch", "state", "run"),
)
_RENAMED = {"user": "user_name", "question_id": "question"}
"""Fields whose column has another name."""
_OF_THE_REVIEW = frozenset(("state", "note", "question_id", "revision", "changed_at", "changed_by"))
_AT_ONCE = 500


class SqlReviewStore:
    """`ports.reviews.ReviewStore` over SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, entry: ReviewEntry) -> None:
        is_meant = _is_meant(entry.tenant, entry.run)

        def work(connection: Connection) -> None:
            held = _held(connection, entry.tenant, entry.run)
            if held is None:
                if entry.reasons:
                    connection.execute(insert(REVIEWS).values(_row(entry)))
            elif not entry.reasons and held.revision == 1:
                connection.execute(delete(REVIEWS).where(is_meant))
            else:
                row = {name: value for name, value in _row(entry).items() if name not in _kept_columns()}
                connection.execute(update(REVIEWS).where(is_meant).values(row))

        self._database.write(work, outlasts_power_cut=False)

    def entry(self, tenant: str, run: str) -> ReviewEntry:
        found = self._database.read(lambda connection: _held(connection, tenant, run, locks=False), None)
        if found is None:
            raise ThingNotFound("queue_entry", run)
        return found

    def entries(self, tenant: str, which: ReviewFilter, limit: int) -> tuple[ReviewEntry, ...]:
        wanted = select(REVIEWS).where(REVIEWS.c.tenant == tenant, *_conditions(which))
        if which.records.before is not None:
            wanted = wanted.where(REVIEWS.c.run < which.records.before)
        wanted = wanted.order_by(REVIEWS.c.run.desc()).limit(limit)

        def work(connection: Connection) -> tuple[ReviewEntry, ...]:
            return tuple(map(_entry, connection.execute(wanted).mappings()))

        return self._database.read(work, ())

    def branches(self, tenant: str, which: ReviewFilter, limit: int) -> tuple[BranchCount, ...]:
        key = (REVIEWS.c.corpus, REVIEWS.c.branch)
        entries, newest = func.count().label("entries"), func.max(REVIEWS.c.run).label("newest")
        counted = (
            select(*key, entries, newest)
            .where(REVIEWS.c.tenant == tenant, *_conditions(which))
            .group_by(*key)
            .order_by(entries.desc(), *key)
            .limit(limit)
            .subquery()
        )
        is_newest = (REVIEWS.c.tenant == tenant) & (REVIEWS.c.run == counted.c.newest)
        wanted = select(counted, REVIEWS.c.branch_title.label("title")).join(REVIEWS, is_newest)
        wanted = wanted.order_by(counted.c.entries.desc(), counted.c.corpus, counted.c.branch)

        def work(connection: Connection) -> tuple[BranchCount, ...]:
            return tuple(BranchCount(**row) for row in connection.execute(wanted).mappings())

        return self._database.read(work, ())

    def change(self, tenant: str, run: str, turn: Callable[[ReviewEntry], ReviewEntry]) -> ReviewEntry:
        def work(connection: Connection) -> ReviewEntry:
            held = _held(connection, tenant, run)
            if held is None:
                raise ThingNotFound("queue_entry", run)
            becomes = replace(turn(held), revision=held.revision + 1)
            connection.execute(update(REVIEWS).where(_is_meant(tenant, run)).values(_row(becomes)))
            return becomes

        return self._database.write(work)

    def forget(self, tenant: str, runs: Collection[str]) -> None:
        names = sorted(runs)

        def work(connection: Connection) -> None:
            for first in range(0, len(names), _AT_ONCE):
                some = names[first : first + _AT_ONCE]
                is_meant = (REVIEWS.c.tenant == tenant) & REVIEWS.c.run.in_(some)
                connection.execute(delete(REVIEWS).where(is_meant))

        if names:
            self._database.write(work)


def _is_meant(tenant: str, run: str) -> ColumnElement[bool]:
    return (REVIEWS.c.tenant == tenant) & (REVIEWS.c.run == run)


def _held(connection: Connection, tenant: str, run: str, *, locks: bool = True) -> ReviewEntry | None:
    wanted = select(REVIEWS).where(_is_meant(tenant, run))
    row = connection.execute(wanted.with_for_update() if locks else wanted).mappings().first()
    return None if row is None else _entry(row)


def _conditions(which: ReviewFilter) -> Iterator[ColumnElement[bool]]:
    if which.states:
        yield REVIEWS.c.state.in_(sorted(which.states))
    yield or_(*map(_has_reason, sorted(which.reasons)))
    if which.branch is not None:
        yield REVIEWS.c.branch == which.branch
    yield from _of_records(which.records)


def _has_reason(reason: ReviewReason) -> ColumnElement[bool]:
    match reason:
        case "not_helpful":
            return REVIEWS.c.is_unhelpful.is_(True)
        case "doubtful":
            return REVIEWS.c.is_doubtful.is_(True)
        case outcome:
            return REVIEWS.c.outcome == outcome


def _of_records(which: RecordFilter) -> Iterator[ColumnElement[bool]]:
    columns = REVIEWS.c
    wanted = (
        (columns.corpus, which.corpus),
        (columns.session, which.session),
        (columns.outcome, which.outcome),
        (columns.version, which.version),
        (columns.user_name, which.user),
        (columns.channel, which.channel),
        (columns.door, which.door),
        (columns.model, which.model),
        (columns.is_doubtful, which.is_doubtful),
        (columns.has_comment, which.has_comment),
        (columns.is_unhelpful, None if which.is_helpful is None else not which.is_helpful),
    )
    yield from (column == value for column, value in wanted if value is not None)
    if which.since is not None:
        yield columns.started_at >= which.since
    if which.until is not None:
        yield columns.started_at < which.until


def _kept_columns() -> frozenset[str]:
    return frozenset(_RENAMED.get(name, name) for name in _OF_THE_REVIEW)


def _row(entry: ReviewEntry) -> dict[str, Any]:
    return {_RENAMED.get(name, name): value for name, value in asdict(entry).items()}


def _entry(row: RowMapping) -> ReviewEntry:
    names = {column: field for field, column in _RENAMED.items()}
    return ReviewEntry(**{names.get(str(column), str(column)): value for column, value in row.items()})
