"""What every route needs: the server, and the one who asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Request

from corpus2skill.application.server.sign_in import bearer
from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.people import Principal, Scope
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
    """
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not secret:
        raise NotSignedIn
    return bearer(server, secret.strip())


Caller = Annotated[Principal, Depends(caller)]


def may(scope: Scope) -> Callable[[Principal], Principal]:
    """A dependency: the one who asks, who may do `scope`."""

    def checked(principal: Caller) -> Principal:
        principal.require(scope)
        return principal

    return checked


Reader = Annotated[Principal, Depends(may("read"))]
Asker = Annotated[Principal, Depends(may("ask"))]
Reviewer = Annotated[Principal, Depends(may("records"))]
Writer = Annotated[Principal, Depends(may("write"))]
Admin = Annotated[Principal, Depends(may("admin"))]
