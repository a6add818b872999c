"""The cookie of a browser that is signed in, and who may send it."""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import Request, Response

from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.sign_in import SESSION_SECONDS
from corpus2skill.errors import NotAllowed

_SAFE = ("GET", "HEAD", "OPTIONS")


def cookie_name(server: Server) -> str:
    """With the port: browsers do not tell the ports of one machine apart."""
    return f"corpus2skill_{server.server_settings.port}"


def cookie_of(request: Request, server: Server) -> str | None:
    return request.cookies.get(cookie_name(server)) or None


def set_cookie(request: Request, response: Response, server: Server, secret: str) -> None:
    response.set_cookie(
        cookie_name(server),
        secret,
        max_age=SESSION_SECONDS,
        path=_path(server),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def drop_cookie(request: Request, response: Response, server: Server) -> None:
    response.delete_cookie(
        cookie_name(server),
        path=_path(server),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def check_is_ours(request: Request) -> None:
    """What changes something must come from a page of ours: the browser says where it comes from.

    Raises:
        NotAllowed: it comes from elsewhere, or nothing says where from.
    """
    if request.method not in _SAFE and not _is_ours(request):
        raise NotAllowed("cross_site")


def _is_ours(request: Request) -> bool:
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = request.headers.get("origin", "")
    return bool(origin) and urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower()


def _path(server: Server) -> str:
    return server.server_settings.root_path or "/"
