"""Every error as `application/problem+json` (RFC 9457), in the language of the one who asks."""

from __future__ import annotations

import logging
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from corpus2skill import errors
from corpus2skill.application.json_form import to_json
from corpus2skill.entrypoints.http.speech import language_of
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.messages import error_message, message

_log = logging.getLogger(__name__)

_STATUS: tuple[tuple[type[Corpus2SkillError], int], ...] = (
    (errors.Outrun, 412),
    (errors.Conflict, 409),
    (errors.ConfirmationNeeded, 409),
    (errors.InvalidInput, 422),
    (errors.SourceRefused, 422),
    (errors.NotSignedIn, 401),
    (errors.NotAllowed, 403),
    (errors.TooMany, 429),
    (errors.NotFound, 404),
    (errors.Busy, 409),
    (errors.SpendingCapReached, 409),
    (errors.CompileFailed, 409),
    (errors.ModelUnusable, 422),
    (errors.ModelUnavailable, 503),
    (errors.WorkspaceUnusable, 503),
    (errors.Damaged, 500),
)
"""The first that fits."""
_RETRYABLE = (409, 429, 503)


def status_of(error: Corpus2SkillError) -> int:
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def problem(
    request: Request,
    status: int,
    code: str,
    detail: str,
    *,
    headers: dict[str, str] | None = None,
    **more: object,
) -> JSONResponse:
    """Return a problem; `more` are members beside the standard ones."""
    body = {
        "type": f"urn:corpus2skill:problem:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "instance": request.url.path,
        "code": code,
        "retryable": status in _RETRYABLE,
        "request_id": getattr(request.state, "request_id", None),
        **more,
    }
    return JSONResponse(
        body,
        status,
        {"Cache-Control": "no-store", **(headers or {})},
        media_type="application/problem+json",
    )


def answer_with_problems(app: FastAPI) -> None:
    """Have `app` answer every error with a problem."""
    app.add_exception_handler(Corpus2SkillError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)


async def _ours(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Corpus2SkillError)
    status = status_of(error)
    headers: dict[str, str] = {}
    if isinstance(error, errors.TooMany):
        headers["Retry-After"] = str(max(1, round(error.retry_after)))
    if isinstance(error, errors.NotSignedIn):
        headers["WWW-Authenticate"] = "Bearer"
    detail = error_message(language_of(request), error)
    return problem(request, status, error.code, detail, headers=headers)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    faults = [
        {"field": ".".join(map(str, fault["loc"])), "detail": str(fault["msg"]), "code": str(fault["type"])}
        for fault in error.errors()
    ]
    detail = message(language_of(request), "error.invalid_request")
    return problem(request, 422, "invalid_request", detail, errors=to_json(faults))


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = {404: "no_such_route", 405: "method_not_allowed"}.get(error.status_code, "http_error")
    return problem(request, error.status_code, code, str(error.detail), headers=dict(error.headers or {}))


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    _log.error("unexpected error answering %s", request.url.path, exc_info=error)
    request_id = getattr(request.state, "request_id", "-")
    detail = message(language_of(request), "error.internal", request_id=request_id)
    return problem(request, 500, "internal", detail)
