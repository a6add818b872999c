"""`/v1/corpora/{c}/jobs` and `/v1/jobs`: compiles in the background."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from corpus2skill.application.server.corpora import require_corpus
from corpus2skill.application.server.job_estimate import estimate_job
from corpus2skill.application.server.jobs import cancel_job, continue_job, retry_job, start_job
from corpus2skill.domain.event_log import job_topic
from corpus2skill.domain.job import Stage
from corpus2skill.domain.language import Language
from corpus2skill.domain.server_job import (
    Cause,
    Estimate,
    EstimateLine,
    FailedItem,
    JobMoney,
    JobOptions,
    JobState,
    ServerJob,
    StageState,
)
from corpus2skill.entrypoints.http.bodies import RequestBody
from corpus2skill.entrypoints.http.caller import Reader, TheServer, Writer
from corpus2skill.entrypoints.http.event_stream import STREAM_ANSWERS, Watching
from corpus2skill.entrypoints.http.idempotency import IdempotentRoute
from corpus2skill.entrypoints.http.paging import Cursor, Limit, Page, page
from corpus2skill.entrypoints.http.speech import language_of
from corpus2skill.errors import Corpus2SkillError, Phrase
from corpus2skill.messages import error_message, has_message, message

router = APIRouter(tags=["jobs"], route_class=IdempotentRoute)

Dollars = Annotated[float, Field(gt=0, le=1_000_000)]


class JobRequest(RequestBody):
    model: Annotated[str | None, Field(max_length=200)] = None
    """`offline`, `provider` or `provider:name`; null, here and below: as the settings say."""
    summary_model: Annotated[str | None, Field(max_length=200)] = None
    grouping_model: Annotated[str | None, Field(max_length=200)] = None
    max_cost: Dollars | None = None
    """US dollars that the job may spend, all its attempts together. Reached, it pauses."""
    estimate_id: Annotated[str | None, Field(max_length=100)] = None
    """The estimate that was shown. Its models are the job's. 412 where a compile now would be another one."""
    batch: bool = False
    """Summaries through the provider's batch interface."""
    regroup: bool = False
    """Start the groups afresh."""
    strict: bool = False
    """Publish nothing if a source was refused or a summary is a stand-in."""
    confirmed: bool = False
    """Switch even if more than a fifth of the sources would go."""
    activate: bool = True
    """Switch to the new version."""
    dry_run: bool = False
    """Answer with the estimate, as `?dry_run=true`."""


class CauseBody(BaseModel):
    code: str
    message: str
    values: dict[str, str | int | float | bool | None]


class StageBody(BaseModel):
    stage: Stage
    done: int
    total: int
    tries: int
    ms: int
    is_done: bool


class JobMoneyBody(BaseModel):
    calls: int
    reused: int
    retries: int
    input_tokens: int
    output_tokens: int
    dollars: float | None
    """Null: a price is unknown."""
    saved: float | None


class FailedItemBody(BaseModel):
    source: str
    verdict: str
    detail: str | None
    reason: str


class SpanBody(BaseModel):
    low: float
    high: float


class EstimateLineBody(BaseModel):
    purpose: str
    model: str
    calls: SpanBody
    input_tokens: SpanBody
    output_tokens: SpanBody
    dollars: SpanBody | None
    """Null: the price is unknown."""


class EstimateBody(BaseModel):
    estimate_id: str
    corpus: str
    created_at: str
    chunks: int
    to_summarize: int
    """Texts without a summary by these models yet."""
    to_group: int
    refused: int
    """Sources that cannot become text."""
    lines: list[EstimateLineBody]
    """One for each purpose with calls to pay; empty where nothing is paid for."""
    dollars: SpanBody | None
    """Of all lines; null: a price is unknown."""
    minutes: SpanBody | None
    """How long the calls will probably take; null where nothing is called."""


class JobOptionsBody(BaseModel):
    model: str | None
    summary_model: str | None
    grouping_model: str | None
    max_cost: float | None
    batch: bool
    regroup: bool
    strict: bool
    confirmed: bool
    activate: bool


class JobBody(BaseModel):
    job_id: str
    corpus: str
    created_by: str
    created_at: str
    started_at: str | None
    ended_at: str | None
    state: JobState
    state_at: str
    cause: CauseBody | None
    """Why it is in its state."""
    is_cancelling: bool
    attempt: int
    retry_at: str | None
    """When a stalled job is tried again by itself."""
    options: JobOptionsBody
    stages: list[StageBody]
    waiting: CauseBody | None
    """What a running job waits for: a provider that asks for patience, a batch."""
    spent: JobMoneyBody
    estimate: EstimateBody | None
    """What was shown before it was started."""
    version: int | None
    is_new: bool
    """False where nothing differs from the version before, which stays."""
    is_activated: bool
    warnings: int
    stand_ins: int
    failed_count: int
    failed_items: list[FailedItemBody]


