"""`/v1/queue`: questions without an answer and answers rated badly, and what is to be done about them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field

from corpus2skill.application.server import reviews
from corpus2skill.application.server.exams import NewQuestion
from corpus2skill.application.server.reviews import ReviewView
from corpus2skill.domain.exam import MOST_SOURCES, Expectation
from corpus2skill.domain.review import USUAL_REASONS, ReviewReason, ReviewState
from corpus2skill.entrypoints.http.caller import Reviewer, TheServer
from corpus2skill.entrypoints.http.idempotency import IdempotentRoute
from corpus2skill.entrypoints.http.ids import Id
from corpus2skill.entrypoints.http.paging import Cursor, Limit, Page
from corpus2skill.entrypoints.http.record_query import RecordQuery
from corpus2skill.entrypoints.http.routes.exam_questions import ExpectedSource, Note
from corpus2skill.entrypoints.http.run_bodies import RecordLineBody, record_line
from corpus2skill.ports.reviews import ReviewFilter
from corpus2skill.ports.store import RecordFilter

router = APIRouter(prefix="/queue", tags=["queue"], route_class=IdempotentRoute)


class EntryBody(BaseModel):
    run_id: str
    reasons: list[ReviewReason]
    branch: str
    """Path of the summary node where the walk ended."""
    branch_title: str
    state: ReviewState
    note: str | None
    question_id: str | None
    """The test question that was made of it."""
    changed_at: str | None
    changed_by: str | None
    record: RecordLineBody


class BranchBody(BaseModel):
    corpus: str
    branch: str
    title: str
    entries: int
    newest_run_id: str


class BranchesBody(BaseModel):
    data: list[BranchBody]
    """Most entries first."""


class TestOfEntry(BaseModel):
    """What is expected of the answer to the run's question: a source, that nothing is found, or both."""

    model_config = ConfigDict(extra="forbid")

    question: Annotated[str, Field(min_length=1, max_length=20_000, pattern=r"^[^\x00]*$")] | None = None
    """In other words than the asker's; null: in theirs."""
    expected_sources: Annotated[list[ExpectedSource], Field(max_length=MOST_SOURCES)] = []
    expects_not_found: bool = False


class SettleRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    state: ReviewState
    note: Note | None = None
    """It goes with the record when that is deleted."""
    test: TestOfEntry | None = None
    """With the state `made_a_test`, once. Needs the scope `write`."""


class _Query:
    def __init__(
        self,
        query: RecordQuery,
        reason: Annotated[
            list[ReviewReason] | None,
            Query(max_length=4, description="Any of these; else all but `doubtful`."),
        ] = None,
        state: Annotated[
            list[ReviewState] | None, Query(max_length=5, description="Any of these; else `open`.")
        ] = None,
        branch: Annotated[str | None, Query(max_length=2_000, pattern=r"^[^\x00]*$")] = None,
    ) -> None:
        self._query = query
        self._reasons = tuple(reason or USUAL_REASONS)
        self._states = tuple(state or ("open",))
        self._branch = branch

    def filter(self, *, before: str | None = None) -> ReviewFilter:
        records: RecordFilter = self._query.filter(before=before)
        return ReviewFilter(reasons=self._reasons, states=self._states, branch=self._branch, records=records)


QueueQuery = Annotated[_Query, Depends()]


@router.get("")
def list_queue(
    query: QueueQuery, principal: Reviewer, server: TheServer, limit: Limit = 50, cursor: Cursor = None
) -> Page[EntryBody]:
    """Runs to be looked at, newest first. The other filters are those of `/v1/records`.

    A page may be shorter than `limit`: what was deleted meanwhile is left out.
    """
    views, last = reviews.list_queue(server, principal.tenant, query.filter(before=cursor), limit)
    return Page(data=list(map(_body, views)), next_cursor=last)


@router.get("/branches")
def list_queue_branches(
    query: QueueQuery, principal: Reviewer, server: TheServer, limit: Limit = 50
) -> BranchesBody:
    """How many of them ended in which branch: where documents are missing, or a branch misleads."""
    found = reviews.queue_branches(server, principal.tenant, query.filter(), limit)
    return BranchesBody(
        data=[
            BranchBody(
                corpus=line.corpus,
                branch=line.branch,
                title=line.title,
                entries=line.entries,
                newest_run_id=line.newest,
            )
            for line in found
        ]
    )


@router.get("/{run_id}")
def show_queue_entry(run_id: Id, principal: Reviewer, server: TheServer) -> EntryBody:
    """One run of the queue."""
    return _body(reviews.show_entry(server, principal.tenant, run_id))


@router.post("/{run_id}")
def settle_queue_entry(
    run_id: Id, wanted: SettleRequest, principal: Reviewer, server: TheServer
) -> EntryBody:
    """Say what is to be done: a document is missing (`to_do`), the branch misleads (`mend_branch`), a test
    question is made of it (`made_a_test`), or nothing (`fine`). `open` puts it back.
    """
    view = reviews.settle(
        server,
        principal,
        run_id,
        wanted.state,
        wanted.note,
        None if wanted.test is None else _new(wanted.test),
    )
    return _body(view)


def _new(test: TestOfEntry) -> NewQuestion:
    expected = Expectation(sources=tuple(test.expected_sources), not_found=test.expects_not_found)
    return NewQuestion(text=test.question or "", expected=expected)


def _body(view: ReviewView) -> EntryBody:
    entry = view.entry
    return EntryBody(
        run_id=entry.run,
        reasons=list(entry.reasons),
        branch=entry.branch,
        branch_title=entry.branch_title,
        state=entry.state,
        note=entry.note,
        question_id=entry.question_id,
        changed_at=entry.changed_at,
        changed_by=entry.changed_by,
        record=record_line(view.record, view.feedback),
    )
