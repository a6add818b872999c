"""`/v1/corpora/{corpus}/test-runs`: all test questions, asked of one version."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from corpus2skill.application.server import exams
from corpus2skill.application.server.corpora import corpus_settings, require_corpus
from corpus2skill.application.server.exam_gate import fingerprint_of
from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.event_log import exam_topic
from corpus2skill.domain.exam import Change, ComparedResult, Exam, ExamState
from corpus2skill.domain.run import Outcome
from corpus2skill.entrypoints.http.caller import Reader, TheServer, Writer
from corpus2skill.entrypoints.http.event_stream import STREAM_ANSWERS, Watching
from corpus2skill.entrypoints.http.idempotency import IdempotentRoute
from corpus2skill.entrypoints.http.ids import Id
from corpus2skill.entrypoints.http.links import link
from corpus2skill.entrypoints.http.paging import Cursor, Limit, Page, page
from corpus2skill.entrypoints.http.speech import language_of
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.messages import error_message

router = APIRouter(prefix="/corpora/{corpus}/test-runs", tags=["tests"], route_class=IdempotentRoute)

Dollars = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]


class ExamRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Annotated[int, Field(ge=1, le=999_999_999)]
    model: Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[!-~]+$")] | None = None
    """With which the questions are answered; null: as askers are answered."""
    max_cost: Dollars | None = None
    """US dollars. Needed where the model is paid for."""


class ContinueRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    max_cost: Dollars | None = None
    """The new cap; null leaves it."""


class ExamCauseBody(BaseModel):
    code: str
    message: str


class ExamBody(BaseModel):
    test_run_id: str
    corpus: str
    version: int
    model: str
    max_cost: float | None
    state: ExamState
    cause: ExamCauseBody | None
    """Why it does not go on, or why nothing was switched to."""
    questions: int
    done: int
    passed: int
    score: float | None
    """Share that went well; null before the end."""
    dollars: float
    is_good: bool
    """As many went well as the corpus's settings want."""
    is_of_today: bool
    """The questions have not changed since."""
    job_id: str | None
    """The compile whose version is switched to when the questions go well."""
    is_switched: bool
    created_by: str
    created_at: str
    started_at: str | None
    ended_at: str | None


class ResultBody(BaseModel):
    position: int
    question_id: str
    question: str
    expected_sources: list[str]
    expects_not_found: bool
    outcome: Outcome | None
    """Null: not asked yet."""
    is_passed: bool
    source_hit: bool | None
    """An expected source was read; null where none is expected."""
    steps: int
    ms: int
    dollars: float | None
    run_id: str | None
    change: Change | None
    """Since `compared_with`; null where there is nothing to compare."""
    was_passed: bool | None


class ResultPage(Page[ResultBody]):
    compared_with: str | None
    """The newest earlier test run that ended on another version."""
    compared_version: int | None