class ContinueRequest(RequestBody):
    max_cost: Dollars
    """US dollars for all attempts together, more than was spent."""


class RetryRequest(RequestBody):
    confirmed: bool = False
    """Switch even if more than a fifth of the sources would go."""
    max_cost: Dollars | None = None


@router.post("/corpora/{corpus}/jobs", status_code=202, responses={200: {"description": "The estimate."}})
def create_job(
    corpus: str,
    wanted: JobRequest,
    principal: Writer,
    server: TheServer,
    request: Request,
    response: Response,
    *,
    dry_run: Annotated[bool, Query(description="Answer with an estimate; nothing is begun.")] = False,
) -> JobBody | EstimateBody:
    """Queue a compile of the corpus, or say what it would come to.

    A compile that is paid for needs an `estimate_id` or a `max_cost`: 409 without either.
    """
    options = _options(wanted)
    if dry_run or wanted.dry_run:
        response.status_code = 200
        return _estimate_body(estimate_job(server, principal, corpus, options))
    job = start_job(server, principal, corpus, options, wanted.estimate_id)
    response.headers["Location"] = str(request.url_for("show_job", job_id=job.job).path)
    return _body(job, language_of(request))


@router.get("/corpora/{corpus}/jobs")
def list_corpus_jobs(
    corpus: str,
    principal: Reader,
    server: TheServer,
    request: Request,
    limit: Limit = 50,
    cursor: Cursor = None,
    state: Annotated[list[JobState] | None, Query()] = None,
) -> Page[JobBody]:
    """The jobs of a corpus, the newest first."""
    require_corpus(server, principal.tenant, corpus)
    rows = server.jobs.jobs(
        principal.tenant, corpus=corpus, states=state or (), before=cursor, limit=limit + 1
    )
    return page(rows, limit, lambda job: _body(job, language_of(request)), lambda job: job.job)


@router.get("/jobs")
def list_jobs(
    principal: Reader,
    server: TheServer,
    request: Request,
    limit: Limit = 50,
    cursor: Cursor = None,
    state: Annotated[list[JobState] | None, Query()] = None,
) -> Page[JobBody]:
    """The jobs of all corpora, the newest first."""
    rows = server.jobs.jobs(principal.tenant, states=state or (), before=cursor, limit=limit + 1)
    return page(rows, limit, lambda job: _body(job, language_of(request)), lambda job: job.job)


@router.get("/jobs/{job_id}")
def show_job(job_id: str, principal: Reader, server: TheServer, request: Request) -> JobBody:
    """A job: its state and why, how far it is, what it spent, and the sources that did not come through."""
    return _body(server.jobs.job(principal.tenant, job_id), language_of(request))


@router.get("/jobs/{job_id}/events", responses=STREAM_ANSWERS, response_class=Response)
def watch_job(job_id: str, principal: Reader, server: TheServer, watching: Watching) -> Response:
    """The job's events as they happen: `job.state`, `job.progress`, `job.item_failed`."""
    server.jobs.job(principal.tenant, job_id)
    return watching.stream(principal.tenant, job_topic(job_id))


@router.post("/jobs/{job_id}/cancel", status_code=202, operation_id="cancel_job")
def cancel(job_id: str, principal: Writer, server: TheServer, request: Request) -> JobBody:
    """Stop a job. When this answers, no call is sent any more but those that are on their way.

    `is_cancelling` stays true until those are answered. What was paid for is kept; the live version is untouched.
    """
    return _body(cancel_job(server, principal, job_id), language_of(request))


@router.post("/jobs/{job_id}/retry", status_code=202, operation_id="retry_job")
def retry(
    job_id: str, principal: Writer, server: TheServer, request: Request, wanted: RetryRequest | None = None
) -> JobBody:
    """Try a job again that failed, stalled, was cancelled or waits for a key. Nothing is paid for twice."""
    wanted = wanted or RetryRequest()
    job = retry_job(server, principal, job_id, confirmed=wanted.confirmed, max_cost=wanted.max_cost)
    return _body(job, language_of(request))


@router.post("/jobs/{job_id}/continue", status_code=202, operation_id="continue_job")
def continue_(
    job_id: str, wanted: ContinueRequest, principal: Writer, server: TheServer, request: Request
) -> JobBody:
    """Let a job go on that is paused by its budget, with a higher cap."""
    return _body(continue_job(server, principal, job_id, wanted.max_cost), language_of(request))


