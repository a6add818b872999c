"""The screens: one frame each, filled by its script from the public HTTP interface alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.language import Language
from corpus2skill.domain.people import Principal
from corpus2skill.entrypoints.http.addresses import below
from corpus2skill.entrypoints.http.caller import TheServer, caller
from corpus2skill.entrypoints.web.pages import go_to, page_language, page_theme, templates
from corpus2skill.entrypoints.web.static_files import build, static_files
from corpus2skill.errors import NotSignedIn
from corpus2skill.messages import message

router = APIRouter(include_in_schema=False)

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
    " connect-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types corpus2skill",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True, slots=True)
class Place:
    """One entry of the rail."""

    name: str
    path: str
    drawing: str


PLACES = (
    Place("home", "/", "M3 10.5 12 3l9 7.5V21h-6v-6H9v6H3z"),
    Place("knowledge", "/knowledge", "M12 3v5m0 0H5v5m7-5h7v5M3 13h4v4H3zm7 0h4v4h-4zm7 0h4v4h-4z"),
    Place("talk", "/talk", "M4 5h16v11H10l-5 4v-4H4z"),
    Place("records", "/records", "M6 3h12v18H6zM9 8h6M9 12h6M9 16h4"),
    Place("tests", "/tests", "M10 3v6l-5 9a2 2 0 0 0 2 3h10a2 2 0 0 0 2-3l-5-9V3M9 3h6M8 15h8"),
    Place("settings", "/settings", "M4 7h10m4 0h2M4 17h2m4 0h10M16 5v4M8 15v4"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """A page: its path, the script that fills it, and where in the rail it belongs."""

    path: str
    script: str
    place: str
    is_wide: bool = False


SCREENS = (
    Screen(path="/", script="home", place="home"),
    Screen(path="/welcome", script="welcome", place="home"),
    Screen(path="/knowledge", script="knowledge", place="knowledge"),
    Screen(path="/c/{corpus}/documents", script="documents", place="knowledge", is_wide=True),
    Screen(path="/c/{corpus}/documents/{document}", script="document", place="knowledge"),
    Screen(path="/c/{corpus}/compile", script="compile", place="knowledge"),
    Screen(path="/c/{corpus}/jobs", script="jobs", place="knowledge", is_wide=True),
    Screen(path="/jobs/{job}", script="job", place="knowledge"),
    Screen(path="/c/{corpus}/tree", script="tree", place="knowledge", is_wide=True),
    Screen(
        path="/c/{corpus}/versions/{version}/leaves/{leaf}", script="leaf", place="knowledge", is_wide=True
    ),
    Screen(path="/c/{corpus}/versions", script="versions", place="knowledge", is_wide=True),
    Screen(path="/c/{corpus}/versions/{before}/diff/{after}", script="diff", place="knowledge", is_wide=True),
    Screen(path="/c/{corpus}/settings", script="corpus_settings", place="knowledge"),
    Screen(path="/talk", script="talk", place="talk", is_wide=True),
    Screen(path="/records", script="records", place="records", is_wide=True),
    Screen(path="/records/{run}", script="record", place="records"),
    Screen(path="/queue", script="queue", place="records", is_wide=True),
    Screen(path="/tests", script="tests", place="tests", is_wide=True),
    Screen(path="/settings", script="settings", place="settings"),
    Screen(path="/settings/keys", script="keys", place="settings"),
    Screen(path="/settings/limits", script="limits", place="settings"),
    Screen(path="/settings/tokens", script="tokens", place="settings", is_wide=True),
    Screen(path="/settings/members", script="members", place="settings"),
    Screen(path="/settings/log", script="log", place="settings", is_wide=True),
    Screen(path="/settings/retention", script="retention", place="settings"),
    Screen(path="/settings/account", script="account", place="settings"),
)


def _page(screen: Screen) -> Callable[..., Response]:
    def answer(request: Request, server: TheServer) -> Response:
        try:
            principal = caller(request, server)
        except NotSignedIn:
            return go_to(request, "/sign-in" if screen.path == "/" else f"/sign-in?next={_address(request)}")
        return _frame(request, screen, principal, page_language(request, _language_of(server, principal)))

    return answer


for _screen in SCREENS:
    router.get(_screen.path, name=f"screen_{_screen.script}")(_page(_screen))


@router.get("/favicon.ico")
def favicon() -> Response:
    """For browsers that ask for it by its old name, beside a file that is looked at for instance."""
    file = static_files()["mark.svg"]
    return Response(file.content, media_type=file.media_type, headers={"Cache-Control": "max-age=86400"})


@router.get("/ui/{of_build}/{path:path}")
def static_file(of_build: str, path: str, request: Request) -> Response:
    """A file of this build; one of another build, which an open page may still ask for, as it is today."""
    file = static_files().get(path)
    if file is None:
        return Response(status_code=404)
    age = "public, max-age=31536000, immutable" if of_build == build() else "no-cache"
    headers = {"Cache-Control": age, "X-Content-Type-Options": "nosniff", "Vary": "Accept-Encoding"}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(file.content, media_type=file.media_type, headers=headers)
    return Response(file.packed, media_type=file.media_type, headers={**headers, "Content-Encoding": "gzip"})


def _address(request: Request) -> str:
    asked = request.url.path.removeprefix(below(request, ""))
    return quote(f"{asked}?{request.url.query}" if request.url.query else asked, safe="/")


def _language_of(server: Server, principal: Principal) -> Language | None:
    person = None if principal.sign_in is None else server.people.person(principal.actor)
    return None if person is None else person.language


def _frame(request: Request, screen: Screen, principal: Principal, language: Language) -> HTMLResponse:
    text = (
        templates()
        .get_template("screen.html")
        .render(
            language=language,
            theme=page_theme(request),
            zone="Asia/Tokyo",
            base=below(request, ""),
            static=below(request, f"/ui/{build()}"),
            title=message(language, f"ui.title.{screen.script}"),
            screen=screen.script,
            place=screen.place,
            places=PLACES,
            is_wide=screen.is_wide,
            name=principal.name,
            tenant=principal.tenant,
            data={**request.path_params, "scopes": " ".join(sorted(principal.scopes))},
            say=partial(message, language),
        )
    )
    return HTMLResponse(text, headers=_HEADERS)
