"""The ASGI application: every resource under its path."""

from __future__ import annotations

from fastapi import FastAPI

from corpus2skill import __version__
from corpus2skill.application.server.event_hub import EventHub
from corpus2skill.application.server_wiring import Server
from corpus2skill.entrypoints.http.problems import answer_with_problems
from corpus2skill.entrypoints.http.routes import api_tokens, me

_ROUTES = (me, api_tokens)


def create_app(server: Server) -> FastAPI:
    """Return the application over an opened server."""
    app = FastAPI(
        title="Corpus2Skill",
        version=__version__,
        root_path=server.server_settings.root_path,
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
    )
    app.state.server = server
    app.state.hub = EventHub(server.events)
    answer_with_problems(app)
    for module in _ROUTES:
        app.include_router(module.router, prefix="/v1")
    return app
