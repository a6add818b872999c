"""What a page is made of: its template, its words, and the headers that keep it to itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from importlib import resources
from types import MappingProxyType

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined

from corpus2skill.domain.language import Language
from corpus2skill.entrypoints.http.addresses import below
from corpus2skill.entrypoints.http.problems import status_of
from corpus2skill.entrypoints.http.speech import language_of
from corpus2skill.errors import Corpus2SkillError, TooMany
from corpus2skill.messages import error_message, message

_PACKAGE = "corpus2skill.entrypoints.web"
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self';"
    " frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


def show(
    request: Request,
    template: str,
    values: Mapping[str, object] = MappingProxyType({}),
    *,
    error: Corpus2SkillError | None = None,
    language: Language | None = None,
) -> HTMLResponse:
    """Return a page, with what went wrong in words where there is an `error`."""
    language = language or language_of(request)
    text = (
        templates()
        .get_template(template)
        .render(
            language=language,
            say=partial(message, language),
            below=partial(below, request),
            error=None if error is None else error_message(language, error),
            **values,
        )
    )
    headers = dict(_HEADERS)
    if isinstance(error, TooMany):
        headers["Retry-After"] = str(max(1, round(error.retry_after)))
    return HTMLResponse(text, 200 if error is None else status_of(error), headers)


def go_to(request: Request, path: str) -> RedirectResponse:
    """Have the browser ask for another page of ours."""
    return RedirectResponse(below(request, path), 303, {"Cache-Control": "no-store"})


def style() -> Response:
    """The one style sheet of these pages."""
    return Response(_style(), media_type="text/css", headers={"Cache-Control": "max-age=3600"})


@cache
def templates() -> Environment:
    return Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _style() -> str:
    return (resources.files(_PACKAGE) / "page.css").read_text(encoding="utf-8")
