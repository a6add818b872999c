"""Runs over test questions in the server's database."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Float,
    Index,
    Integer,
    RowMapping,
    Select,
    String,
    Table,
    Text,
    delete,
    insert,
    or_,
    select,
    update,
)

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.exam_questions import expectation, expected_text
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.domain.exam import Exam, ExamResult, ExamState
from corpus2skill.domain.server_job import Cause
from corpus2skill.errors import ThingNotFound

EXAMS = Table(
    "exams",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("exam", String, primary_key=True),
    Column("corpus", String, nullable=False),
    Column("version", Integer, nullable=False),
    Column("model", String, nullable=False),
    Column("max_cost", Float),
    Column("state", String, nullable=False),
    Column("cause", Text),  # JSON
    Column("questions", Integer, nullable=False),
    Column("fingerprint", String, nullable=False),
    Column("done", Integer, nullable=False),
    Column("passed", Integer, nullable=False),
    Column("dollars", Float, nullable=False),
    Column("job", String),
    Column("switches_from", Integer),
    Column("is_switched", Boolean, nullable=False),
    Column("created_by", String, nullable=False),
    Column("created_at", String, nullable=False),
    Column("started_at", String),
    Column("ended_at", String),
    Column("owner", String),
    Column("lease_until", Float, nullable=False),
    Column("turned_at", String, nullable=False),
    Index("exams_of_corpus", "tenant", "corpus", "exam"),
    Index("exams_by_state", "state", "turned_at"),
    Index("exams_of_job", "tenant", "job"),
)
RESULTS = Table(
    "exam_results",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("exam", String, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("question", String, nullable=False),
    Column("text", Text, nullable=False),
    Column("expected", Text, nullable=False),  # JSON
    Column("outcome", String),
    Column("is_passed", Boolean, nullable=False),
    Column("source_hit", Boolean),
    Column("fetches", Integer, nullable=False),
    Column("ms", Integer, nullable=False),
    Column("usd", Float),
    Column("run", String),
)


class SqlExamStore:
    """`ports.exams.ExamStore` over SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, exam: Exam, results: Sequence[ExamResult]) -> None:
        rows = [{"tenant": exam.tenant, "exam": exam.exam, **_result_row(result)} for result in results]

        def work(connection: Connection) -> None:
            connection.execute(insert(EXAMS).values(_row(exam)))
            if rows:
                connection.execute(insert(RESULTS), rows)

        self._database.write(work)

    def exam(self, tenant: str, exam: str) -> Exam:
        found = self._exams(select(EXAMS).where(_is_exam(tenant, exam)))
        if not found:
            raise ThingNotFound("test_run", exam)
        return found[0]

    def exams(
        self,
        tenant: str,
        corpus: str,
        *,
        version: int | None = None,
        states: Collection[ExamState] = (),
        before: str | None = None,
        limit: int = 100,
    ) -> tuple[Exam, ...]:
        wanted = select(EXAMS).where(EXAMS.c.tenant == tenant, EXAMS.c.corpus == corpus)
        if version is not None:
            wanted = wanted.where(EXAMS.c.version == version)
        if states:
            wanted = wanted.where(EXAMS.c.state.in_(states))
        if before is not None:
            wanted = wanted.where(EXAMS.c.exam < before)
        return self._exams(wanted.order_by(EXAMS.c.exam.desc()).limit(limit))

    def of_job(self, tenant: str, job: str) -> Exam | None:
        wanted = select(EXAMS).where(EXAMS.c.tenant == tenant, EXAMS.c.job == job)
        return next(iter(self._exams(wanted.order_by(EXAMS.c.exam.desc()).limit(1))), None)

    def change(self, tenant: str, exam: str, turn: Callable[[Exam], Exam | None]) -> Exam | None:
        def work(connection: Connection) -> Exam | None:
            becomes = turn(_held(connection, tenant, exam))
            if becomes is not None:
                connection.execute(update(EXAMS).where(_is_exam(tenant, exam)).values(_row(becomes)))
            return becomes

        return self._database.write(work)

    def waiting(self, now: float) -> tuple[Exam, ...]:
        is_left = (EXAMS.c.state == "running") & (EXAMS.c.lease_until < now)
        wanted = select(EXAMS).where(or_(EXAMS.c.state == "queued", is_left))
        return self._exams(wanted.order_by(EXAMS.c.turned_at, EXAMS.c.exam).limit(100))

    def running(self) -> tuple[Exam, ...]:
        return self._exams(select(EXAMS).where(EXAMS.c.state == "running"))

    def results(
        self, tenant: str, exam: str, *, after: int = -1, limit: int = 10_000
    ) -> tuple[ExamResult, ...]:
        return self._results(_results_of(tenant, exam).where(RESULTS.c.position > after), limit)

    def unasked(self, tenant: str, exam: str, limit: int) -> tuple[ExamResult, ...]:
        return self._results(_results_of(tenant, exam).where(RESULTS.c.outcome.is_(None)), limit)

    def put_result(
        self, tenant: str, exam: str, result: ExamResult, owner: str, lease_until: float
    ) -> Exam | None:
        is_result = (
            (RESULTS.c.tenant == tenant)
            & (RESULTS.c.exam == exam)
            & (RESULTS.c.position == result.position)
            & RESULTS.c.outcome.is_(None)
        )
        counted = {
            "done": EXAMS.c.done + 1,
            "passed": EXAMS.c.passed + int(result.is_passed),
            "dollars": EXAMS.c.dollars + (result.usd or 0.0),
            "lease_until": lease_until,
        }

        def work(connection: Connection) -> Exam | None:
            held = _held(connection, tenant, exam)
            if held.state != "running" or held.owner != owner:
                return None
            if connection.execute(update(RESULTS).where(is_result).values(_result_row(result))).rowcount:
                connection.execute(update(EXAMS).where(_is_exam(tenant, exam)).values(counted))
            return _held(connection, tenant, exam)

        return self._database.write(work)

    def forget_corpus(self, tenant: str, corpus: str) -> None:
        of_corpus = (EXAMS.c.tenant == tenant) & (EXAMS.c.corpus == corpus)
        meant = select(EXAMS.c.exam).where(of_corpus)

        def work(connection: Connection) -> None:
            is_theirs = (RESULTS.c.tenant == tenant) & RESULTS.c.exam.in_(meant)
            connection.execute(delete(RESULTS).where(is_theirs))
            connection.execute(delete(EXAMS).where(of_corpus))

        self._database.write(work)

    def _exams(self, wanted: Select[Any]) -> tuple[Exam, ...]:
        def work(connection: Connection) -> tuple[Exam, ...]:
            return tuple(map(_exam, connection.execute(wanted).mappings()))

        return self._database.read(work, ())

    def _results(self, wanted: Select[Any], limit: int) -> tuple[ExamResult, ...]:
        def work(connection: Connection) -> tuple[ExamResult, ...]:
            ordered = wanted.order_by(RESULTS.c.position).limit(limit)
            return tuple(map(_result, connection.execute(ordered).mappings()))

        return self._database.read(work, ())


