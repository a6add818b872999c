"""`/v1/sessions`: conversations, and the questions asked in them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from corpus2skill.application.server import conversations, erase
from corpus2skill.application.server.conversations import asker_of
from corpus2skill.domain.hosted import HostedSession
from corpus2skill.domain.session import Channel
from corpus2skill.entrypoints.http.bodies import RequestBody
from corpus2skill.entrypoints.http.caller import Asker, TheServer, limit_user
from corpus2skill.entrypoints.http.idempotency import IdempotentRoute
from corpus2skill.entrypoints.http.ids import Id
from corpus2skill.entrypoints.http.links import link
from corpus2skill.entrypoints.http.paging import Cursor, Limit, Page, page
from corpus2skill.entrypoints.http.run_bodies import RunBody, begun_body, run_body
from corpus2skill.entrypoints.http.the_runs import EndUser, EndUserId, Runs

router = APIRouter(prefix="/sessions", tags=["sessions"], route_class=IdempotentRoute)


class SessionRequest(RequestBody):
    corpus: Annotated[str, Field(min_length=1, max_length=100)]
    channel: Channel = "text"
    end_user: EndUserId | None = None
    """For whom a program asks. The conversation is theirs: whoever names another end user does not find it."""


class SessionBody(BaseModel):
    session_id: str
    corpus: str
    channel: Channel
    end_user: str | None
    created_at: str
    asked_at: str | None
    """When it was last asked something."""
    last_question: str | None = None


class QuestionRequest(BaseModel):
    """What else is sent, such as a history of messages, is left aside: what was said is known from the records."""

    question: Annotated[str, Field(min_length=1, max_length=1_000_000)]
    end_user: EndUserId | None = None
    model: Annotated[str | None, Field(max_length=200)] = None
    """`provider:model`, or `offline`; null leaves what is set."""


@router.post("", status_code=201)
def create_session(
    wanted: SessionRequest, principal: Asker, server: TheServer, request: Request, response: Response
) -> SessionBody:
    """Begin a conversation with a corpus. It belongs to the caller, and to the end user that they name."""
    asker = asker_of(principal, wanted.end_user)
    session = conversations.begin_session(server, asker, wanted.corpus, wanted.channel)
    response.headers["Location"] = link(request, f"/v1/sessions/{session.session}")
    return _body(session, None)


@router.get("")
def list_sessions(
    principal: Asker, server: TheServer, end_user: EndUser = None, limit: Limit = 50, cursor: Cursor = None
) -> Page[SessionBody]:
    """The caller's own conversations, newest first; with `end_user` that person's alone."""
    asker = asker_of(principal, end_user)
    sessions = server.hosted.sessions(asker, before=cursor, limit=limit + 1)
    asked = conversations.last_questions(server, principal.tenant, sessions[:limit])
    return page(
        sessions,
        limit,
        lambda session: _body(session, asked.get(session.session)),
        lambda session: session.session,
    )


@router.get("/{session_id}")
def show_session(
    session_id: Id, principal: Asker, server: TheServer, end_user: EndUser = None
) -> SessionBody:
    """One conversation of the caller's own."""
    session = conversations.own_session(server, asker_of(principal, end_user), session_id)
    asked = conversations.last_questions(server, principal.tenant, (session,))
    return _body(session, asked.get(session_id))


@router.delete("/{session_id}", status_code=204)
def delete_session(
    session_id: Id, principal: Asker, server: TheServer, runs: Runs, end_user: EndUser = None
) -> None:
    """Delete a conversation of the caller's own for good.

    What was asked and answered in it is replaced by dated marks; what is still being answered is ended first.
    """
    session = conversations.own_session(server, asker_of(principal, end_user), session_id)
    erase.erase_session(server, runs, principal, session)


@router.post("/{session_id}/runs", status_code=202)
def ask_question(
    session_id: Id,
    wanted: QuestionRequest,
    principal: Asker,
    server: TheServer,
    runs: Runs,
    request: Request,
    response: Response,
) -> RunBody:
    """Ask. The run is begun and goes on whoever listens; `Location` is where it is, `/events` what happens."""
    session = conversations.own_session(server, asker_of(principal, wanted.end_user), session_id)
    limit_user(request, principal, session.end_user)
    run = conversations.ask(runs, session, wanted.question, model=wanted.model)
    response.headers["Location"] = link(request, f"/v1/runs/{run.run}")
    return begun_body(run)


@router.get("/{session_id}/runs")
def list_turns(
    session_id: Id,
    principal: Asker,
    server: TheServer,
    runs: Runs,
    end_user: EndUser = None,
    limit: Annotated[int, Query(ge=1, le=100, description="Turns of one page.")] = 20,
    cursor: Cursor = None,
) -> Page[RunBody]:
    """The turns of a conversation, newest first, those still being answered too."""
    session = conversations.own_session(server, asker_of(principal, end_user), session_id)
    views = conversations.turns_of(server, runs, session, cursor, limit + 1)
    return page(views, limit, run_body, lambda view: view.hosted.run)


def _body(session: HostedSession, last_question: str | None) -> SessionBody:
    return SessionBody(
        session_id=session.session,
        corpus=session.corpus,
        channel=session.channel,
        end_user=session.end_user,
        created_at=session.created_at,
        asked_at=session.asked_at,
        last_question=last_question,
    )
