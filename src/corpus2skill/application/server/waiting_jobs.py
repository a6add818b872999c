"""Jobs that wait for something which came without anybody telling them: a key, a new month, a higher cap."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from corpus2skill.application.server.job_turns import becoming, turn_job
from corpus2skill.application.server_wiring import Server
from corpus2skill.application.wiring import TENANT
from corpus2skill.domain.server_job import ServerJob
from corpus2skill.domain.usage import day_of, first_of_month
from corpus2skill.errors import Corpus2SkillError

_log = logging.getLogger(__name__)

_LOOK_SECONDS = 60.0
_MOST = 10_000
MONTH_CODE = "month_cap_reached"


async def wake_jobs(server: Server, stop: asyncio.Event) -> None:
    """The duty: let jobs go on that wait for no reason any more.

    At the start those, too, that wait for a key which is there: it may have come while no worker was.
    """
    is_first = True
    while not stop.is_set():
        try:
            await asyncio.to_thread(wake_all, server, with_keys=is_first)
            is_first = False
        except Corpus2SkillError:
            _log.warning("waiting jobs cannot be looked after now; tried again", exc_info=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(_LOOK_SECONDS):
                await stop.wait()


def wake_all(server: Server, *, with_keys: bool) -> None:
    """Look at the jobs of all tenants."""
    for tenant in dict.fromkeys((TENANT, *(one.tenant for one in server.tenants.tenants()))):
        for job in server.jobs.jobs(tenant, states=("paused_budget",), limit=_MOST):
            if _is_of_earlier_month(server, job):
                _queue(server, job)
        if with_keys:
            for job in server.jobs.jobs(tenant, states=("waiting_for_key",), limit=_MOST):
                if _has_key(server, job):
                    _queue(server, job)


def budget_changed(server: Server, tenant: str) -> None:
    """Let the jobs go on that the month's cap has paused: it is another one now."""
    for job in server.jobs.jobs(tenant, states=("paused_budget",), limit=_MOST):
        if _waits_for_month(job):
            _queue(server, job)


def key_came_meanwhile(server: Server, job: ServerJob, revision: str) -> None:
    """Let a job go on that has just begun to wait for a key, if the keys are others than when it began."""
    if job.state == "waiting_for_key" and server.keys(job.tenant).revision() != revision:
        _queue(server, job)


def _is_of_earlier_month(server: Server, job: ServerJob) -> bool:
    return _waits_for_month(job) and job.state_at < day_of(first_of_month(server.clock.now()))


def _waits_for_month(job: ServerJob) -> bool:
    return job.cause is not None and job.cause.code == MONTH_CODE


def _has_key(server: Server, job: ServerJob) -> bool:
    provider = "" if job.cause is None else str(job.cause.values.get("model", "")).partition(":")[0]
    return bool(provider) and server.keys(job.tenant).key(provider) is not None


def _queue(server: Server, job: ServerJob) -> None:
    """Queue a job that is still in the state it was seen in."""

    def turn(was: ServerJob) -> ServerJob | None:
        if (was.state, was.state_at) != (job.state, job.state_at):
            return None
        return becoming(server, was, "queued")

    turn_job(server, job.tenant, job.job, turn)
