"""`Idempotency-Key` on what creates or spends (draft-ietf-httpapi-idempotency-key-header-07)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from corpus2skill.application.server import idempotency
from corpus2skill.application.server.idempotency import Answer, Repeatable
from corpus2skill.application.server_wiring import Server
from corpus2skill.entrypoints.http.caller import caller, the_server
from corpus2skill.entrypoints.http.cookies import cookie_of

IDEMPOTENCY_HEADER = "Idempotency-Key"
REPLAYED_HEADER = "Idempotency-Replayed"
_KEPT_HEADERS = ("content-type", "etag", "location")
_Handler = Callable[[Request], Coroutine[Any, Any, Response]]
_PARAMETER = {
    "name": IDEMPOTENCY_HEADER,
    "in": "header",
    "required": False,
    "description": "A key of the caller's own, as a UUID. The same request under the same key is carried out once "
    "and answered the same for 24 hours; 409 while it is under way, 422 with another body.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
}


class IdempotentRoute(APIRoute):
    """A route whose POST is carried out once under one `Idempotency-Key`; use as `route_class` of a router.

    Kept are answers that are no errors: a refused request did nothing, and its key may be used again. Routes that
    take files pass by, whatever is sent to them: the same document twice is one, and to compare their bodies,
    which may be without end, they would have to be held in memory.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:  # noqa: ANN401 - FastAPI's own options pass through
        if "POST" in (options.get("methods") or ()):
            extra = dict(options.get("openapi_extra") or {})
            extra["parameters"] = [*extra.get("parameters", ()), _PARAMETER]
            options["openapi_extra"] = extra
        super().__init__(path, endpoint, **options)

    def get_route_handler(self) -> _Handler:
        handle = super().get_route_handler()

        async def handle_once(request: Request) -> Response:
            if request.method != "POST" or IDEMPOTENCY_HEADER not in request.headers or _takes_files(self):
                return await handle(request)
            return await _once(request, handle)

        return handle_once


def _takes_files(route: APIRoute) -> bool:
    """By what the route says of itself: what a request says of its body may be wrong."""
    return "multipart/form-data" in (route.openapi_extra or {}).get("requestBody", {}).get("content", {})


async def _once(request: Request, handle: _Handler) -> Response:
    server = the_server(request)
    asked = await _repeatable(request, server)
    before = await run_in_threadpool(idempotency.begin, server, asked)
    if before is not None:
        return Response(before.body, before.status, {**before.headers, REPLAYED_HEADER: "true"})
    is_kept = False
    try:
        response = await handle(request)
        if response.status_code < 400 and not isinstance(response, StreamingResponse):
            await run_in_threadpool(idempotency.keep, server, asked, _answer(response))
            is_kept = True
        return response
    finally:
        if not is_kept:
            await run_in_threadpool(server.kept_answers.free, asked.asked)


async def _repeatable(request: Request, server: Server) -> Repeatable:
    principal = await run_in_threadpool(caller, request, server)
    return idempotency.repeatable(
        principal,
        f"{request.method} {request.url.path}?{request.url.query}",
        request.headers[IDEMPOTENCY_HEADER],
        await request.body(),
        request.headers.get("authorization") or cookie_of(request, server) or "",
    )


def _answer(response: Response) -> Answer:
    kept = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    return Answer(status=response.status_code, headers=kept, body=bytes(response.body))