@router.get("")
def list_test_runs(
    corpus: Id,
    request: Request,
    principal: Reader,
    server: TheServer,
    version: int | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[ExamBody]:
    """Test runs of the corpus, newest first."""
    require_corpus(server, principal.tenant, corpus)
    found = server.exams.exams(
        principal.tenant, corpus, version=_known(version), before=cursor, limit=limit + 1
    )
    shown = _Shown(server, principal.tenant, corpus, request)
    return page(found, limit, shown.body, lambda exam: exam.exam)


@router.post("", status_code=202)
def start_test_run(
    corpus: Id,
    wanted: ExamRequest,
    request: Request,
    principal: Writer,
    server: TheServer,
    response: Response,
) -> ExamBody:
    """Ask all of today's test questions of a version. A model that is paid for needs a cap."""
    exam = exams.start_exam(
        server, principal, corpus, wanted.version, model=wanted.model, max_cost=wanted.max_cost
    )
    response.headers["Location"] = link(request, f"/v1/corpora/{corpus}/test-runs/{exam.exam}")
    return _Shown(server, principal.tenant, corpus, request).body(exam)


@router.get("/{test_run_id}")
def show_test_run(
    corpus: Id, test_run_id: Id, request: Request, principal: Reader, server: TheServer
) -> ExamBody:
    """A test run as it stands."""
    exam = exams.exam_of(server, principal.tenant, corpus, test_run_id)
    return _Shown(server, principal.tenant, corpus, request).body(exam)


@router.get("/{test_run_id}/results")
def list_test_results(
    corpus: Id,
    test_run_id: Id,
    principal: Reader,
    server: TheServer,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> ResultPage:
    """What came of each question, beside the last test run on another version."""
    exam = exams.exam_of(server, principal.tenant, corpus, test_run_id)
    before = exams.exam_before(server, exam)
    after = int(cursor) if cursor and cursor.isascii() and cursor.isdecimal() and len(cursor) < 8 else -1
    found = exams.compared_results(server, exam, before, after=after, limit=limit + 1)
    shown = page(found, limit, _result, lambda item: str(item.result.position))
    return ResultPage(
        data=shown.data,
        next_cursor=shown.next_cursor,
        compared_with=None if before is None else before.exam,
        compared_version=None if before is None else before.version,
    )


@router.get("/{test_run_id}/events", response_class=Response, responses=STREAM_ANSWERS)
def watch_test_run(
    corpus: Id, test_run_id: Id, principal: Reader, server: TheServer, watching: Watching
) -> Response:
    """How far it is, as server-sent events: `test_run.state` and `test_run.progress`."""
    exam = exams.exam_of(server, principal.tenant, corpus, test_run_id)
    return watching.stream(principal.tenant, exam_topic(exam.exam))


@router.post("/{test_run_id}/cancel")
def cancel_test_run(
    corpus: Id, test_run_id: Id, request: Request, principal: Writer, server: TheServer
) -> ExamBody:
    """Stop a test run; what was asked stays."""
    exams.exam_of(server, principal.tenant, corpus, test_run_id)
    exam = exams.cancel_exam(server, principal, test_run_id)
    return _Shown(server, principal.tenant, corpus, request).body(exam)


@router.post("/{test_run_id}/continue", status_code=202)
def continue_test_run(
    corpus: Id,
    test_run_id: Id,
    request: Request,
    principal: Writer,
    server: TheServer,
    wanted: ContinueRequest | None = None,
) -> ExamBody:
    """Let a test run go on that its cap has paused, or that failed. What was asked is not asked again."""
    exams.exam_of(server, principal.tenant, corpus, test_run_id)
    cap = None if wanted is None else wanted.max_cost
    exam = exams.continue_exam(server, principal, test_run_id, cap)
    return _Shown(server, principal.tenant, corpus, request).body(exam)


class _Shown:
    """What test runs of one corpus are shown beside: today's questions, and what is wanted of them."""

    def __init__(self, server: Server, tenant: str, corpus: str, request: Request) -> None:
        self._percent = corpus_settings(server, tenant, corpus).tests_percent
        self._today = fingerprint_of(server.questions.questions(tenant, corpus))
        self._language = language_of(request)

    def body(self, exam: Exam) -> ExamBody:
        return ExamBody(
            test_run_id=exam.exam,
            corpus=exam.corpus,
            version=exam.version,
            model=exam.model,
            max_cost=exam.max_cost,
            state=exam.state,
            cause=self._cause(exam),
            questions=exam.questions,
            done=exam.done,
            passed=exam.passed,
            score=exam.score,
            dollars=exam.dollars,
            is_good=exam.is_good(self._percent),
            is_of_today=exam.fingerprint == self._today,
            job_id=exam.job,
            is_switched=exam.is_switched,
            created_by=exam.created_by,
            created_at=exam.created_at,
            started_at=exam.started_at,
            ended_at=exam.ended_at,
        )

    def _cause(self, exam: Exam) -> ExamCauseBody | None:
        if exam.cause is None:
            return None
        error = Corpus2SkillError(exam.cause.code, **exam.cause.values)
        try:
            sentence = error_message(self._language, error)
        except KeyError:  # of another release
            sentence = exam.cause.code
        return ExamCauseBody(code=exam.cause.code, message=sentence)


def _known(version: int | None) -> int | None:
    """A number that a database takes; no version has a larger one."""
    return version if version is None or 0 < version < 10**9 else 0


def _result(item: ComparedResult) -> ResultBody:
    result = item.result
    return ResultBody(
        position=result.position,
        question_id=result.question_id,
        question=result.text,
        expected_sources=list(result.expected.sources),
        expects_not_found=result.expected.not_found,
        outcome=result.outcome,
        is_passed=result.is_passed,
        source_hit=result.source_hit,
        steps=result.fetches,
        ms=result.ms,
        dollars=result.usd,
        run_id=result.run,
        change=item.change,
        was_passed=None if item.reference is None else item.reference.is_passed,
    )
