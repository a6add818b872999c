"""Deny by default: what a route lets in stands here."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, RouteContext, iter_route_contexts
from starlette.testclient import TestClient

from corpus2skill.application.server_wiring import Server
from corpus2skill.entrypoints.http.app import create_app
from corpus2skill.entrypoints.http.caller import May, caller
from corpus2skill.entrypoints.http.routes.health import may_measure
from corpus2skill.entrypoints.web.screens import SCREENS

PUBLIC = {
    "GET /healthz",
    "GET /readyz",
    "GET /v1/openapi.json",
    "GET /sign-in",
    "POST /sign-in",
    "POST /sign-in/link",
    "GET /invitation/{code}",
    "POST /invitation/{code}",
    "GET /reset/{code}",
    "POST /reset/{code}",
    "GET /favicon.ico",
    "GET /ui/{of_build}/{path:path}",
}
"""Anybody: they tell nothing that is anybody's, or ask for a secret themselves."""
LOOKS_ITSELF = {*(f"GET {screen.path}" for screen in SCREENS), "POST /tenant", "POST /sign-out"}
"""Pages that send a stranger to the sign-in form."""
SIGNED_IN = {
    "GET /v1/me",
    "PUT /v1/me/tenant",
    "PUT /v1/me/language",
    "PUT /v1/password",
    "GET /v1/sign-ins",
    "DELETE /v1/sign-ins",
    "DELETE /v1/sign-ins/{sign_in_id}",
}
"""Whoever is signed in, about themselves."""

DECIDED_WITHIN = {
    "GET /v1/events",
    "GET /v1/runs/{run_id}",
    "GET /v1/runs/{run_id}/events",
    "GET /v1/runs/{run_id}/sources/{source}",
    "PUT /v1/runs/{run_id}/feedback",
}
"""One's own runs with `ask`, everybody's with `records`: known when the run is."""


def dependencies(dependant: Dependant) -> Iterator[object]:
    for inner in dependant.dependencies:
        yield inner.call
        yield from dependencies(inner)


def guard_of(context: RouteContext) -> str:
    route = context.route
    if not isinstance(route, APIRoute):
        return "public"
    calls = list(dependencies(route.dependant))
    if may_measure in calls or any(isinstance(call, May) for call in calls):
        return "scope"
    return "signed in" if caller in calls else "public"


@pytest.mark.requirement("S-92")
def test_every_route_needs_a_scope_or_stands_in_a_short_list(server: Server) -> None:
    """Issue 6: a new route without a guard fails here."""
    by_guard: dict[str, set[str]] = defaultdict(set)
    for context in iter_route_contexts(create_app(server).routes):
        for method in (context.methods or {"ANY"}) - {"HEAD"}:
            by_guard[guard_of(context)].add(f"{method} {context.path}")
    assert by_guard["public"] - PUBLIC - LOOKS_ITSELF == set()
    assert by_guard["signed in"] == SIGNED_IN | DECIDED_WITHIN
    assert len(by_guard["scope"]) > 15


@pytest.mark.requirement("S-92")
def test_a_stranger_is_sent_away_from_every_route_of_the_api(server: Server) -> None:
    """The same from outside: whatever is sent, 401 comes before anything is looked at."""
    app = create_app(server)
    stranger = TestClient(app, base_url="http://localhost", raise_server_exceptions=False)
    for context in iter_route_contexts(app.routes):
        for method in context.methods or ():
            name = f"{method} {context.path}"
            if name in PUBLIC or method == "HEAD" or not context.path.startswith("/v1/"):
                continue
            path = re.sub("{[^}]*}", "1", context.path)
            answer = stranger.request(method, path, json={} if method in ("POST", "PUT", "PATCH") else None)
            assert answer.status_code == 401, name
