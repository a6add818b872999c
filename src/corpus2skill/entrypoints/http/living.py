"""The application's beginning and end: runs are looked after between them, streams end before it does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from corpus2skill.application.server.event_hub import EventHub
from corpus2skill.application.server.runs import RunHost
from corpus2skill.application.server_wiring import Server


@asynccontextmanager
async def living(app: FastAPI) -> AsyncGenerator[None]:
    """Begin with the runs that a dead process left; end as `let_go`, unless that was called before."""
    _runs_of(app).start()
    try:
        yield
    finally:
        await let_go(app)


async def let_go(app: FastAPI) -> None:
    """Take on no more runs, let those in flight finish within the time set, end the others, end all streams.

    To be called when the server is asked to stop, before it waits for its connections: streams hold these open.
    """
    server = app.state.server
    assert isinstance(server, Server)
    await asyncio.to_thread(_runs_of(app).stop, server.server_settings.stop_seconds)
    hub = app.state.hub
    assert isinstance(hub, EventHub)
    hub.close()


def _runs_of(app: FastAPI) -> RunHost:
    runs = app.state.runs
    assert isinstance(runs, RunHost)
    return runs
