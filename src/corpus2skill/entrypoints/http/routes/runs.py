"""`/v1/runs`: what becomes of a question."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from corpus2skill.application.server import conversations, sources
from corpus2skill.application.server.conversations import Judgement
from corpus2skill.domain.feedback import FeedbackReason
from corpus2skill.entrypoints.http.caller import Asker, Caller, TheServer
from corpus2skill.entrypoints.http.event_stream import STREAM_ANSWERS, Watching
from corpus2skill.entrypoints.http.ids import Id
from corpus2skill.entrypoints.http.run_bodies import FeedbackBody, RunBody, feedback_body, run_body
from corpus2skill.entrypoints.http.the_runs import EndUser, Runs

router = APIRouter(prefix="/runs", tags=["runs"])

_CANCEL_PATIENCE = 2.0
"""Seconds in which a cancelled run is usually recorded, so that the answer shows it."""


class CancelRequest(BaseModel):
    reason: Literal["stop", "barge_in"] = "stop"
    """`barge_in`: the asker speaks over it; the run ends as `interrupted`, else as `cancelled`."""


class FeedbackRequest(BaseModel):
    rating: Literal["helpful", "not_helpful"]
    reasons: Annotated[list[FeedbackReason], Field(max_length=7)] = []
    comment: Annotated[str | None, Field(max_length=4_000)] = None


class PassageBody(BaseModel):
    """A source of an answer in its place in the document."""

    doc_id: str
    title: str
    source: str
    document_title: str | None
    place: str
    headings: list[str]
    page_kind: str | None
    """`page`, `sheet`, `slide`, ...: what `pages` are numbers or names of."""
    pages: list[str] | None
    """First and last."""
    version: int
    start: int
    """Where in the document's text the passage begins: characters from 0."""
    end: int
    before: str
    text: str
    """The passage, word for word."""
    after: str
    is_first: bool
    """Nothing of the document stands before `before`."""
    is_last: bool


@router.get("/{run_id}")
def show_run(
    run_id: Id, principal: Caller, server: TheServer, runs: Runs, end_user: EndUser = None
) -> RunBody:
    """A run as it stands. Once it has ended this is what its record says, word for word."""
    run = conversations.visible_run(server, principal, end_user, run_id)
    return run_body(conversations.look_at(server, runs, run))


@router.get("/{run_id}/events", response_class=Response, responses=STREAM_ANSWERS)
def watch_run(
    run_id: Id, principal: Caller, server: TheServer, watching: Watching, end_user: EndUser = None
) -> Response:
    """What happens, as server-sent events: `run.started`, `round.started` (drop the draft), `text.delta` (of a
    reason or of the answer), `node.visited`, `round.finished`, `round.delayed`, and at last `run.finished` with
    answer, outcome, citations and evidence.

    Ids count from 1. Begins with what was, or behind `Last-Event-ID`; pieces of text that lie behind are told as
    one. Ends after `run.finished`; who comes back behind that is answered 204. Watchers change nothing of a run.
    """
    run = conversations.visible_run(server, principal, end_user, run_id)
    return watching.stream(run.tenant, conversations.watchable(server, run))


@router.post("/{run_id}/cancel", status_code=202)
def cancel_run(
    run_id: Id,
    principal: Asker,
    server: TheServer,
    runs: Runs,
    wanted: CancelRequest | None = None,
    end_user: EndUser = None,
) -> RunBody:
    """End a run at whatever moment it is in; its record says so. Nothing changes for one that has ended."""
    run = conversations.own_run(server, principal, end_user, run_id)
    runs.cancel(run.tenant, run.run, (wanted or CancelRequest()).reason, _CANCEL_PATIENCE)
    return run_body(conversations.look_at(server, runs, run))


@router.put("/{run_id}/feedback")
def give_feedback(
    run_id: Id,
    said: FeedbackRequest,
    principal: Caller,
    server: TheServer,
    runs: Runs,
    end_user: EndUser = None,
) -> FeedbackBody:
    """Say whether an answer was helpful; what was said before is replaced."""
    run = conversations.visible_run(server, principal, end_user, run_id)
    judgement = Judgement(
        is_helpful=said.rating == "helpful",
        reasons=tuple(dict.fromkeys(said.reasons)),
        comment=(said.comment or "").strip() or None,
    )
    body = feedback_body(conversations.judge(server, runs, principal, run, judgement))
    assert body is not None
    return body


@router.get("/{run_id}/sources/{source}")
def open_source(
    run_id: Id,
    source: Annotated[str, Path(max_length=80, description="Number of a citation, or doc id of evidence.")],
    principal: Caller,
    server: TheServer,
    runs: Runs,
    end_user: EndUser = None,
    around: Annotated[int, Query(ge=0, le=20_000, description="Characters before and behind.")] = 400,
) -> PassageBody:
    """Open a source of an answer at its exact place, in the version that the run read."""
    run = conversations.visible_run(server, principal, end_user, run_id)
    view = conversations.look_at(server, runs, run)
    opened = sources.open_source(server, view, source, around)
    row, passage = opened.passage.row, opened.passage
    return PassageBody(
        doc_id=opened.source.doc_id,
        title=opened.source.title,
        source=passage.source,
        document_title=passage.title,
        place=opened.source.place,
        headings=list(row.headings),
        page_kind=row.page_kind,
        pages=None if row.pages is None else list(row.pages),
        version=opened.version,
        start=row.start,
        end=row.end,
        before=passage.before,
        text=passage.text,
        after=passage.after,
        is_first=passage.is_first,
        is_last=passage.is_last,
    )
