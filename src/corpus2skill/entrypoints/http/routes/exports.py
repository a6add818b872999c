"""`/v1/exports`: records as files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import StreamingResponse

from corpus2skill.application.show_records import export_csv, export_jsonl, judged_records
from corpus2skill.entrypoints.http.caller import Reviewer, TheServer
from corpus2skill.entrypoints.http.record_query import RecordQuery

router = APIRouter(prefix="/exports", tags=["records"])

_LINES_AT_ONCE = 65_536
"""Characters, about: a line a piece would be slow."""
_TYPES = {"jsonl": "application/jsonl", "csv": "text/csv"}


@router.get(
    "",
    response_class=StreamingResponse,
    responses={200: {"content": {kind: {"schema": {"type": "string"}} for kind in _TYPES.values()}}},
)
def export_records(
    query: RecordQuery,
    principal: Reviewer,
    server: TheServer,
    format: Annotated[  # noqa: A002 - the name on the wire
        Literal["jsonl", "csv"], Query(description="`jsonl` has everything; `csv` is a table for people.")
    ] = "jsonl",
    bom: Annotated[bool, Query(description="Begin the CSV with a byte order mark, for Excel.")] = False,
) -> StreamingResponse:
    """Exactly the records that the same filters list at `/v1/records`, newest first, with what was said of them.

    No cell of the CSV can be taken for a formula.
    """
    records = judged_records(server.workspace(principal.tenant), query.filter(), principal.tenant)
    lines = export_csv(records) if format == "csv" else export_jsonl(records)
    server.audit.note(principal.tenant, principal.actor, "records.exported", "records", format=format)
    return StreamingResponse(
        _pieces(lines, "\ufeff" if bom and format == "csv" else ""),
        media_type=_TYPES[format],
        headers={
            "Content-Disposition": f'attachment; filename="records.{format}"',
            "Cache-Control": "no-store",
        },
    )


def _pieces(lines: Iterator[str], beginning: str) -> Iterator[bytes]:
    waiting, size = [beginning], 0
    for line in lines:
        waiting.append(line)
        size += len(line)
        if size >= _LINES_AT_ONCE:
            yield _bytes(waiting)
            waiting, size = [], 0
    yield _bytes(waiting)


def _bytes(lines: list[str]) -> bytes:
    return "".join(lines).encode("utf-8", "backslashreplace")
