"""What is known of a request while it is answered."""

from __future__ import annotations

import re
from dataclasses import dataclass
from secrets import token_hex

from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import Scope

from corpus2skill.domain.people import Principal

REQUEST_ID_HEADER = "X-Request-Id"
_SANE = re.compile(r"[A-Za-z0-9._:-]{1,100}")
_SCOPE_KEY = "corpus2skill.request"
_API = "/v1"


@dataclass(slots=True, kw_only=True)
class RequestState:
    request_id: str
    principal: Principal | None = None
    """The one who asks, once that is known."""
    code: str | None = None
    """Of the problem that the request was answered with."""


def begin_state(scope: Scope) -> RequestState:
    """Begin a request, under the id that the caller or a proxy gave it where that can be an id."""
    given = Headers(scope=scope).get(REQUEST_ID_HEADER, "")
    state = RequestState(request_id=given if _SANE.fullmatch(given) else f"req_{token_hex(12)}")
    scope[_SCOPE_KEY] = state
    return state


def state_of(scope: Scope) -> RequestState:
    """The state of the request of this scope; begun here where nothing stands before the application."""
    found = scope.get(_SCOPE_KEY)
    return found if isinstance(found, RequestState) else begin_state(scope)


def template_of(scope: Scope) -> str:
    """The path of the route with the names of its parameters; a dash where no route was found."""
    route = scope.get("route")
    if not isinstance(route, Route):
        return "-"
    is_of_api = scope["path"].removeprefix(scope.get("root_path", "")).startswith(f"{_API}/")
    return f"{_API}{route.path}" if is_of_api and not route.path.startswith(f"{_API}/") else route.path
