"""Kept answers in the server's database."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    String,
    Table,
    Text,
    and_,
    delete,
    insert,
    select,
    update,
)

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.ports.kept_answers import Asked, Beginning

KEPT_ANSWERS = Table(
    "kept_answers",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("actor", String, primary_key=True),
    Column("route", String, primary_key=True),
    Column("key", String(64), primary_key=True),
    Column("body", String(64), nullable=False),
    Column("began_at", String, nullable=False, index=True),
    Column("answer", Text),  # NULL: under way
)


class SqlKeptAnswers:
    """`ports.kept_answers.KeptAnswers` over SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, asked: Asked, at: str, stale_before: str, kept_after: str) -> Beginning | str:
        def work(connection: Connection) -> Beginning | str:
            found = connection.execute(select(KEPT_ANSWERS).where(_is(asked))).mappings().first()
            if found is not None:
                if not _is_past(found["answer"], found["began_at"], stale_before, kept_after):
                    return _standing(asked, found["body"], found["answer"])
                connection.execute(delete(KEPT_ANSWERS).where(_is(asked)))
            connection.execute(
                insert(KEPT_ANSWERS).values({**_key(asked), "body": asked.body, "began_at": at})
            )
            return "new"

        return self._database.write(work, outlasts_power_cut=False)

    def keep(self, asked: Asked, answer: str) -> None:
        kept = update(KEPT_ANSWERS).where(_is(asked)).values(answer=answer)
        self._database.write(lambda connection: connection.execute(kept), outlasts_power_cut=False)

    def free(self, asked: Asked) -> None:
        freed = delete(KEPT_ANSWERS).where(_is(asked), KEPT_ANSWERS.c.answer.is_(None))
        self._database.write(lambda connection: connection.execute(freed), outlasts_power_cut=False)

    def forget_before(self, at: str) -> int:
        old = delete(KEPT_ANSWERS).where(KEPT_ANSWERS.c.began_at < at)
        return self._database.write(lambda connection: connection.execute(old).rowcount)


def _is_past(answer: str | None, began_at: str, stale_before: str, kept_after: str) -> bool:
    return began_at <= stale_before if answer is None else began_at < kept_after


def _standing(asked: Asked, body: str, answer: str | None) -> Beginning | str:
    if body != asked.body:
        return "other_body"
    return "in_flight" if answer is None else answer


def _key(asked: Asked) -> dict[str, str]:
    return {"tenant": asked.tenant, "actor": asked.actor, "route": asked.route, "key": asked.key}


def _is(asked: Asked) -> ColumnElement[bool]:
    return and_(*(KEPT_ANSWERS.c[name] == value for name, value in _key(asked).items()))
