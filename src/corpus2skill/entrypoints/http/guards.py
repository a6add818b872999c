"""What stands before every route: the name we are asked by, the headers of every answer, HEAD."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from corpus2skill.entrypoints.http.problems import problem, too_large
from corpus2skill.entrypoints.http.speech import language_of
from corpus2skill.messages import message
from corpus2skill.settings import LOOPBACK_NAMES, ServerSettings

_EVERYWHERE = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}
_API = "/v1"
_OF_API = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}


class HostGuard:
    """Refuses names that are not ours: a page elsewhere may have its own name lead to this machine."""

    def __init__(self, app: ASGIApp, names: Sequence[str]) -> None:
        self._app = app
        self._names = frozenset(name.lower() for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._names and _name(scope) not in self._names:
            request = Request(scope)
            detail = message(language_of(request), "error.foreign_host")
            await problem(request, 421, "foreign_host", detail)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def names_of(settings: ServerSettings) -> tuple[str, ...]:
    """The names under which the server may be asked; none: under any."""
    if settings.is_on_loopback:
        return (*LOOPBACK_NAMES, *settings.public_hosts)
    return (*LOOPBACK_NAMES, settings.host, *settings.public_hosts) if settings.public_hosts else ()


class SafeHeaders:
    """Adds what keeps a browser from guessing, keeping and passing on. A route's own headers win."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        wanted = {**_EVERYWHERE, **(_OF_API if _path(scope).startswith(f"{_API}/") else {})}

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in wanted.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, guarded)


class SubPath:
    """Puts the server below a proxy's sub-path, whether the proxy leaves it in the path or strips it."""

    def __init__(self, app: ASGIApp, root_path: str) -> None:
        self._app = app
        self._root = root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._root and scope["type"] in ("http", "websocket"):
            scope["root_path"] = self._root
            if not f"{scope['path']}/".startswith(f"{self._root}/"):
                scope["path"] = self._root + scope["path"]
        await self._app(scope, receive, send)


class TooLargeAsProblem:
    """Tells of a body over the limit as of all else; what limits bodies says so in plain text."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_told = False

        async def told(message: Message) -> None:
            nonlocal is_told
            if is_told:
                return
            if message["type"] == "http.response.start" and _is_plain_too_large(message):
                is_told = True
                await too_large(Request(scope))(scope, receive, send)
            else:
                await send(message)

        await self._app(scope, receive, told)


def _is_plain_too_large(message: Message) -> bool:
    kind = Headers(raw=message["headers"]).get("content-type", "")
    return message["status"] == 413 and kind.startswith("text/plain")


class HeadAsGet:
    """Answers HEAD as GET without the body (RFC 9110, 9.3.2); a stream ends with its headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def headers_only(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                if Headers(raw=message["headers"]).get("content-type", "").startswith("text/event-stream"):
                    raise _Answered

        scope["method"] = "GET"
        try:
            await self._app(scope, receive, headers_only)
        except _Answered:
            return
        finally:
            scope["method"] = "HEAD"


class _Answered(Exception):
    """All that a HEAD asks for was sent."""


def _path(scope: Scope) -> str:
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    return path.removeprefix(root) if root else path


def _name(scope: Scope) -> str:
    """The name in `Host`, without its port."""
    host = Headers(scope=scope).get("host", "").lower()
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]
