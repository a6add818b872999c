"""What a page is made of: its template, its words, and the headers that keep it to itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Literal
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined

from corpus2skill.domain.language import Language
from corpus2skill.entrypoints.http.addresses import below
from corpus2skill.entrypoints.http.problems import status_of
from corpus2skill.entrypoints.http.speech import language_of
from corpus2skill.entrypoints.web.static_files import build
from corpus2skill.errors import Corpus2SkillError, TooMany
from corpus2skill.messages import error_message, message

_PACKAGE = "corpus2skill.entrypoints.web"
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self';"
    " frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
_LANGUAGE = "c2s_language"
_YEAR = 365 * 24 * 3600
_ONLY_POSTED = ("/sign-in/link", "/sign-out", "/tenant")
"""Addresses that a link cannot lead back to."""


def show(
    request: Request,
    template: str,
    values: Mapping[str, object] = MappingProxyType({}),
    *,
    error: Corpus2SkillError | None = None,
    status: int = 200,
) -> HTMLResponse:
    """Return a page, with what went wrong in words where there is an `error`, which has a status of its own."""
    language = page_language(request)
    other: Language = "en" if language == "ja" else "ja"
    text = (
        templates()
        .get_template(template)
        .render(
            language=language,
            other_language=other,
            in_other_language=_again(request, other, values.get("next")),
            theme=page_theme(request),
            static=below(request, f"/ui/{build()}"),
            say=partial(message, language),
            below=partial(below, request),
            error=None if error is None else error_message(language, error),
            **values,
        )
    )
    headers = dict(_HEADERS)
    if isinstance(error, TooMany):
        headers["Retry-After"] = str(max(1, round(error.retry_after)))
    response = HTMLResponse(text, status if error is None else status_of(error), headers)
    if _asked_language(request) is not None:
        keep_language(request, response, language)
    return response


def page_language(request: Request, of_person: Language | None = None) -> Language:
    """The language of a page: asked for in the address, chosen in this browser, the signed-in person's, or as the
    browser says."""
    chosen = request.cookies.get(_LANGUAGE)
    return _asked_language(request) or _known(chosen) or of_person or language_of(request)


def page_theme(request: Request) -> Literal["light", "dark"] | None:
    """Light or dark where that was chosen; None: as the system has it."""
    chosen = request.cookies.get("c2s_theme")
    return chosen if chosen == "light" or chosen == "dark" else None


def keep_language(request: Request, response: Response, language: Language) -> None:
    """Have the browser ask for pages in this language from now on."""
    response.set_cookie(_LANGUAGE, language, max_age=_YEAR, path=below(request, "") or "/", samesite="lax")


def has_language(request: Request) -> bool:
    """True where a language was chosen in this browser."""
    return _known(request.cookies.get(_LANGUAGE)) is not None


def go_to(request: Request, path: str) -> RedirectResponse:
    """Have the browser ask for another page of ours."""
    return RedirectResponse(below(request, path), 303, {"Cache-Control": "no-store"})


@cache
def templates() -> Environment:
    return Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _asked_language(request: Request) -> Language | None:
    return _known(request.query_params.get("language"))


def _known(name: str | None) -> Language | None:
    return name if name == "ja" or name == "en" else None


def _again(request: Request, language: Language, following: object) -> str:
    """The address of this page in another language, by which it is switched without a script."""
    asked = request.url.path.removeprefix(below(request, ""))
    kept = {name: text for name, text in request.query_params.items() if name in ("code", "next")}
    if isinstance(following, str) and following:
        kept["next"] = following
    path = "/sign-in" if asked in _ONLY_POSTED else asked
    return f"{below(request, path)}?{urlencode({**kept, 'language': language})}"
