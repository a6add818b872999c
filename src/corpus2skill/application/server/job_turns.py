"""Every change of a job's state: written, told to who watches, announced to the customer's own systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from corpus2skill.application.json_form import to_json
from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.event_log import NewEvent, job_topic
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.server_job import (
    ENDED,
    Cause,
    FailedItem,
    JobState,
    Progress,
    ServerJob,
)

Turn = Callable[[ServerJob], ServerJob | None]


def turn_job(server: Server, tenant: str, job: str, turn: Turn) -> ServerJob | None:
    """Change a job and tell it; None where `turn` leaves it as it is.

    Raises:
        ThingNotFound: the tenant has no such job.
    """
    changed = server.jobs.change(tenant, job, turn)
    if changed is not None:
        tell_state(server, changed)
    return changed


def becoming(server: Server, job: ServerJob, state: JobState, cause: Cause | None = None) -> ServerJob:
    """The job in another state from now on."""
    now = moment_of(server.clock.now())
    is_over = state in ENDED
    return replace(
        job,
        state=state,
        state_at=now,
        cause=cause,
        is_cancelling=job.is_cancelling and not is_over and state == "running",
        is_quiet=False,
        ended_at=now if is_over else None,
        retry_at=None,
    )


def tell_state(server: Server, job: ServerJob) -> None:
    """Tell whoever watches, and announce what a customer's own systems may wait for."""
    server.events.append(job.tenant, job_topic(job.job), [state_event(job)])
    if job.state in ENDED:
        server.traces.job(job)
    values = {"job_id": job.job, "corpus": job.corpus, "code": None if job.cause is None else job.cause.code}
    match job.state:
        case "succeeded":
            came = {**values, "version": job.version, "is_new": job.is_new, "warnings": job.warnings}
            server.announcer.announce(job.tenant, "compilation.succeeded", came)
            if job.is_new and job.is_activated:
                published = {"corpus": job.corpus, "version": job.version, "job_id": job.job}
                server.announcer.announce(job.tenant, "version.published", published)
        case "failed":
            server.announcer.announce(job.tenant, "compilation.failed", values)
        case "paused_budget" | "waiting_for_key":
            server.announcer.announce(job.tenant, "compilation.paused", {**values, "state": job.state})
        case "stalled" if job.retry_at is None:
            server.announcer.announce(job.tenant, "compilation.paused", {**values, "state": job.state})
        case _:
            pass


def state_event(job: ServerJob) -> NewEvent:
    return NewEvent(
        kind="job.state",
        payload={
            "state": job.state,
            "at": job.state_at,
            "cause": None if job.cause is None else _cause(job.cause),
            "attempt": job.attempt,
            "is_cancelling": job.is_cancelling,
            "version": job.version,
            "warnings": job.warnings,
            "retry_at": job.retry_at,
            "is_last": job.state in ENDED,
        },
    )


def progress_event(progress: Progress) -> NewEvent:
    """Without the failed items, each of which has an event of its own."""
    return NewEvent(
        kind="job.progress",
        payload={
            "stages": to_json(progress.stages),
            "money": to_json(progress.money),
            "failed_count": progress.failed_count,
            "waiting": None if progress.waiting is None else _cause(progress.waiting),
        },
    )


def failed_event(item: FailedItem) -> NewEvent:
    payload = {
        "source": item.source,
        "verdict": item.verdict,
        "detail": item.detail,
        "values": dict(item.values),
    }
    return NewEvent(kind="job.item_failed", payload=payload)


def _cause(cause: Cause) -> Mapping[str, object]:
    return {"code": cause.code, "values": dict(cause.values)}