def _options(wanted: JobRequest) -> JobOptions:
    return JobOptions(
        model=wanted.model,
        summary_model=wanted.summary_model,
        grouping_model=wanted.grouping_model,
        max_cost=wanted.max_cost,
        batch=wanted.batch,
        regroup=wanted.regroup,
        strict=wanted.strict,
        confirmed=wanted.confirmed,
        activate=wanted.activate,
    )


def _body(job: ServerJob, language: Language) -> JobBody:
    progress = job.progress
    return JobBody(
        job_id=job.job,
        corpus=job.corpus,
        created_by=job.created_by,
        created_at=job.created_at,
        started_at=job.started_at,
        ended_at=job.ended_at,
        state=job.state,
        state_at=job.state_at,
        cause=_cause_body(job.cause, language),
        is_cancelling=job.is_cancelling,
        attempt=job.attempt,
        retry_at=job.retry_at,
        options=_options_body(job.options),
        stages=[_stage_body(stage) for stage in progress.stages],
        waiting=_cause_body(progress.waiting if job.state == "running" else None, language),
        spent=_money_body(progress.money),
        estimate=None if job.estimate is None else _estimate_body(job.estimate),
        version=job.version,
        is_new=job.is_new,
        is_activated=job.is_activated,
        warnings=job.warnings,
        stand_ins=job.stand_ins,
        failed_count=progress.failed_count,
        failed_items=[_failed_body(item, language) for item in progress.failed_items],
    )


def _options_body(options: JobOptions) -> JobOptionsBody:
    return JobOptionsBody(
        model=options.model,
        summary_model=options.summary_model,
        grouping_model=options.grouping_model,
        max_cost=options.max_cost,
        batch=options.batch,
        regroup=options.regroup,
        strict=options.strict,
        confirmed=options.confirmed,
        activate=options.activate,
    )


def _stage_body(stage: StageState) -> StageBody:
    return StageBody(
        stage=stage.stage,
        done=stage.done,
        total=stage.total,
        tries=stage.tries,
        ms=stage.ms,
        is_done=stage.is_done,
    )


def _money_body(money: JobMoney) -> JobMoneyBody:
    return JobMoneyBody(
        calls=money.calls,
        reused=money.reused,
        retries=money.retries,
        input_tokens=money.input_tokens,
        output_tokens=money.output_tokens,
        dollars=money.dollars,
        saved=money.saved,
    )


def _estimate_body(estimate: Estimate) -> EstimateBody:
    known = [line.dollars for line in estimate.lines if line.dollars is not None]
    whole = (sum(low for low, _ in known), sum(high for _, high in known))
    return EstimateBody(
        estimate_id=estimate.estimate,
        corpus=estimate.corpus,
        created_at=estimate.created_at,
        chunks=estimate.chunks,
        to_summarize=estimate.to_summarize,
        to_group=estimate.to_group,
        refused=estimate.refused,
        lines=[_line_body(line) for line in estimate.lines],
        dollars=_span(whole) if len(known) == len(estimate.lines) else None,
        minutes=None if estimate.minutes is None else _span(estimate.minutes),
    )


def _line_body(line: EstimateLine) -> EstimateLineBody:
    return EstimateLineBody(
        purpose=line.purpose,
        model=line.model,
        calls=_span(line.calls),
        input_tokens=_span(line.input_tokens),
        output_tokens=_span(line.output_tokens),
        dollars=None if line.dollars is None else _span(line.dollars),
    )


def _span(pair: tuple[float, float]) -> SpanBody:
    return SpanBody(low=pair[0], high=pair[1])


def _cause_body(cause: Cause | None, language: Language) -> CauseBody | None:
    if cause is None:
        return None
    values = {
        name: Phrase(value) if isinstance(value, str) and has_message(value) else value
        for name, value in cause.values.items()
    }
    try:
        said = error_message(language, Corpus2SkillError(cause.code, **values))
    except KeyError:  # of a release with other words
        said = cause.code
    return CauseBody(code=cause.code, message=said, values=dict(cause.values))


def _failed_body(item: FailedItem, language: Language) -> FailedItemBody:
    return FailedItemBody(
        source=item.source, verdict=item.verdict, detail=item.detail, reason=_reason(item, language)
    )


def _reason(item: FailedItem, language: Language) -> str:
    """The most exact sentence whose values are known."""
    verdict = item.detail or "" if item.verdict == "kept" else item.verdict
    for key in (f"refused.{verdict}.{item.detail}", f"refused.{verdict}", f"verdict.{verdict}"):
        if has_message(key):
            try:
                return message(language, key, **item.values)
            except KeyError:
                continue
    return item.verdict
