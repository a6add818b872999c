"""The worker process: everything that the server does in the background, beside the door."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from corpus2skill import __version__
from corpus2skill.application.server.deliver_announcements import deliver_announcements
from corpus2skill.application.server.exam_worker import carry_out_exams
from corpus2skill.application.server.idempotency import forget_old_answers
from corpus2skill.application.server.inspect_uploads import inspect_uploads
from corpus2skill.application.server.job_worker import JobWorker
from corpus2skill.application.server.purge_uploads import purge_uploads
from corpus2skill.application.server.resting import Rest
from corpus2skill.application.server.retain import retain
from corpus2skill.application.server.waiting_jobs import wake_jobs
from corpus2skill.application.server_wiring import Server, open_job_engine, worker_presence
from corpus2skill.domain.moments import moment_of
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.ports.job_engine import JobEngine
from corpus2skill.ports.workers import Presence, Worker

_log = logging.getLogger(__name__)

Duty = Callable[[Server, asyncio.Event], Awaitable[None]]
"""Works until the event is set, and then leaves what it was at so that another process can go on with it."""

_TURN_SECONDS = 0.2
_UNSEEN_SECONDS = 0.3
"""More, where there is nothing to do and nobody sees when there will be."""
_REST_SECONDS = 1.0
"""After a fault of the database or the disk."""
_BEGIN_AGAIN_SECONDS = 5.0


async def carry_out_jobs(server: Server, stop: asyncio.Event) -> None:
    """The duty: take up queued jobs and carry them out."""
    presence, place = worker_presence(server)
    me = _worker(server, place)
    if not await _held(presence, me, stop):
        return
    engine = await _opened(server, me, stop)
    if engine is None:
        presence.release()
        return
    worker, rest = JobWorker(server, engine, presence, me), Rest(server, _UNSEEN_SECONDS)
    while not stop.is_set():
        rest.look()
        await _pause(stop, await asyncio.to_thread(_turned, worker))
        if worker.is_idle:
            await rest.until_written(stop)
    await asyncio.to_thread(_left, worker)


DUTIES: tuple[Duty, ...] = (
    carry_out_jobs,
    inspect_uploads,
    carry_out_exams,
    purge_uploads,
    forget_old_answers,
    deliver_announcements,
    retain,
    wake_jobs,
)
"""What a worker does, side by side."""


async def run_worker(server: Server, stop: asyncio.Event, duties: tuple[Duty, ...] = DUTIES) -> None:
    """Do all duties until `stop` is set; one that breaks is begun again and holds up none of the others."""
    await asyncio.gather(*(_kept_up(duty, server, stop) for duty in duties))


async def _kept_up(duty: Duty, server: Server, stop: asyncio.Event) -> None:
    while not stop.is_set():
        try:
            await duty(server, stop)
        except Exception:  # noqa: BLE001 - a door: whatever broke, the other duties and the next try go on
            _log.exception("a duty of the worker broke; it is begun again")
            await _pause(stop, _BEGIN_AGAIN_SECONDS)


def _worker(server: Server, place: str) -> Worker:
    return Worker(
        worker=server.ids.new("worker"),
        place=place,
        release=__version__,
        started_at=moment_of(server.clock.now()),
    )


async def _held(presence: Presence, me: Worker, stop: asyncio.Event) -> bool:
    """Wait until no other process is the worker of this folder; False where it is to stop before."""
    is_told = False
    while not stop.is_set():
        if await asyncio.to_thread(presence.hold, me.worker):
            return True
        if not is_told:
            _log.warning("another worker holds this server's folder; waiting until it is gone")
            is_told = True
        await _pause(stop, _REST_SECONDS)
    return False


async def _opened(server: Server, me: Worker, stop: asyncio.Event) -> JobEngine | None:
    """The engine, as soon as its database answers."""
    while not stop.is_set():
        try:
            return await asyncio.to_thread(open_job_engine, server, me.worker)
        except Corpus2SkillError:
            _log.warning("the job engine cannot be opened now; tried again", exc_info=True)
            await _pause(stop, _REST_SECONDS)
    return None


def _turned(worker: JobWorker) -> float:
    """Turn once; return how long to rest then."""
    try:
        worker.turn()
    except Corpus2SkillError:
        _log.warning("jobs cannot be looked after now; tried again", exc_info=True)
        return _REST_SECONDS
    return _TURN_SECONDS


def _left(worker: JobWorker) -> None:
    try:
        worker.leave()
    except Corpus2SkillError:
        _log.warning("the worker left without a word; its jobs are taken over later", exc_info=True)


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()
