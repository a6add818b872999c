"""What every route needs: the server, and the one who asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from corpus2skill.application.server.rate_limits import RateLimit
from corpus2skill.application.server.sign_in import bearer, signed_in
from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.people import Principal, Scope
from corpus2skill.entrypoints.http.cookies import check_is_ours, cookie_of
from corpus2skill.entrypoints.http.request_state import state_of
from corpus2skill.errors import NotSignedIn


def the_server(request: Request) -> Server:
    server = request.app.state.server
    assert isinstance(server, Server)
    return server


TheServer = Annotated[Server, Depends(the_server)]


def caller(request: Request, server: TheServer) -> Principal:
    """Return the one who asks.

    Raises:
        NotSignedIn: nobody, or nobody we know.
        NotAllowed: a page of another site asks in the name of a browser that is signed in.
        TooMany: they have asked too often.
    """
    state = state_of(request.scope)
    if state.principal is None:
        state.principal = _signed_in(request, server)
        _limit(request.app.state.requests).take(state.principal.actor)
    return state.principal


def limit_user(request: Request, principal: Principal, user: str | None) -> None:
    """Count a question of an end user, as the caller names them.

    Raises:
        TooMany: the user has asked too often.
    """
    if user is not None:
        _limit(request.app.state.questions).take(f"{principal.tenant}\n{user}")


def _limit(found: object) -> RateLimit:
    assert isinstance(found, RateLimit)
    return found


def _signed_in(request: Request, server: Server) -> Principal:
    if "authorization" in request.headers:
        scheme, _, secret = request.headers["authorization"].partition(" ")
        if scheme.lower() != "bearer" or not secret:
            raise NotSignedIn
        return bearer(server, secret.strip())
    cookie = cookie_of(request, server)
    if cookie is None:
        raise NotSignedIn
    check_is_ours(request)
    return signed_in(server, cookie)


Caller = Annotated[Principal, Depends(caller)]


@dataclass(frozen=True)
class May:
    """A dependency: the one who asks, who may do `scope`."""

    scope: Scope

    def __call__(self, principal: Caller) -> Principal:
        """Raises: NotAllowed."""
        principal.require(self.scope)
        return principal


Reader = Annotated[Principal, Depends(May("read"))]
Asker = Annotated[Principal, Depends(May("ask"))]
Reviewer = Annotated[Principal, Depends(May("records"))]
Writer = Annotated[Principal, Depends(May("write"))]
Admin = Annotated[Principal, Depends(May("admin"))]
