"""`/v1/retention`: what is kept for how long, and what is held."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from corpus2skill.application.server import holds, retain
from corpus2skill.application.server.retain import RetentionView
from corpus2skill.domain.retention import MOST_DAYS, HoldKind, LegalHold, RetentionPolicy
from corpus2skill.entrypoints.http.bodies import RequestBody
from corpus2skill.entrypoints.http.caller import Admin, TheServer
from corpus2skill.entrypoints.http.idempotency import IdempotentRoute
from corpus2skill.entrypoints.http.ids import Id
from corpus2skill.entrypoints.http.paging import Page

router = APIRouter(prefix="/retention", tags=["retention"], route_class=IdempotentRoute)

_Days = Annotated[int | None, Field(ge=1, le=MOST_DAYS)]
_AskedDays = Annotated[int | None, Query(ge=1, le=MOST_DAYS)]
_Text = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]


class DaysBody(RequestBody):
    """Days that each class is kept; null: for ever."""

    conversations: _Days = None
    """What was asked and answered, with trail, events, ratings, comments and notes."""
    versions: _Days = None
    """Old versions that no kept record cites, from the day on which a newer one was made."""
    audit: _Days = None
    """The operators' log."""
    events: _Days = None
    """Of compiles, tests and documents."""
    deliveries: _Days = None
    """Of webhooks."""


class GoneBody(BaseModel):
    runs: int = 0
    sessions: int = 0
    versions: int = 0
    audit: int = 0
    events: int = 0
    deliveries: int = 0


class RetentionBody(BaseModel):
    days: DaysBody
    changed_at: str | None
    next_run_at: str | None
    """Null where everything is kept for ever."""
    last_run_at: str | None
    last_run: GoneBody
    """What went the last time."""
    holds: int


class PreviewBody(BaseModel):
    would_go: GoneBody
    held: int
    """Runs past their time that a legal hold keeps."""
    next_run_at: str | None


class HoldBody(BaseModel):
    hold_id: str
    kind: HoldKind
    name: str
    reason: str
    placed_at: str
    placed_by: str


class HoldRequest(RequestBody):
    kind: HoldKind
    name: _Text
    """Id of the conversation or end user, or name of the corpus. It need not be there yet."""
    reason: _Text


def asked_policy(
    conversations: _AskedDays = None,
    versions: _AskedDays = None,
    audit: _AskedDays = None,
    events: _AskedDays = None,
    deliveries: _AskedDays = None,
) -> RetentionPolicy:
    """Other days than those that are set; where none is given, those that are set."""
    return RetentionPolicy(
        conversations=conversations, versions=versions, audit=audit, events=events, deliveries=deliveries
    )


@router.get("")
def show_retention(principal: Admin, server: TheServer) -> RetentionBody:
    """How long each class is kept, and when what is past its time goes."""
    return _body(retain.show_retention(server, principal.tenant))


@router.put("")
def set_retention(wanted: DaysBody, principal: Admin, server: TheServer) -> RetentionBody:
    """Set how long each class is kept. It is first carried out at 03:00 UTC of the night that follows."""
    policy = RetentionPolicy(
        conversations=wanted.conversations,
        versions=wanted.versions,
        audit=wanted.audit,
        events=wanted.events,
        deliveries=wanted.deliveries,
    )
    return _body(retain.set_retention(server, principal, policy))


@router.get("/preview")
def preview_retention(
    principal: Admin, server: TheServer, asked: Annotated[RetentionPolicy, Depends(asked_policy)]
) -> PreviewBody:
    """Count what would go now; with days in the query, what would go under those. Nothing is changed."""
    found = retain.preview(server, principal.tenant, asked if asked.is_set else None)
    return PreviewBody(
        would_go=GoneBody.model_validate(found.counts), held=found.held, next_run_at=found.next_run_at
    )


@router.get("/holds")
def list_legal_holds(principal: Admin, server: TheServer) -> Page[HoldBody]:
    """What is held, the oldest first."""
    return Page(data=[_hold(hold) for hold in server.retention.holds(principal.tenant)])


@router.post("/holds", status_code=201)
def place_legal_hold(wanted: HoldRequest, principal: Admin, server: TheServer) -> HoldBody:
    """Keep a conversation, an end user's conversations or a corpus from being deleted, by retention or by hand."""
    return _hold(holds.place_hold(server, principal, wanted.kind, wanted.name, wanted.reason))


@router.delete("/holds/{hold_id}")
def lift_legal_hold(hold_id: Id, principal: Admin, server: TheServer) -> HoldBody:
    """Lift a hold: what is past its time goes in the next night."""
    return _hold(holds.lift_hold(server, principal, hold_id))


def _body(view: RetentionView) -> RetentionBody:
    state = view.state
    return RetentionBody(
        days=DaysBody(
            conversations=state.policy.conversations,
            versions=state.policy.versions,
            audit=state.policy.audit,
            events=state.policy.events,
            deliveries=state.policy.deliveries,
        ),
        changed_at=state.changed_at,
        next_run_at=view.next_run_at,
        last_run_at=state.ran_at,
        last_run=GoneBody.model_validate(dict(state.counts)),
        holds=view.holds,
    )


def _hold(hold: LegalHold) -> HoldBody:
    return HoldBody(
        hold_id=hold.hold,
        kind=hold.kind,
        name=hold.name,
        reason=hold.reason,
        placed_at=hold.placed_at,
        placed_by=hold.placed_by,
    )
