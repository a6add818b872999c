"""The application's beginning and end: runs are looked after between them, streams end before it does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from corpus2skill.application.server.event_hub import EventHub
from corpus2skill.application.server.job_watch import watch_jobs
from corpus2skill.application.server.runs import RunHost
from corpus2skill.application.server_wiring import Server


@asynccontextmanager
async def living(app: FastAPI) -> AsyncGenerator[None]:
    """Begin with the runs that a dead process left, and watch whether jobs are worked on.

    What has not been ended before the application is ended now.
    """
    server, runs, hub = app.state.server, app.state.runs, app.state.hub
    assert isinstance(server, Server)
    assert isinstance(runs, RunHost)
    assert isinstance(hub, EventHub)
    runs.start()
    stop = asyncio.Event()
    watching = asyncio.create_task(watch_jobs(server, stop))
    try:
        yield
    finally:
        stop.set()
        watching.cancel()
        await asyncio.to_thread(runs.stop, server.server_settings.stop_seconds)
        hub.close()