def _is_exam(tenant: str, exam: str) -> ColumnElement[bool]:
    return (EXAMS.c.tenant == tenant) & (EXAMS.c.exam == exam)


def _results_of(tenant: str, exam: str) -> Select[Any]:
    return select(RESULTS).where(RESULTS.c.tenant == tenant, RESULTS.c.exam == exam)


def _held(connection: Connection, tenant: str, exam: str) -> Exam:
    """The exam, held until the transaction ends.

    Raises:
        ThingNotFound.
    """
    wanted = select(EXAMS).where(_is_exam(tenant, exam)).with_for_update()
    row = connection.execute(wanted).mappings().first()
    if row is None:
        raise ThingNotFound("test_run", exam)
    return _exam(row)


def _row(exam: Exam) -> dict[str, Any]:
    row = asdict(exam)
    row["cause"] = None if exam.cause is None else _cause_text(exam.cause)
    return row


def _cause_text(cause: Cause) -> str:
    return json.dumps({"code": cause.code, "values": dict(cause.values)})


def _exam(row: RowMapping) -> Exam:
    values = dict(row)
    if values["cause"] is not None:
        values["cause"] = Cause(**json.loads(values["cause"]))
    return Exam(**values)


def _result_row(result: ExamResult) -> dict[str, Any]:
    return {
        "position": result.position,
        "question": result.question_id,
        "text": result.text,
        "expected": expected_text(result.expected),
        "outcome": result.outcome,
        "is_passed": result.is_passed,
        "source_hit": result.source_hit,
        "fetches": result.fetches,
        "ms": result.ms,
        "usd": result.usd,
        "run": result.run,
    }


def _result(row: RowMapping) -> ExamResult:
    return ExamResult(
        position=row["position"],
        question_id=row["question"],
        text=row["text"],
        expected=expectation(row["expected"]),
        outcome=row["outcome"],
        is_passed=row["is_passed"],
        source_hit=row["source_hit"],
        fetches=row["fetches"],
        ms=row["ms"],
        usd=row["usd"],
        run=row["run"],
    )
