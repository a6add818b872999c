"""The ASGI application: every resource under its path."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI

from corpus2skill import __version__
from corpus2skill.application.server.event_hub import EventHub
from corpus2skill.application.server.health import WorkerState, no_worker
from corpus2skill.application.server.rate_limits import RateLimit
from corpus2skill.application.server.runs import RunHost
from corpus2skill.application.server_wiring import Server
from corpus2skill.entrypoints.http.guards import (
    HeadAsGet,
    HostGuard,
    SafeHeaders,
    SubPath,
    TooLargeAsProblem,
    names_of,
)
from corpus2skill.entrypoints.http.living import living
from corpus2skill.entrypoints.http.openapi import PROBLEMS, describe, operation_id
from corpus2skill.entrypoints.http.problems import answer_with_problems
from corpus2skill.entrypoints.http.request_log import RequestLog
from corpus2skill.entrypoints.http.routes import (
    api_tokens,
    audit_events,
    corpora,
    documents,
    events,
    evidence,
    exam_questions,
    exams,
    exports,
    health,
    invitations,
    jobs,
    me,
    members,
    password,
    provider_credentials,
    queue,
    records,
    retention,
    runs,
    samples,
    sessions,
    settings,
    sign_ins,
    usage,
    version_diff,
    version_tree,
    versions,
    webhook_endpoints,
)
from corpus2skill.entrypoints.web import screens, sign_in
from corpus2skill.entrypoints.web.lost import answer_people_with_pages

_ROUTES = (
    me,
    members,
    invitations,
    password,
    sign_ins,
    api_tokens,
    audit_events,
    corpora,
    documents,
    samples,
    jobs,
    versions,
    version_tree,
    version_diff,
    exam_questions,
    exams,
    queue,
    sessions,
    runs,
    records,
    exports,
    events,
    provider_credentials,
    settings,
    usage,
    retention,
    evidence,
    webhook_endpoints,
)
_MOST_BYTES = 1_000_000
"""Of a body; a route that takes more says so (`max_body_size`)."""


def create_app(server: Server, worker: WorkerState = no_worker) -> FastAPI:
    """Return the application over an opened server; `worker` tells whether its worker runs."""
    app = FastAPI(
        title="Corpus2Skill",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
        generate_unique_id_function=operation_id,
        lifespan=living,
    )
    told = server.server_settings
    app.state.server = server
    app.state.worker = worker
    app.state.requests = RateLimit(server.clock, told.requests_per_minute)
    app.state.questions = RateLimit(server.clock, told.questions_per_minute)
    app.state.hub = EventHub(server.events)
    app.state.runs = RunHost(server)
    app.state.endings = list[Callable[[float], None]]((app.state.runs.stop,))
    """Called in a thread, with the seconds that it may take, when the server is asked to stop."""
    answer_with_problems(app)
    answer_people_with_pages(app)
    for module in _ROUTES:
        app.include_router(module.router, prefix="/v1", responses=PROBLEMS, max_body_size=_MOST_BYTES)
    app.include_router(health.router, max_body_size=_MOST_BYTES)
    app.include_router(screens.router, max_body_size=_MOST_BYTES)
    app.include_router(sign_in.router, max_body_size=_MOST_BYTES)
    describe(app)
    for guard, options in _guards(server):
        app.add_middleware(guard, **options)
    return app


def _guards(server: Server) -> tuple[tuple[type, dict[str, object]], ...]:
    """What stands around the routes, from the inside out."""
    return (
        (HostGuard, {"names": names_of(server.server_settings)}),
        (TooLargeAsProblem, {}),
        (HeadAsGet, {}),
        (SafeHeaders, {}),
        (RequestLog, {"measures": server.measures}),
        (SubPath, {"root_path": server.server_settings.root_path}),
    )
