"""`/v1/corpora/{corpus}/test-questions`: questions of which is known what a good answer rests on."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from corpus2skill.application.server import exams
from corpus2skill.application.server.corpora import require_corpus
from corpus2skill.application.server.exams import ListForm, NewQuestion
from corpus2skill.domain.exam import (
    MOST_SOURCES,
    NOTE_CHARACTERS,
    SOURCE_CHARACTERS,
    ExamQuestion,
    Expectation,
)
from corpus2skill.entrypoints.http.caller import Reader, TheServer, Writer
from corpus2skill.entrypoints.http.etags import IfMatch, etag, seen_number
from corpus2skill.entrypoints.http.idempotency import IdempotentRoute
from corpus2skill.entrypoints.http.ids import Id
from corpus2skill.entrypoints.http.paging import Cursor, Limit, Page, page
from corpus2skill.errors import InvalidInput

router = APIRouter(prefix="/corpora/{corpus}/test-questions", tags=["tests"], route_class=IdempotentRoute)

_NO_NUL = r"^[^\x00]*$"
ExpectedSource = Annotated[str, Field(min_length=1, max_length=SOURCE_CHARACTERS, pattern=_NO_NUL)]
Note = Annotated[str, Field(max_length=NOTE_CHARACTERS, pattern=_NO_NUL)]
_KINDS: dict[ListForm, str] = {"jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8"}
_MOST_BYTES = 30_000_000
_TABLE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "text/csv": {"schema": {"type": "string"}},
            "application/jsonl": {"schema": {"type": "string"}},
        },
    }
}
_LINES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "All questions.",
        "content": {kind: {"schema": {"type": "string"}} for kind in ("application/jsonl", "text/csv")},
    }
}


class QuestionRequest(BaseModel):
    """Something must be expected: a source, that nothing is found, or both."""

    model_config = ConfigDict(extra="forbid")

    question: Annotated[str, Field(min_length=1, max_length=20_000, pattern=_NO_NUL)]
    expected_sources: Annotated[list[ExpectedSource], Field(max_length=MOST_SOURCES)] = []
    """Names of documents, doc ids or node paths: one of them must be read."""
    expects_not_found: bool = False
    """The corpus has no answer, and that is what must be said."""
    note: Note | None = None


class QuestionBody(BaseModel):
    question_id: str
    revision: int
    """Also its `ETag`."""
    question: str
    expected_sources: list[str]
    expects_not_found: bool
    note: str | None
    created_at: str
    created_by: str
    changed_at: str
    changed_by: str


class ImportedBody(BaseModel):
    imported: int


@router.get("")
def list_test_questions(
    corpus: Id, principal: Reader, server: TheServer, limit: Limit = 50, cursor: Cursor = None
) -> Page[QuestionBody]:
    """The corpus's test questions in the order in which they were made."""
    require_corpus(server, principal.tenant, corpus)
    found = server.questions.questions(principal.tenant, corpus, after=cursor or "", limit=limit + 1)
    return page(found, limit, question_body, lambda question: question.question_id)


@router.post("", status_code=201)
def add_test_question(
    corpus: Id, wanted: QuestionRequest, principal: Writer, server: TheServer, response: Response
) -> QuestionBody:
    """Make a test question."""
    (question,) = exams.add_questions(server, principal, corpus, [new_question(wanted)])
    root = server.server_settings.root_path
    response.headers["Location"] = f"{root}/v1/corpora/{corpus}/test-questions/{question.question_id}"
    return _shown(question, response)


@router.post("/import", status_code=201, openapi_extra=_TABLE, max_body_size=_MOST_BYTES)
async def import_test_questions(
    corpus: Id, request: Request, principal: Writer, server: TheServer
) -> ImportedBody:
    """Add questions from a table with the header `question,expected_sources,expects_not_found,note` (several
    expected sources in one cell stand on lines of their own), or from JSON lines with these names. All or none.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    form: ListForm = "csv" if kind == "text/csv" else "jsonl"
    try:
        text = (await request.body()).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput("not_utf8") from error

    def add() -> int:
        require_corpus(server, principal.tenant, corpus)
        return len(exams.add_questions(server, principal, corpus, exams.questions_in(text, form)))

    return ImportedBody(imported=await run_in_threadpool(add))


@router.get("/export", response_class=StreamingResponse, responses=_LINES)
def export_test_questions(
    corpus: Id,
    principal: Reader,
    server: TheServer,
    form: Annotated[Literal["jsonl", "csv"], Query(alias="format")] = "jsonl",
) -> StreamingResponse:
    """All test questions, as the import takes them."""
    require_corpus(server, principal.tenant, corpus)
    lines = exams.questions_as(server.questions.questions(principal.tenant, corpus), form)
    headers = {"Content-Disposition": f'attachment; filename="test-questions.{form}"'}
    return StreamingResponse(lines, media_type=_KINDS[form], headers=headers)


@router.get("/{question_id}")
def show_test_question(
    corpus: Id, question_id: Id, principal: Reader, server: TheServer, response: Response
) -> QuestionBody:
    """One test question; its `ETag` goes into `If-Match` of a change."""
    require_corpus(server, principal.tenant, corpus)
    return _shown(server.questions.question(principal.tenant, corpus, question_id), response)


@router.put("/{question_id}")
def change_test_question(
    corpus: Id,
    question_id: Id,
    wanted: QuestionRequest,
    principal: Writer,
    server: TheServer,
    response: Response,
    if_match: IfMatch = None,
) -> QuestionBody:
    """Replace a test question; 412 where somebody else has changed it meanwhile."""
    seen = _seen(server, principal.tenant, corpus, question_id, if_match)
    new = new_question(wanted)
    return _shown(exams.change_question(server, principal, corpus, question_id, new, seen), response)


@router.delete("/{question_id}", status_code=204)
def remove_test_question(
    corpus: Id, question_id: Id, principal: Writer, server: TheServer, if_match: IfMatch = None
) -> None:
    """Remove a test question; results of earlier test runs keep what was asked."""
    seen = _seen(server, principal.tenant, corpus, question_id, if_match)
    exams.remove_question(server, principal, corpus, question_id, seen)


def new_question(wanted: QuestionRequest) -> NewQuestion:
    expected = Expectation(sources=tuple(wanted.expected_sources), not_found=wanted.expects_not_found)
    return NewQuestion(text=wanted.question, expected=expected, note=wanted.note)


def question_body(question: ExamQuestion) -> QuestionBody:
    return QuestionBody(
        question_id=question.question_id,
        revision=question.revision,
        question=question.text,
        expected_sources=list(question.expected.sources),
        expects_not_found=question.expected.not_found,
        note=question.note,
        created_at=question.created_at,
        created_by=question.created_by,
        changed_at=question.changed_at,
        changed_by=question.changed_by,
    )


def _shown(question: ExamQuestion, response: Response) -> QuestionBody:
    response.headers["ETag"] = etag(question.revision)
    return question_body(question)


def _seen(server: TheServer, tenant: str, corpus: str, question_id: str, if_match: str | None) -> int:
    """The revision that is to be changed. That there is such a question comes first."""
    require_corpus(server, tenant, corpus)
    found = server.questions.question(tenant, corpus, question_id)
    seen = seen_number(if_match)
    return found.revision if seen == "any" else seen
