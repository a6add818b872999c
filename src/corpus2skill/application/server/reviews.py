"""The queue: runs that somebody should look at, and what is made of them."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, replace

from corpus2skill.application.server.exams import NewQuestion, add_questions
from corpus2skill.application.server_wiring import Server
from corpus2skill.application.show_records import judged_records, opened_records
from corpus2skill.domain.exam import ExamQuestion
from corpus2skill.domain.feedback import Feedback
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.people import Principal
from corpus2skill.domain.review import BranchCount, ReviewEntry, ReviewState, review_entry
from corpus2skill.domain.run import RunRecord
from corpus2skill.errors import Corpus2SkillError, InvalidInput, RecordNotFound, ThingNotFound
from corpus2skill.ports.reviews import ReviewFilter
from corpus2skill.ports.store import RecordFilter

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewView:
    """An entry with the record that it is about."""

    entry: ReviewEntry
    record: RunRecord
    feedback: Feedback | None


def note_ended_run(server: Server, record: RunRecord) -> None:
    """Take a run that has ended into the queue, where it belongs, and count its visits.

    A database that refuses is logged only: the record is written, and the queue can be made again from it.
    """
    ids = record.ids
    try:
        if review_entry(record).reasons and not _is_known(server, ids.tenant, ids.run):
            server.reviews.put(review_entry(record))
        server.branch_visits.count(ids.tenant, ids.corpus, ids.version, _visits(record))
    except Corpus2SkillError:
        _log.warning("run %s could not be taken into the queue", ids.run, exc_info=True)


def note_feedback(server: Server, record: RunRecord, feedback: Feedback) -> None:
    """Take a run into the queue, or out of it, as its answer was judged."""
    try:
        server.reviews.put(_entry(record, feedback))
    except Corpus2SkillError:
        _log.warning("what was said of run %s did not reach the queue", record.ids.run, exc_info=True)


def list_queue(
    server: Server, tenant: str, which: ReviewFilter, limit: int
) -> tuple[list[ReviewView], str | None]:
    """Entries, newest first, with their records, and what the list goes on behind; None at its end.

    One whose record was deleted is left out, and forgotten: a page may be shorter than `limit`.
    """
    entries = server.reviews.entries(tenant, which, limit + 1)
    views, gone = list[ReviewView](), list[str]()
    shown = entries[:limit]
    with opened_records(server.workspace(tenant)) as records:
        said = records.feedback(tenant, [entry.run for entry in shown])
        for entry in shown:
            try:
                record = records.record(tenant, entry.run)
            except RecordNotFound:
                gone.append(entry.run)
                continue
            views.append(ReviewView(entry=entry, record=record, feedback=said.get(entry.run)))
    server.reviews.forget(tenant, gone)
    return views, shown[-1].run if len(entries) > limit else None


def queue_branches(server: Server, tenant: str, which: ReviewFilter, limit: int) -> tuple[BranchCount, ...]:
    """Entries by the branch where the walk ended, most of them first."""
    return server.reviews.branches(tenant, which, limit)


def show_entry(server: Server, tenant: str, run: str) -> ReviewView:
    """Raises: ThingNotFound."""
    entry = server.reviews.entry(tenant, run)
    with opened_records(server.workspace(tenant)) as records:
        try:
            record = records.record(tenant, run)
        except RecordNotFound as error:
            server.reviews.forget(tenant, [run])
            raise ThingNotFound("queue_entry", run) from error
        return ReviewView(entry=entry, record=record, feedback=records.feedback(tenant, (run,)).get(run))


def settle(
    server: Server,
    by: Principal,
    run: str,
    state: ReviewState,
    note: str | None,
    question: NewQuestion | None = None,
) -> ReviewView:
    """Say what is to be done about a run. `made_a_test` makes a test question of it, once.

    `question`: what is expected of its answer; an empty text is the run's own.

    Raises:
        ThingNotFound.
        InvalidInput: a test is to be made, and nobody says what is expected; or the other way round.
        Conflict: there are too many test questions.
        NotAllowed: whoever makes a test must be allowed to write.
    """
    view = show_entry(server, by.tenant, run)
    made = view.entry.question_id
    if (state == "made_a_test" and made is None) != (question is not None):
        raise InvalidInput("test_of_queue", run=run)
    if question is not None:
        by.require("write")
        made = _made(server, by, view.record, question).question_id

    def turn(was: ReviewEntry) -> ReviewEntry:
        return replace(
            was,
            state=state,
            note=(note or "").strip() or None,
            question_id=made,
            changed_at=moment_of(server.clock.now()),
            changed_by=by.actor,
        )

    entry = server.reviews.change(by.tenant, run, turn)
    server.audit.note(by.tenant, by.actor, "queue.settled", run, corpus=entry.corpus, state=state)
    return replace(view, entry=entry)


def rebuild_queue(server: Server, tenant: str) -> int:
    """Go through all records: take into the queue what belongs there, count visits anew; return how many entries.

    What somebody made of entries stays.
    """
    taken = 0
    visits: dict[tuple[str, int], Counter[str]] = {}
    for record, feedback in judged_records(server.workspace(tenant), RecordFilter(), tenant):
        entry = _entry(record, feedback)
        if entry.reasons:
            server.reviews.put(entry)
            taken += 1
        visits.setdefault((entry.corpus, entry.version), Counter()).update(_visits(record))
    server.branch_visits.forget(tenant)
    for (corpus, version), counted in visits.items():
        server.branch_visits.count(tenant, corpus, version, counted)
    return taken


def _made(server: Server, by: Principal, record: RunRecord, question: NewQuestion) -> ExamQuestion:
    wanted = question if question.text else replace(question, text=record.question)
    return add_questions(server, by, record.ids.corpus, [wanted])[0]


def _entry(record: RunRecord, feedback: Feedback | None) -> ReviewEntry:
    entry = review_entry(record)
    if feedback is None:
        return entry
    return replace(entry, is_unhelpful=not feedback.is_helpful, has_comment=feedback.comment is not None)


def _is_known(server: Server, tenant: str, run: str) -> bool:
    """True where somebody was quick to judge the answer: the entry tells more than the record alone."""
    try:
        server.reviews.entry(tenant, run)
    except ThingNotFound:
        return False
    return True


def _visits(record: RunRecord) -> Counter[str]:
    """How often the run came to each node by itself."""
    return Counter(
        visit.path for visit in record.visits if visit.status == "found" and not visit.is_prefetched
    )
