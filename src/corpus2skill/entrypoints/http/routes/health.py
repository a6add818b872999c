"""For those who watch over the server: is it alive, can it work, what does it count?"""

from __future__ import annotations

import ipaddress
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel

from corpus2skill.application.server import health
from corpus2skill.entrypoints.http.caller import TheServer, caller
from corpus2skill.entrypoints.http.event_stream import hub_of
from corpus2skill.entrypoints.http.openapi import PROBLEMS

router = APIRouter(tags=["operation"])

_METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_METRICS: dict[int | str, dict[str, Any]] = {
    200: {"description": "All counts.", "content": {"text/plain": {"schema": {"type": "string"}}}},
    **PROBLEMS,
}


class Liveness(BaseModel):
    status: str


class Readiness(BaseModel):
    ready: bool
    checks: dict[str, str]
    """`ok`, or the code of what is wrong: of the database, the disk and the worker."""


@router.get("/healthz", openapi_extra={"security": []})
async def healthz() -> Liveness:
    """The process answers."""
    return Liveness(status="ok")


@router.get(
    "/readyz",
    openapi_extra={"security": []},
    responses={503: {"model": Readiness, "description": "Something is missing."}},
)
def readyz(request: Request, server: TheServer, response: Response) -> Readiness:
    """The server can work: its database answers, its disk takes files, its worker runs."""
    checks = health.checks(server, request.app.state.worker)
    is_ready = set(checks.values()) <= {health.OK}
    response.status_code = 200 if is_ready else 503
    return Readiness(ready=is_ready, checks=checks)


def may_measure(request: Request, server: TheServer) -> None:
    """From this machine, or with a token that may `admin`.

    Raises:
        NotSignedIn, NotAllowed: neither.
    """
    if not _is_from_here(request):
        caller(request, server).require("admin")


@router.get("/metrics", response_class=Response, responses=_METRICS)
def metrics(request: Request, server: TheServer, _: Annotated[None, Depends(may_measure)]) -> Response:
    """Counts in the text format of Prometheus; from this machine, or with a token of scope `admin`."""
    text = health.exposition(server, hub_of(request).watched)
    return Response(text, headers={"Content-Type": _METRICS_TYPE, "Cache-Control": "no-store"})


def _is_from_here(request: Request) -> bool:
    """A proxy on this machine hands on strangers: what it forwards is not from here."""
    if request.client is None or "x-forwarded-for" in request.headers or "forwarded" in request.headers:
        return False
    try:
        return ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False
