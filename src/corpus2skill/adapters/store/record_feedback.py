"""What people said of answers, beside the records of these."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy import ColumnElement, Connection, RowMapping, and_, delete, insert, select

from corpus2skill.adapters.store.record_chain import storable
from corpus2skill.adapters.store.record_tables import FEEDBACK, RECORDS
from corpus2skill.domain.feedback import FEEDBACK_REASONS, Feedback
from corpus2skill.ports.store import RecordFilter


def put_feedback(connection: Connection, tenant: str, run: str, feedback: Feedback) -> bool:
    """Write it in the place of what was there; False where no kept record is of that run."""
    is_kept = and_(
        RECORDS.c.tenant == storable(tenant),
        RECORDS.c.run == storable(run),
        RECORDS.c.tombstoned_at.is_(None),
    )
    seq = connection.scalar(select(RECORDS.c.seq).where(is_kept))
    if seq is None:
        return False
    drop_feedback(connection, tenant, (storable(run),))
    row = {
        "tenant": storable(tenant),
        "run": storable(run),
        "seq": seq,
        "is_helpful": int(feedback.is_helpful),
        "reasons": " ".join(feedback.reasons),
        "comment": None if feedback.comment is None else storable(feedback.comment),
        "given_at": feedback.given_at,
        "given_by": storable(feedback.given_by),
    }
    connection.execute(insert(FEEDBACK), row)
    return True


def drop_feedback(connection: Connection, tenant: str, runs: Collection[str]) -> None:
    """Delete what was said of `runs`, whose ids are storable."""
    connection.execute(
        delete(FEEDBACK).where(FEEDBACK.c.tenant == storable(tenant), FEEDBACK.c.run.in_(runs))
    )


def feedback_of(connection: Connection, tenant: str, runs: Collection[str]) -> Mapping[str, Feedback]:
    """By run; runs that nobody judged are left out."""
    names = {storable(run): run for run in runs}
    wanted = select(FEEDBACK).where(FEEDBACK.c.tenant == storable(tenant), FEEDBACK.c.run.in_(names))
    return {names[row["run"]]: _feedback(row) for row in connection.execute(wanted).mappings()}


def is_judged(tenant: str, which: RecordFilter) -> list[ColumnElement[bool]]:
    """What a filter wants of the feedback on a record."""
    wanted: list[ColumnElement[bool]] = []
    judged = select(FEEDBACK.c.seq).where(FEEDBACK.c.tenant == storable(tenant))
    if which.is_helpful is not None:
        wanted.append(RECORDS.c.seq.in_(judged.where(FEEDBACK.c.is_helpful == int(which.is_helpful))))
    if which.has_comment is not None:
        with_comment = RECORDS.c.seq.in_(judged.where(FEEDBACK.c.comment.is_not(None)))
        wanted.append(with_comment if which.has_comment else ~with_comment)
    return wanted


def _feedback(row: RowMapping) -> Feedback:
    names = set(str(row["reasons"]).split())
    return Feedback(
        is_helpful=bool(row["is_helpful"]),
        reasons=tuple(reason for reason in FEEDBACK_REASONS if reason in names),
        comment=row["comment"],
        given_at=row["given_at"],
        given_by=row["given_by"],
    )
