"""`/v1/sessions/{session_id}/evidence.zip`: a conversation that others can check."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from corpus2skill.application.server.evidence import evidence_of
from corpus2skill.entrypoints.http.caller import Reviewer, TheServer
from corpus2skill.entrypoints.http.ids import Id

router = APIRouter(prefix="/sessions", tags=["records"])

_TYPE = "application/zip"
_ZIP: dict[int | str, dict[str, Any]] = {
    200: {"description": "The zip.", "content": {_TYPE: {"schema": {"type": "string", "format": "binary"}}}}
}


@router.get("/{session_id}/evidence.zip", response_class=Response, responses=_ZIP)
def export_evidence(session_id: Id, principal: Reviewer, server: TheServer) -> Response:
    """A conversation with its records as they were hashed, their neighbours in the chain, and the verdict of today.

    `README.txt` in it says how to compute the hashes again without this server.
    """
    data = evidence_of(server, principal, session_id)
    headers = {"Content-Disposition": 'attachment; filename="evidence.zip"'}
    return Response(data, media_type=_TYPE, headers=headers)
