"""Pages to come in by: signing in, links that work once, signing out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated

from fastapi import APIRouter, Form, Path, Query, Request
from fastapi.responses import Response

from corpus2skill.application.server import members, passwords, sign_ins
from corpus2skill.application.server.links import living_link
from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.password import LEAST
from corpus2skill.domain.sign_in import LinkKind, WebSession
from corpus2skill.entrypoints.http.caller import TheServer, caller
from corpus2skill.entrypoints.http.cookies import check_is_ours, cookie_of, drop_cookie, set_cookie
from corpus2skill.entrypoints.http.visitor import visitor_of
from corpus2skill.entrypoints.web.next_page import own_page
from corpus2skill.entrypoints.web.pages import go_to, has_language, keep_language, show
from corpus2skill.errors import Corpus2SkillError, NotFound, NotSignedIn

router = APIRouter(include_in_schema=False)

Field = Annotated[str, Form()]
Code = Annotated[str, Path(max_length=200)]
Entered = tuple[WebSession, str]


@router.get("/sign-in")
def sign_in_page(
    request: Request,
    server: TheServer,
    code: Annotated[str | None, Query(max_length=200)] = None,
    following: Annotated[str, Query(alias="next")] = "",
) -> Response:
    """A form; with a code a button, so that whoever only looks at the link does not use it up."""
    if code is None:
        return show(request, "sign_in.html", {"name": "", "next": own_page(following)})
    return _look(request, server, "sign_in", code, "sign_in_link.html")


@router.post("/sign-in")
def sign_in(
    request: Request,
    server: TheServer,
    name: Field = "",
    password: Field = "",
    following: Annotated[str, Form(alias="next")] = "",
) -> Response:
    def enter() -> Entered:
        return passwords.sign_in(server, name, password, visitor_of(request))

    page = own_page(following)
    return _enter(request, server, enter, "sign_in.html", {"name": name, "next": page}, page or "/")


@router.post("/sign-in/link")
def sign_in_by_link(request: Request, server: TheServer, code: Field = "") -> Response:
    def enter() -> Entered:
        return passwords.sign_in_by_link(server, code, visitor_of(request))

    return _enter(request, server, enter, "sign_in_link.html", {"code": code, "name": ""})


@router.get("/invitation/{code}")
def invitation_page(code: Code, request: Request, server: TheServer) -> Response:
    return _look(request, server, "invitation", code, "invitation.html")


@router.post("/invitation/{code}")
def accept_invitation(
    code: Code, request: Request, server: TheServer, name: Field = "", password: Field = ""
) -> Response:
    def enter() -> Entered:
        return passwords.accept_invitation(server, code, name, password, visitor_of(request))

    return _enter(request, server, enter, "invitation.html", {"code": code, "name": name, "least": LEAST})


@router.get("/reset/{code}")
def reset_page(code: Code, request: Request, server: TheServer) -> Response:
    return _look(request, server, "reset", code, "reset.html")


@router.post("/reset/{code}")
def reset_password(code: Code, request: Request, server: TheServer, password: Field = "") -> Response:
    def enter() -> Entered:
        return passwords.reset_password(server, code, password, visitor_of(request))

    return _enter(request, server, enter, "reset.html", {"code": code, "name": "", "least": LEAST})


@router.post("/tenant")
def choose_tenant(request: Request, server: TheServer, tenant: Field = "") -> Response:
    try:
        members.choose_tenant(server, caller(request, server), tenant)
    except NotSignedIn:
        return go_to(request, "/sign-in")
    except Corpus2SkillError as error:
        return show(request, "refused.html", error=error)
    return go_to(request, "/")


@router.post("/sign-out")
def sign_out(request: Request, server: TheServer, everywhere: Field = "") -> Response:
    """Of this browser or, where the form says so, of all."""
    try:
        principal = caller(request, server)
        if everywhere:
            sign_ins.end_all(server, principal, is_this_kept=False)
        elif principal.sign_in is not None:
            sign_ins.end(server, principal, principal.sign_in)
    except (NotSignedIn, NotFound):
        pass  # it is over already
    except Corpus2SkillError as error:
        return show(request, "refused.html", error=error)
    response = go_to(request, "/sign-in")
    drop_cookie(request, response, server)
    return response


def _look(request: Request, server: Server, kind: LinkKind, code: str, template: str) -> Response:
    """Show what a link leads to; it stays unused."""
    try:
        link = living_link(server, kind, code)
    except Corpus2SkillError as error:
        return show(request, "refused.html", error=error)
    return show(request, template, {"code": code, "name": link.name, "least": LEAST})


def _enter(
    request: Request,
    server: Server,
    enter: Callable[[], Entered],
    template: str,
    values: Mapping[str, object],
    following: str = "/",
) -> Response:
    """Sign the browser in by `enter`; where that is refused, show the form again and say why."""
    try:
        check_is_ours(request)
        before = cookie_of(request, server)
        session, secret = enter()
    except NotFound as error:
        return show(request, "refused.html", error=error)
    except Corpus2SkillError as error:
        return show(request, template, values, error=error)
    if before is not None:
        sign_ins.forget(server, before)
    response = go_to(request, following)
    set_cookie(request, response, server, secret)
    person = server.people.person(session.person)
    if person is not None and person.language is not None and not has_language(request):
        keep_language(request, response, person.language)
    return response
