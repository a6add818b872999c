"""The outermost of the door: a request's id, one line of log and its measures."""

from __future__ import annotations

import logging
import time
from collections.abc import MutableMapping
from typing import Any

import structlog
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from corpus2skill.entrypoints.http.problems import unexpected
from corpus2skill.entrypoints.http.request_state import (
    REQUEST_ID_HEADER,
    RequestState,
    begin_state,
    template_of,
)
from corpus2skill.ports.measures import Measures

_log = logging.getLogger("corpus2skill.requests")
_QUIET = ("/healthz", "/readyz", "/metrics")
"""Asked every few seconds by machines: told only where they fail."""


class RequestLog:
    """Gives every answer its `X-Request-Id` and logs it: no query, no body, no header of the caller's.

    Faults of ours end here, so that they, too, are answered and counted as all else.
    """

    def __init__(self, app: ASGIApp, measures: Measures) -> None:
        self._app = app
        self._measures = measures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state, began, status = begin_state(scope), time.monotonic(), 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID_HEADER] = state.request_id
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=state.request_id):
            try:
                await self._app(scope, receive, noted)
            except Exception as error:  # noqa: BLE001 - the last door: a fault of ours ends one request
                answer = unexpected(Request(scope), error)
                if not status:
                    await answer(scope, receive, noted)
            finally:
                self._note(scope, state, status, time.monotonic() - began)

    def _note(
        self, scope: MutableMapping[str, Any], state: RequestState, status: int, seconds: float
    ) -> None:
        route = template_of(scope)
        self._measures.request(scope["method"], route, status, seconds)
        if route in _QUIET and status < 400:
            return
        about = {
            "method": scope["method"],
            "route": route,
            "status": status,
            "ms": round(seconds * 1000, 1),
            "tenant": state.principal.tenant if state.principal else None,
            "actor": state.principal.actor if state.principal else None,
            "code": state.code,
        }
        level = logging.ERROR if status >= 500 or not status else logging.INFO
        _log.log(level, "request", extra={name: value for name, value in about.items() if value is not None})
