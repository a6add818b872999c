"""What people and programs do with jobs: start, cancel, continue, retry; and what goes on by itself."""

from __future__ import annotations

import time
from dataclasses import replace

from corpus2skill.application.compile_documents import models_of_compile
from corpus2skill.application.server.corpora import require_corpus
from corpus2skill.application.server.job_estimate import (
    job_compile_options,
    money_options,
    require_current,
)
from corpus2skill.application.server.job_turns import becoming, tell_state, turn_job
from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.people import Principal
from corpus2skill.domain.server_job import (
    ENDED,
    REPEATABLE,
    STOPPABLE,
    Estimate,
    JobOptions,
    ServerJob,
)
from corpus2skill.errors import ConfirmationNeeded, Conflict, InvalidInput

SLACK = 2.0
"""A job without a cap of its own may spend this many times the high end of the estimate that was shown: near a
cap each call is held to the most that it could cost."""
_LEAST_CAP = 0.01
_CANCEL_SECONDS = 10.0
_LOOK_SECONDS = 0.05
RETRIES = 3


def start_job(
    server: Server, by: Principal, corpus: str, options: JobOptions, estimate: str | None = None
) -> ServerJob:
    """Queue a compile. One that is paid for needs an estimate that was shown, or a cap.

    Raises:
        CorpusNotFound, ThingNotFound: there is no such corpus or estimate.
        Outrun: the estimate is of other documents or models than a compile now would be.
        ConfirmationNeeded: it is paid for, and there is neither an estimate nor a cap.
        InvalidInput: options that cannot be used.
    """
    require_corpus(server, by.tenant, corpus)
    shown = None if estimate is None else server.jobs.estimate(by.tenant, estimate)
    if shown is not None:
        options = require_current(server, shown, corpus, options)
    job = ServerJob(
        job=server.ids.new("job"),
        tenant=by.tenant,
        corpus=corpus,
        created_by=by.actor,
        created_at=moment_of(server.clock.now()),
        options=replace(options, max_cost=_cap(server, by.tenant, corpus, options, shown)),
        state_at=moment_of(server.clock.now()),
        estimate=shown,
    )
    server.jobs.add(job)
    server.audit.note(by.tenant, by.actor, "job.started", job.job, corpus=corpus)
    tell_state(server, job)
    return job


def cancel_job(server: Server, by: Principal, job: str, patience: float = _CANCEL_SECONDS) -> ServerJob:
    """Stop a job. Returns when it sends no call any more but those on their way, or after `patience` seconds.

    Raises:
        ThingNotFound: there is no such job.
        Conflict: it has ended in another way.
    """

    def turn(was: ServerJob) -> ServerJob | None:
        if was.state in STOPPABLE:
            return becoming(server, was, "cancelled")
        if was.state == "running" and not was.is_cancelling:
            return replace(was, is_cancelling=True)
        return None

    was = server.jobs.job(by.tenant, job)
    if was.state in ENDED and was.state != "cancelled":
        raise Conflict("job_over", job=job, state=was.state)
    if turn_job(server, by.tenant, job, turn) is not None:
        server.audit.note(by.tenant, by.actor, "job.cancelled", job, corpus=was.corpus)
    return _quiet(server, by.tenant, job, patience)


def retry_job(
    server: Server, by: Principal, job: str, *, confirmed: bool = False, max_cost: float | None = None
) -> ServerJob:
    """Queue a job once more that failed, stalled, was cancelled or waits for a key. Nothing is paid again.

    Raises:
        ThingNotFound: there is no such job.
        Conflict: it is in a state in which there is nothing to be tried again.
    """
    was = server.jobs.job(by.tenant, job)

    def turn(was: ServerJob) -> ServerJob | None:
        if was.state not in REPEATABLE:
            return None
        options = replace(
            was.options,
            confirmed=was.options.confirmed or confirmed,
            max_cost=was.options.max_cost if max_cost is None else max_cost,
        )
        return replace(becoming(server, was, "queued"), options=options, retries_left=RETRIES)

    changed = turn_job(server, by.tenant, job, turn)
    if changed is None:
        raise Conflict("job_not_repeatable", job=job, state=was.state)
    server.audit.note(by.tenant, by.actor, "job.retried", job, corpus=was.corpus, state=was.state)
    return changed


def continue_job(server: Server, by: Principal, job: str, max_cost: float) -> ServerJob:
    """Let a job go on that its cap, or an estimate that grew, has paused.

    Raises:
        ThingNotFound: there is no such job.
        Conflict: it is not paused.
        InvalidInput: the cap lies below what was spent.
    """

    def turn(was: ServerJob) -> ServerJob | None:
        if was.state != "paused_budget":
            return None
        spent = was.progress.money.dollars
        if spent is not None and max_cost <= spent:
            raise InvalidInput("cap_below_spent", cap=_shown(max_cost), spent=_shown(spent))
        return replace(becoming(server, was, "queued"), options=replace(was.options, max_cost=max_cost))

    was = server.jobs.job(by.tenant, job)
    changed = turn_job(server, by.tenant, job, turn)
    if changed is None:
        raise Conflict("job_not_paused", job=job, state=was.state)
    server.audit.note(by.tenant, by.actor, "job.continued", job, corpus=was.corpus, cap=_shown(max_cost))
    return changed


def key_arrived(server: Server, tenant: str, provider: str) -> tuple[str, ...]:
    """Let the jobs go on that wait for a key of this provider; return their ids."""

    def turn(was: ServerJob) -> ServerJob | None:
        if was.state != "waiting_for_key":
            return None
        return becoming(server, was, "queued")

    waiting = server.jobs.jobs(tenant, states=("waiting_for_key",), limit=10_000)
    meant = [job.job for job in reversed(waiting) if _waits_for(job, provider)]
    return tuple(job for job in meant if turn_job(server, tenant, job, turn) is not None)


def _waits_for(job: ServerJob, provider: str) -> bool:
    model = "" if job.cause is None else str(job.cause.values.get("model", ""))
    return not model or model.partition(":")[0] == provider


def _cap(
    server: Server, tenant: str, corpus: str, options: JobOptions, shown: Estimate | None
) -> float | None:
    """The cap in force, in US dollars; None where nothing is paid for, or the price of what was shown is unknown."""
    compile_options = job_compile_options(server, tenant, corpus, options)
    models = models_of_compile(server.workspace(tenant), compile_options)
    if not models.is_paid:
        return options.max_cost
    if models.max_cost is not None:
        return models.max_cost
    if shown is None or money_options(shown.options) != money_options(options):
        raise ConfirmationNeeded("estimate_or_cap", corpus=corpus)
    most = shown.most_dollars
    return None if most is None else max(_LEAST_CAP, most * SLACK)


def _quiet(server: Server, tenant: str, job: str, patience: float) -> ServerJob:
    """The job, once it is quiet or has ended; as it is, after `patience` seconds."""
    until = server.clock.monotonic() + patience
    while True:
        now = server.jobs.job(tenant, job)
        if now.state != "running" or now.is_quiet or server.clock.monotonic() >= until:
            return now
        time.sleep(_LOOK_SECONDS)


def _shown(dollars: float) -> str:
    return f"{dollars:.4f}".rstrip("0").rstrip(".")
