"""Test questions in the server's database."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import (
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
    select,
    update,
)

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.domain.exam import ExamQuestion, Expectation
from corpus2skill.errors import Conflict, Outrun, ThingNotFound

QUESTIONS = Table(
    "exam_questions",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("question", String, primary_key=True),
    Column("corpus", String, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("expected", Text, nullable=False),  # JSON
    Column("note", Text),
    Column("created_at", String, nullable=False),
    Column("created_by", String, nullable=False),
    Column("changed_at", String, nullable=False),
    Column("changed_by", String, nullable=False),
    Index("exam_questions_of_corpus", "tenant", "corpus", "question"),
)


class SqlQuestionStore:
    """`ports.exams.QuestionStore` over SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, questions: Sequence[ExamQuestion], most: int) -> None:
        if not questions:
            return
        of_corpus = _of_corpus(questions[0].tenant, questions[0].corpus)

        def work(connection: Connection) -> None:
            held = connection.scalar(select(func.count()).select_from(QUESTIONS).where(of_corpus)) or 0
            if held + len(questions) > most:
                raise Conflict("too_many_questions", most=most, held=held, came=len(questions))
            connection.execute(insert(QUESTIONS), list(map(_row, questions)))

        self._database.write(work)

    def question(self, tenant: str, corpus: str, question_id: str) -> ExamQuestion:
        wanted = select(QUESTIONS).where(_is_meant(tenant, corpus, question_id))
        row = self._database.read(lambda connection: connection.execute(wanted).mappings().first(), None)
        if row is None:
            raise ThingNotFound("test_question", question_id)
        return _question(row)

    def questions(
        self, tenant: str, corpus: str, *, after: str = "", limit: int = 10_000
    ) -> tuple[ExamQuestion, ...]:
        wanted = select(QUESTIONS).where(_of_corpus(tenant, corpus), QUESTIONS.c.question > after)
        wanted = wanted.order_by(QUESTIONS.c.question).limit(limit)

        def work(connection: Connection) -> tuple[ExamQuestion, ...]:
            return tuple(map(_question, connection.execute(wanted).mappings()))

        return self._database.read(work, ())

    def replace(self, question: ExamQuestion, seen: int) -> None:
        is_meant = _is_meant(question.tenant, question.corpus, question.question_id)
        changed = update(QUESTIONS).where(is_meant, QUESTIONS.c.revision == seen).values(_row(question))

        def work(connection: Connection) -> None:
            if connection.execute(changed).rowcount != 1:
                raise _refusal(connection, is_meant, question.question_id, seen)

        self._database.write(work)

    def remove(self, tenant: str, corpus: str, question_id: str, seen: int) -> None:
        is_meant = _is_meant(tenant, corpus, question_id)
        removed = delete(QUESTIONS).where(is_meant, QUESTIONS.c.revision == seen)

        def work(connection: Connection) -> None:
            if connection.execute(removed).rowcount != 1:
                raise _refusal(connection, is_meant, question_id, seen)

        self._database.write(work)

    def forget_corpus(self, tenant: str, corpus: str) -> None:
        removed = delete(QUESTIONS).where(_of_corpus(tenant, corpus))
        self._database.write(lambda connection: connection.execute(removed))


def _refusal(
    connection: Connection, is_meant: ColumnElement[bool], question_id: str, seen: int
) -> ThingNotFound | Outrun:
    """Why nothing was changed."""
    revision = connection.scalar(select(QUESTIONS.c.revision).where(is_meant))
    if revision is None:
        return ThingNotFound("test_question", question_id)
    return Outrun("question_outrun", question=question_id, seen=seen, revision=revision)


def _of_corpus(tenant: str, corpus: str) -> ColumnElement[bool]:
    return (QUESTIONS.c.tenant == tenant) & (QUESTIONS.c.corpus == corpus)


def _is_meant(tenant: str, corpus: str, question_id: str) -> ColumnElement[bool]:
    return _of_corpus(tenant, corpus) & (QUESTIONS.c.question == question_id)


def expected_text(expected: Expectation) -> str:
    """An expectation as a column has it."""
    return json.dumps({"sources": expected.sources, "not_found": expected.not_found})


def expectation(text: str) -> Expectation:
    """Undo `expected_text`."""
    plain = json.loads(text)
    return Expectation(sources=tuple(plain["sources"]), not_found=plain["not_found"])


def _row(question: ExamQuestion) -> dict[str, str | int | None]:
    return {
        "tenant": question.tenant,
        "question": question.question_id,
        "corpus": question.corpus,
        "revision": question.revision,
        "text": question.text,
        "expected": expected_text(question.expected),
        "note": question.note,
        "created_at": question.created_at,
        "created_by": question.created_by,
        "changed_at": question.changed_at,
        "changed_by": question.changed_by,
    }


def _question(row: RowMapping) -> ExamQuestion:
    return ExamQuestion(
        question_id=row["question"],
        tenant=row["tenant"],
        corpus=row["corpus"],
        revision=row["revision"],
        text=row["text"],
        expected=expectation(row["expected"]),
        note=row["note"],
        created_at=row["created_at"],
        created_by=row["created_by"],
        changed_at=row["changed_at"],
        changed_by=row["changed_by"],
    )
