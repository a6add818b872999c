"""Test questions of a corpus, and runs over all of them: what people do with these."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from corpus2skill.application.csv_form import csv_row
from corpus2skill.application.server.corpora import corpus_settings, require_corpus
from corpus2skill.application.server.exam_gate import fingerprint_of
from corpus2skill.application.server.exam_turns import becoming, tell_state
from corpus2skill.application.server.versions import require_version
from corpus2skill.application.server_wiring import Server
from corpus2skill.application.wiring import OFFLINE, Workspace
from corpus2skill.domain.exam import (
    EXAM_OVER,
    EXAM_RESTING,
    MOST_QUESTIONS,
    MOST_SOURCES,
    NOTE_CHARACTERS,
    SOURCE_CHARACTERS,
    ComparedResult,
    Exam,
    ExamQuestion,
    ExamResult,
    Expectation,
    compared,
)
from corpus2skill.domain.job import CompileReport
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.people import Principal
from corpus2skill.domain.server_job import ServerJob
from corpus2skill.errors import (
    ConfirmationNeeded,
    Conflict,
    Corpus2SkillError,
    InvalidInput,
    ThingNotFound,
)
from corpus2skill.navigator.question import check_question

ListForm = Literal["jsonl", "csv"]
CSV_COLUMNS = ("question", "expected_sources", "expects_not_found", "note")
_TRUE = ("true", "1", "yes", "はい", "○")
_EARLIER_LOOKED_AT = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class NewQuestion:
    """What somebody says of a test question."""

    text: str
    expected: Expectation
    note: str | None = None


def add_questions(
    server: Server, by: Principal, corpus: str, wanted: Sequence[NewQuestion]
) -> tuple[ExamQuestion, ...]:
    """Make test questions, all of them or none.

    Raises:
        CorpusNotFound.
        InvalidInput: one of them cannot be asked, or nothing is expected of its answer.
        Conflict: there would be too many.
    """
    require_corpus(server, by.tenant, corpus)
    most = server.workspace(by.tenant).settings.question_characters
    now = moment_of(server.clock.now())
    questions = [
        ExamQuestion(
            question_id=server.ids.new("question"),
            tenant=by.tenant,
            corpus=corpus,
            revision=1,
            text=one.text,
            expected=one.expected,
            note=one.note,
            created_at=now,
            created_by=by.actor,
            changed_at=now,
            changed_by=by.actor,
        )
        for one in (_checked(one, most) for one in wanted)
    ]
    server.questions.add(questions, MOST_QUESTIONS)
    server.audit.note(by.tenant, by.actor, "test_questions.added", corpus, count=len(questions))
    return tuple(questions)


def change_question(
    server: Server, by: Principal, corpus: str, question_id: str, wanted: NewQuestion, seen: int
) -> ExamQuestion:
    """Put another question in the place of its revision `seen`.

    Raises:
        CorpusNotFound, ThingNotFound, InvalidInput.
        Outrun: somebody has changed it since.
    """
    require_corpus(server, by.tenant, corpus)
    was = server.questions.question(by.tenant, corpus, question_id)
    checked = _checked(wanted, server.workspace(by.tenant).settings.question_characters)
    question = replace(
        was,
        revision=seen + 1,
        text=checked.text,
        expected=checked.expected,
        note=checked.note,
        changed_at=moment_of(server.clock.now()),
        changed_by=by.actor,
    )
    server.questions.replace(question, seen)
    server.audit.note(by.tenant, by.actor, "test_question.changed", corpus, question=question_id)
    return question


def remove_question(server: Server, by: Principal, corpus: str, question_id: str, seen: int) -> None:
    """Raises: CorpusNotFound, ThingNotFound, Outrun."""
    require_corpus(server, by.tenant, corpus)
    server.questions.remove(by.tenant, corpus, question_id, seen)
    server.audit.note(by.tenant, by.actor, "test_question.removed", corpus, question=question_id)


def questions_in(text: str, form: ListForm) -> list[NewQuestion]:
    """Read questions out of JSON lines, or of a table with a header row.

    Raises:
        InvalidInput: naming the first line that is none.
    """
    rows = _json_rows(text) if form == "jsonl" else _csv_rows(text)
    found = [_new_question(number, row) for number, row in rows]
    if not found:
        raise InvalidInput("no_test_questions")
    if len(found) > MOST_QUESTIONS:
        raise InvalidInput("too_many_questions", most=MOST_QUESTIONS, held=0, came=len(found))
    return found


def questions_as(questions: Iterable[ExamQuestion], form: ListForm) -> Iterator[str]:
    """Yield questions as lines that `questions_in` reads."""
    if form == "csv":
        yield csv_row(CSV_COLUMNS)
    for question in questions:
        expected = question.expected
        if form == "csv":
            not_found = "true" if expected.not_found else "false"
            yield csv_row((question.text, "\n".join(expected.sources), not_found, question.note))
        else:
            plain = {
                "question": question.text,
                "expected_sources": list(expected.sources),
                "expects_not_found": expected.not_found,
                "note": question.note,
            }
            yield json.dumps(plain, ensure_ascii=False) + "\n"


def start_exam(
    server: Server, by: Principal, corpus: str, version: int, *, model: str | None, max_cost: float | None
) -> Exam:
    """Queue a run over all of today's questions on a version.

    Raises:
        CorpusNotFound, ThingNotFound.
        Conflict: there are no questions.
        ConfirmationNeeded: the model is paid for, and there is no cap.
    """
    workspace = require_version(server, by.tenant, corpus, version)
    name = model_of_exam(workspace, model)
    if name != OFFLINE and max_cost is None:
        raise ConfirmationNeeded("tests_need_cap", model=name)
    questions = server.questions.questions(by.tenant, corpus)
    if not questions:
        raise Conflict("no_test_questions", corpus=corpus)
    exam = _new_exam(server, by.tenant, by.actor, corpus, version, questions, name)
    exam = replace(exam, max_cost=None if name == OFFLINE else max_cost)
    _begin(server, exam, questions)
    return exam


def examine_compiled(server: Server, job: ServerJob, report: CompileReport) -> Exam | None:
    """Begin the test run of a compile whose version is switched to only when its tests go well.

    Called again for the same job it begins nothing. None where nothing is to be switched to, or there are no
    questions.
    """
    corpus, version = job.corpus, report.manifest.version
    is_meant = job.options.activate and report.is_new and not report.is_activated
    if not is_meant or not corpus_settings(server, job.tenant, corpus).tests_required:
        return None
    found = server.exams.of_job(job.tenant, job.job)
    if found is not None and found.version == version:
        return found
    questions = server.questions.questions(job.tenant, corpus)
    if not questions:
        return None
    workspace = server.workspace(job.tenant)
    name = model_of_exam(workspace, None)
    exam = replace(
        _new_exam(server, job.tenant, job.created_by, corpus, version, questions, name),
        job=job.job,
        switches_from=workspace.versions.active(corpus),
    )
    if name != OFFLINE:  # nobody has said what it may cost: whoever lets it go on does
        exam = replace(exam, max_cost=0.0, state="paused_budget")
    _begin(server, exam, questions)
    return exam


def model_of_exam(workspace: Workspace, model: str | None) -> str:
    return model or workspace.settings.navigation_model or workspace.settings.model


def cancel_exam(server: Server, by: Principal, exam: str) -> Exam:
    """Stop a test run; what was asked stays.

    Raises:
        ThingNotFound.
        Conflict: it has ended in another way.
    """

    def turn(was: Exam) -> Exam | None:
        return None if was.state in EXAM_OVER else becoming(server, was, "cancelled")

    cancelled = server.exams.change(by.tenant, exam, turn)
    now = cancelled or server.exams.exam(by.tenant, exam)
    if now.state != "cancelled":
        raise Conflict("test_run_over", test_run=exam, state=now.state)
    if cancelled is not None:
        server.audit.note(by.tenant, by.actor, "test_run.cancelled", exam, corpus=now.corpus)
        tell_state(server, now)
    return now


def continue_exam(server: Server, by: Principal, exam: str, max_cost: float | None) -> Exam:
    """Let a test run go on that its cap has paused, or that failed; what was asked is not asked again.

    Raises:
        ThingNotFound.
        Conflict: it is under way or has ended.
        InvalidInput: the cap lies below what was spent.
    """

    def turn(was: Exam) -> Exam | None:
        if was.state not in EXAM_RESTING:
            return None
        cap = was.max_cost if max_cost is None or was.model == OFFLINE else max_cost
        if cap is not None and cap <= was.dollars:
            raise InvalidInput("cap_below_spent", cap=_shown(cap), spent=_shown(was.dollars))
        return replace(becoming(server, was, "queued"), max_cost=cap)

    changed = server.exams.change(by.tenant, exam, turn)
    if changed is None:
        state = server.exams.exam(by.tenant, exam).state
        raise Conflict("test_run_not_resting", test_run=exam, state=state)
    server.audit.note(by.tenant, by.actor, "test_run.continued", exam, corpus=changed.corpus)
    tell_state(server, changed)
    return changed


def exam_of(server: Server, tenant: str, corpus: str, exam: str) -> Exam:
    """Raises: CorpusNotFound, ThingNotFound."""
    require_corpus(server, tenant, corpus)
    found = server.exams.exam(tenant, exam)
    if found.corpus != corpus:
        raise ThingNotFound("test_run", exam)
    return found


def exam_before(server: Server, exam: Exam) -> Exam | None:
    """The newest earlier test run that ended on another version: what this one is held against."""
    found = server.exams.exams(
        exam.tenant, exam.corpus, states=("finished",), before=exam.exam, limit=_EARLIER_LOOKED_AT
    )
    return next((earlier for earlier in found if earlier.version != exam.version), None)


def compared_results(
    server: Server, exam: Exam, reference: Exam | None, *, after: int, limit: int
) -> list[ComparedResult]:
    """Results in the order in which they are asked, beside those of an earlier test run."""
    results = server.exams.results(exam.tenant, exam.exam, after=after, limit=limit)
    earlier: Mapping[str, ExamResult] = {}
    if reference is not None:
        found = server.exams.results(reference.tenant, reference.exam)
        earlier = {result.question_id: result for result in found}
    return [compared(result, earlier) for result in results]


def _new_exam(
    server: Server,
    tenant: str,
    actor: str,
    corpus: str,
    version: int,
    questions: Sequence[ExamQuestion],
    model: str,
) -> Exam:
    now = moment_of(server.clock.now())
    return Exam(
        exam=server.ids.new("testrun"),
        tenant=tenant,
        corpus=corpus,
        version=version,
        model=model,
        questions=len(questions),
        fingerprint=fingerprint_of(questions),
        created_by=actor,
        created_at=now,
        turned_at=now,
    )


def _begin(server: Server, exam: Exam, questions: Sequence[ExamQuestion]) -> None:
    results = [
        ExamResult(position=at, question_id=one.question_id, text=one.text, expected=one.expected)
        for at, one in enumerate(questions)
    ]
    server.exams.add(exam, results)
    server.audit.note(
        exam.tenant,
        exam.created_by,
        "test_run.started",
        exam.exam,
        corpus=exam.corpus,
        version=exam.version,
        questions=exam.questions,
    )
    tell_state(server, exam)


def _checked(wanted: NewQuestion, most_characters: int) -> NewQuestion:
    """Raises: InvalidInput."""
    check_question(wanted.text, most_characters)
    sources = tuple(dict.fromkeys(source.strip() for source in wanted.expected.sources if source.strip()))
    if not sources and not wanted.expected.not_found:
        raise InvalidInput("nothing_expected", question=wanted.text[:80])
    if len(sources) > MOST_SOURCES or any(len(source) > SOURCE_CHARACTERS for source in sources):
        raise InvalidInput("too_many_expected", most=MOST_SOURCES, characters=SOURCE_CHARACTERS)
    note = (wanted.note or "").strip()[:NOTE_CHARACTERS] or None
    return NewQuestion(text=wanted.text, expected=replace(wanted.expected, sources=sources), note=note)


def _json_rows(text: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row: object = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _bad_line(number) from error
        if not isinstance(row, dict):
            raise _bad_line(number)
        yield number, cast("dict[str, object]", row)


def _csv_rows(text: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    try:
        for row in reader:
            # A cell in front of which an apostrophe was put, so that no spreadsheet runs it, is read back.
            cells = {
                name: (value or "").removeprefix("'") for name, value in row.items() if isinstance(name, str)
            }
            if any(cells.values()):
                yield reader.line_num, _of_cells(cells)
    except (csv.Error, AttributeError) as error:
        raise _bad_line(reader.line_num) from error


def _of_cells(cells: Mapping[str, str]) -> Mapping[str, object]:
    return {
        "question": cells.get("question", ""),
        "expected_sources": [line for line in cells.get("expected_sources", "").splitlines() if line.strip()],
        "expects_not_found": cells.get("expects_not_found", "").strip().lower() in _TRUE,
        "note": cells.get("note") or None,
    }


def _new_question(number: int, row: Mapping[str, object]) -> NewQuestion:
    """Raises: InvalidInput."""
    text, sources = row.get("question"), row.get("expected_sources", [])
    not_found, note = row.get("expects_not_found", False), row.get("note")
    is_right = (
        isinstance(text, str)
        and text.strip()
        and isinstance(sources, list)
        and all(isinstance(source, str) for source in cast("list[object]", sources))
        and isinstance(not_found, bool)
        and (note is None or isinstance(note, str))
    )
    if not is_right:
        raise _bad_line(number)
    names = tuple(str(source) for source in cast("list[object]", sources))
    expected = Expectation(sources=names, not_found=bool(not_found))
    return NewQuestion(text=str(text), expected=expected, note=None if note is None else str(note))


def _bad_line(number: int) -> Corpus2SkillError:
    return InvalidInput("test_question_line", line=number)


def _shown(dollars: float) -> str:
    return f"{dollars:.4f}".rstrip("0").rstrip(".")
