"""`/v1/audit-events`: what operators did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel
from starlette.responses import StreamingResponse

from corpus2skill.application.server import audit_trail
from corpus2skill.application.server.audit_trail import NamedEvent
from corpus2skill.application.show_records import moment
from corpus2skill.domain.audit import AuditFilter
from corpus2skill.domain.language import Language
from corpus2skill.entrypoints.http.caller import Admin, TheServer
from corpus2skill.entrypoints.http.paging import Cursor, Limit, Page, page
from corpus2skill.entrypoints.http.speech import language_of

router = APIRouter(prefix="/audit-events", tags=["audit"])

_BYTE_ORDER_MARK = "\ufeff"
_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}
_EXPORTED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "All events that are meant, the newest first.",
        "content": {
            "application/jsonl": {"schema": {"type": "string"}},
            "text/csv": {"schema": {"type": "string"}},
        },
    }
}
_Word = Query(max_length=200, pattern=r"^[^\x00]*$")


class AuditEventBody(BaseModel):
    event_id: str
    at: str
    actor: str
    """Id of the person or token; `cli:<user>` at the machine itself, `system` for what happened by itself."""
    actor_name: str | None
    """Null where they are known no longer."""
    action: str
    object: str
    text: str
    """What was done, in the language of `Accept-Language`."""
    values: dict[str, str | int | float | bool | None]


def wanted_events(
    action: Annotated[str | None, _Word] = None,
    actor: Annotated[str | None, _Word] = None,
    object: Annotated[str | None, _Word] = None,  # noqa: A002 - the name in the query
    since: Annotated[str | None, _Word] = None,
    until: Annotated[str | None, _Word] = None,
) -> AuditFilter:
    """Filters: `action` as a whole or, with a dot at its end, its beginning (`token.`); a date as `until` is included."""
    return AuditFilter(
        action=action,
        actor=actor,
        object=object,
        since=None if since is None else moment(since),
        until=None if until is None else moment(until, is_end=True),
    )


Wanted = Annotated[AuditFilter, Depends(wanted_events)]


@router.get("")
def list_audit_events(
    request: Request,
    principal: Admin,
    server: TheServer,
    which: Wanted,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[AuditEventBody]:
    """What operators did, the newest first."""
    rows = audit_trail.list_events(server, principal.tenant, which, cursor, limit + 1)
    language = language_of(request)
    return page(rows, limit, lambda row: _body(row, language), lambda row: row.event.event)


@router.get("/export", response_class=StreamingResponse, responses=_EXPORTED)
def export_audit_events(
    request: Request,
    principal: Admin,
    server: TheServer,
    which: Wanted,
    format: Literal["jsonl", "csv"] = "jsonl",  # noqa: A002 - the name in the query
    language: Language | None = None,
) -> StreamingResponse:
    """All events that are meant as a file; in CSV no cell can be taken for a formula.

    The sentences of the CSV are in `language` or, where it is left out, in that of `Accept-Language`.
    """
    if format == "jsonl":
        lines = audit_trail.export_jsonl(server, principal.tenant, which)
    else:
        lines = _marked(
            audit_trail.export_csv(server, principal.tenant, which, language or language_of(request))
        )
    headers = {"Content-Disposition": f'attachment; filename="audit-events.{format}"'}
    return StreamingResponse(lines, media_type=_TYPES[format], headers=headers)


def _marked(lines: Iterator[str]) -> Iterator[str]:
    """Spreadsheets take CSV for UTF-8 by its byte order mark."""
    yield _BYTE_ORDER_MARK
    yield from lines


def _body(row: NamedEvent, language: Language) -> AuditEventBody:
    event = row.event
    return AuditEventBody(
        event_id=event.event,
        at=event.at,
        actor=event.actor,
        actor_name=row.actor_name,
        action=event.action,
        object=event.object,
        text=audit_trail.sentence(language, event),
        values=dict(event.values),
    )
