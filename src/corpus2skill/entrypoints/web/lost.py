"""Pages for people where there is nothing, or where they may not go: programs get problems (RFC 9457)."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from corpus2skill.entrypoints.http.addresses import below
from corpus2skill.entrypoints.http.problems import status_of
from corpus2skill.entrypoints.http.request_state import state_of
from corpus2skill.entrypoints.web.pages import page_language, show
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.messages import error_message, has_message, message

_Handler = Callable[[Request, Exception], Response | Awaitable[Response]]


def answer_people_with_pages(app: FastAPI) -> None:
    """Have `app` answer browsers outside `/v1` with a page, and everybody else as it did before."""
    for kind in (Corpus2SkillError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _for_people(app.exception_handlers[kind]))


def is_for_people(request: Request) -> bool:
    """True where a browser asks for something to look at: only those name HTML."""
    path = request.url.path.removeprefix(below(request, ""))
    is_program = path == "/v1" or path.startswith("/v1/")
    return not is_program and "text/html" in request.headers.get("accept", "")


def _for_people(otherwise: _Handler) -> _Handler:
    async def answer(request: Request, error: Exception) -> Response:
        if is_for_people(request):
            return _page(request, error)
        answered = otherwise(request, error)
        return await answered if inspect.isawaitable(answered) else answered

    return answer


def _page(request: Request, error: Exception) -> Response:
    language = page_language(request)
    status = _status(error)
    heading = f"http.title.{status}"
    said = f"page.lost.{status}"
    words = message(language, said if has_message(said) else "page.lost.other")
    values = {
        "heading": message(language, heading if has_message(heading) else "http.title.other", status=status),
        "words": error_message(language, error) if isinstance(error, Corpus2SkillError) else words,
        "request_id": state_of(request.scope).request_id,
    }
    return show(request, "lost.html", values, status=status)


def _status(error: Exception) -> int:
    if isinstance(error, Corpus2SkillError):
        return status_of(error)
    return error.status_code if isinstance(error, HTTPException) else 422
