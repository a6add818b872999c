"""`/v1/records`: the audit records of all conversations of a tenant."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel

from corpus2skill.application.delete_records import Whose
from corpus2skill.application.server import erase
from corpus2skill.application.server.exchange import exchange_of
from corpus2skill.application.show_records import judged_records, verify_records
from corpus2skill.entrypoints.http.caller import Admin, Reviewer, TheServer
from corpus2skill.entrypoints.http.ids import Id
from corpus2skill.entrypoints.http.paging import Cursor, Limit, Page, page
from corpus2skill.entrypoints.http.record_query import RecordQuery, kept_record
from corpus2skill.entrypoints.http.run_bodies import RecordBody, RecordLineBody, record_body, record_line
from corpus2skill.entrypoints.http.the_runs import Runs
from corpus2skill.messages import message

router = APIRouter(prefix="/records", tags=["records"])


class FaultBody(BaseModel):
    code: str
    run_id: str
    message: str


class VerdictBody(BaseModel):
    """What checking the chain of records found. Keep `head` elsewhere: a chain that was cut shows against it."""

    is_sound: bool
    records: int
    head: str
    kept_head_at: int | None
    faults: list[FaultBody]


class PartBody(BaseModel):
    role: Literal["user", "model", "tool"]
    text: str | None
    path: str | None


class ExchangeBody(BaseModel):
    """What went between model and program. Never word for word: what is sent to a provider is not kept.

    It is made again from the record and the version: the question, each reason with the path asked for, each
    node as it was returned (null where its version is gone), the answer. Earlier turns of the conversation are
    not repeated.
    """

    run_id: str
    is_verbatim: bool
    parts: list[PartBody]


class DeletedBody(BaseModel):
    run_id: str
    session_id: str
    started_at: str
    outcome: str


class ErasureBody(BaseModel):
    records: list[DeletedBody]
    sessions: int
    under_way: int
    is_done: bool
    """False for a dry run, and where a run could not be ended in time: ask again then."""


@router.get("")
def list_records(
    query: RecordQuery, principal: Reviewer, server: TheServer, limit: Limit = 50, cursor: Cursor = None
) -> Page[RecordLineBody]:
    """Records, newest first. The filters are those of `/v1/exports`."""
    which = query.filter(before=cursor, limit=limit + 1)
    workspace = server.workspace(principal.tenant)
    records = list(islice(judged_records(workspace, which, principal.tenant), limit + 1))
    return page(records, limit, lambda judged: record_line(*judged), lambda judged: judged[0].ids.run)


@router.get("/verify")
def verify_chain(
    principal: Reviewer,
    server: TheServer,
    kept_head: Annotated[str | None, Query(max_length=100, description="A head kept elsewhere.")] = None,
) -> VerdictBody:
    """Recompute the chain from the first record: what was changed, taken out or moved shows."""
    verdict = verify_records(server.workspace(principal.tenant), principal.tenant, kept_head=kept_head)
    return VerdictBody(
        is_sound=not verdict.faults,
        records=verdict.records,
        head=verdict.head,
        kept_head_at=verdict.kept_head_at,
        faults=[
            FaultBody(
                code=fault.code,
                run_id=fault.file,
                message=message("en", f"fault.{fault.code}", file=fault.file, detail=fault.detail),
            )
            for fault in verdict.faults
        ],
    )


@router.delete("")
def delete_records(
    principal: Admin,
    server: TheServer,
    runs: Runs,
    run_id: Annotated[str | None, Query(max_length=100)] = None,
    session_id: Annotated[str | None, Query(max_length=100)] = None,
    end_user: Annotated[str | None, Query(max_length=200)] = None,
    dry_run: Annotated[bool, Query(description="Only say what would be deleted.")] = False,
) -> ErasureBody:
    """Delete what was said in one run, one conversation, or all conversations of an end user.

    It is replaced by dated marks, so that the chain of records still verifies; what is still being answered is
    ended first. This cannot be undone.
    """
    whose = Whose(run=run_id, session=session_id, user=end_user)
    found = erase.erase_records(server, runs, principal, whose, is_dry_run=dry_run)
    deleted = [
        DeletedBody(
            run_id=record.run,
            session_id=record.session,
            started_at=record.started_at,
            outcome=record.outcome,
        )
        for record in found.records
    ]
    return ErasureBody(
        records=deleted, sessions=found.sessions, under_way=found.under_way, is_done=found.is_done
    )


@router.get("/{run_id}")
def show_record(run_id: Id, principal: Reviewer, server: TheServer) -> RecordBody:
    """One record with everything that is in it."""
    return record_body(*kept_record(server, principal.tenant, run_id))


@router.get("/{run_id}/exchange")
def show_exchange(run_id: Id, principal: Reviewer, server: TheServer) -> ExchangeBody:
    """What model and program said to each other, made again from the record and its version."""
    record, _ = kept_record(server, principal.tenant, run_id)
    parts = [PartBody(role=part.role, text=part.text, path=part.path) for part in exchange_of(server, record)]
    return ExchangeBody(run_id=run_id, is_verbatim=False, parts=parts)
