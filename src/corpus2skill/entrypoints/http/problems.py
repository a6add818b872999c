"""Every error as `application/problem+json` (RFC 9457), in the language of the one who asks."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from corpus2skill import errors
from corpus2skill.domain.language import Language
from corpus2skill.entrypoints.http.request_state import state_of, template_of
from corpus2skill.entrypoints.http.speech import language_of
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.messages import error_message, has_message, message

_log = logging.getLogger(__name__)

_STATUS: tuple[tuple[type[Corpus2SkillError], int], ...] = (
    (errors.Outrun, 412),
    (errors.Unseen, 428),
    (errors.Conflict, 409),
    (errors.ConfirmationNeeded, 409),
    (errors.TooLarge, 413),
    (errors.WrongKind, 415),
    (errors.InvalidInput, 422),
    (errors.SourceRefused, 422),
    (errors.NotSignedIn, 401),
    (errors.NotAllowed, 403),
    (errors.TooMany, 429),
    (errors.Stopping, 503),
    (errors.BrokenOff, 503),
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
MEDIA_TYPE = "application/problem+json"


class FieldFault(BaseModel):
    """What is wrong with one field of a request."""

    field: str
    """Where it stands: `body.name`, `query.limit`."""
    detail: str
    code: str


class Problem(BaseModel):
    """Why a request was not carried out (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    """What happened, what was wanted and what to do, in the language of `Accept-Language`."""
    instance: str
    code: str
    """Stable, for programs."""
    retryable: bool
    """True where the same request may succeed later."""
    request_id: str
    """To be given to the operator: it stands in the log."""
    errors: list[FieldFault] = []
    """By field, where the request is not of the right form."""
    at: str | None = None
    """Of a path that names no node: the nearest node that there is. Left out otherwise, as the next."""
    children: list[str] | None = None
    """What can be fetched there."""


def status_of(error: Corpus2SkillError) -> int:
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def problem(
    request: Request,
    status: int,
    code: str,
    detail: str,
    *,
    headers: Mapping[str, str] | None = None,
    faults: list[FieldFault] | None = None,
    nearest: tuple[str, tuple[str, ...]] | None = None,
) -> JSONResponse:
    """Return a problem. `nearest`: path and children of the nearest node, where a path names none."""
    state = state_of(request.scope)
    state.code = code
    body = Problem(
        type=f"urn:corpus2skill:problem:{code}",
        title=_of_status("title", language_of(request), status),
        status=status,
        detail=detail,
        instance=request.url.path,
        code=code,
        retryable=status in _RETRYABLE,
        request_id=state.request_id,
        errors=faults or [],
        at=None if nearest is None else nearest[0],
        children=None if nearest is None else list(nearest[1]),
    )
    return JSONResponse(
        body.model_dump(exclude={"at", "children"} if nearest is None else None),
        status,
        {"Cache-Control": "no-store", **(headers or {})},
        media_type=MEDIA_TYPE,
    )


def answer_with_problems(app: FastAPI) -> None:
    """Have `app` answer every error with a problem."""
    app.add_exception_handler(Corpus2SkillError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)


async def _ours(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Corpus2SkillError)
    status = status_of(error)
    headers: dict[str, str] = {}
    if isinstance(error, errors.TooMany):
        headers["Retry-After"] = str(max(1, round(error.retry_after)))
    if isinstance(error, errors.TooLarge):
        headers["Connection"] = "close"  # the rest of what was sent is not read
    if isinstance(error, errors.NotSignedIn):
        headers["WWW-Authenticate"] = "Bearer"
    nearest = (error.at, error.children) if isinstance(error, errors.NodeNotFound) else None
    return problem(request, status, error.code, _sentence(request, error), headers=headers, nearest=nearest)


def _sentence(request: Request, error: Corpus2SkillError) -> str:
    try:
        return error_message(language_of(request), error)
    except KeyError:  # a sentence that is missing must not hide the fault itself
        _log.exception("there is no sentence for %s", error.code)
        return error.code


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    language = language_of(request)
    faults = [
        FieldFault(
            field=".".join(map(str, fault["loc"])),
            detail=_fault(language, fault["type"], fault.get("ctx") or {}),
            code=fault["type"],
        )
        for fault in error.errors()
    ]
    return problem(request, 422, "invalid_request", message(language, "error.invalid_request"), faults=faults)


def _fault(language: Language, kind: str, wanted: Mapping[str, object]) -> str:
    """What is wrong with a field; pydantic's own words are English only."""
    key = f"http.field.{kind}"
    if kind == "value_error" and isinstance(wanted.get("error"), Corpus2SkillError | ValueError):
        wanted = {"reason": str(wanted["error"])}
    try:
        return message(language, key if has_message(key) else "http.field.other", kind=kind, **wanted)
    except KeyError:  # pydantic said less than is known of this kind
        return message(language, "http.field.other", kind=kind)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status, headers = error.status_code, dict(error.headers or {})
    if status == 405:
        headers["Allow"] = _allowed(request)
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=headers)
    if status == 413:
        return too_large(request)
    code = {404: "no_such_route", 405: "method_not_allowed"}.get(status, "http_error")
    detail = _of_status("detail", language_of(request), status)
    return problem(request, status, code, detail, headers=headers)


def _allowed(request: Request) -> str:
    """The methods of the path: there is a route for each of them, and only one of them was met."""
    document = request.app.openapi()
    methods = {name.upper() for name in document["paths"].get(template_of(request.scope), {})}
    return ", ".join(sorted({*methods, *(["HEAD"] if "GET" in methods else []), "OPTIONS"}))


def _of_status(what: str, language: Language, status: int) -> str:
    key = f"http.{what}.{status}"
    return message(language, key if has_message(key) else f"http.{what}.other", status=status)


def too_large(request: Request) -> JSONResponse:
    """The answer to a body over the limit of its route. What is left of it is not read."""
    detail = _of_status("detail", language_of(request), 413)
    return problem(request, 413, "too_large", detail, headers={"Connection": "close"})


def unexpected(request: Request, error: Exception) -> JSONResponse:
    """The answer to a fault of ours, which is logged with its traceback."""
    _log.error("unexpected error answering %s", template_of(request.scope), exc_info=error)
    request_id = state_of(request.scope).request_id
    detail = message(language_of(request), "error.internal", request_id=request_id)
    return problem(request, 500, "internal", detail)
