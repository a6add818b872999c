"""What every `QuestionStore` and `ExamStore` promises, over SQLite and PostgreSQL."""

from __future__ import annotations

from dataclasses import replace

import pytest

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.exam_questions import SqlQuestionStore
from corpus2skill.adapters.store.state.exams import SqlExamStore
from corpus2skill.domain.exam import Exam, ExamQuestion, ExamResult, Expectation
from corpus2skill.domain.server_job import Cause
from corpus2skill.errors import Conflict, Outrun, ThingNotFound
from corpus2skill.ports.exams import ExamStore, QuestionStore
from tests.ports.state import state as state

TENANT, CORPUS = "acme", "terms"
AT = "2026-04-01T09:00:00.000Z"
WANTED = Expectation(sources=("利用規約.md", "doc_chunk_7"))


@pytest.fixture
def questions(state: Database) -> QuestionStore:
    return SqlQuestionStore(state)


@pytest.fixture
def exams(state: Database) -> ExamStore:
    return SqlExamStore(state)


def question(name: str, **more: str) -> ExamQuestion:
    return ExamQuestion(
        question_id=name,
        tenant=more.get("tenant", TENANT),
        corpus=more.get("corpus", CORPUS),
        revision=1,
        text="年額プランの解約は？\n\t😀",
        expected=WANTED,
        created_at=AT,
        created_by="token_1",
        changed_at=AT,
        changed_by="token_1",
    )


def exam(name: str, version: int = 1, **more: str) -> Exam:
    return Exam(
        exam=name,
        tenant=more.get("tenant", TENANT),
        corpus=more.get("corpus", CORPUS),
        version=version,
        model="offline",
        questions=2,
        fingerprint="f",
        job=more.get("job"),
        created_by="token_1",
        created_at=AT,
        turned_at=more.get("turned_at", AT),
    )


def result(position: int) -> ExamResult:
    return ExamResult(position=position, question_id=f"question_{position}", text="問い", expected=WANTED)


@pytest.mark.requirement("S-126")
def test_questions_are_listed_in_the_order_in_which_they_were_made(questions: QuestionStore) -> None:
    """Promised by the port."""
    questions.add([question(f"question_{number}") for number in range(3)], 5)
    questions.add([question("question_9", corpus="other"), question("question_8", corpus="other")], 5)
    assert [kept.question_id for kept in questions.questions(TENANT, CORPUS, after="question_0")] == [
        "question_1",
        "question_2",
    ]
    assert questions.question(TENANT, CORPUS, "question_1") == question("question_1")
    assert questions.questions("other", CORPUS) == ()
    with pytest.raises(ThingNotFound):
        questions.question(TENANT, "other", "question_1")
    questions.forget_corpus(TENANT, CORPUS)
    assert questions.questions(TENANT, CORPUS) == ()
    assert len(questions.questions(TENANT, "other")) == 2


@pytest.mark.requirement("S-126")
def test_too_many_questions_are_none_of_them_kept(questions: QuestionStore) -> None:
    """Promised by the port."""
    questions.add([question("question_1")], 2)
    with pytest.raises(Conflict):
        questions.add([question("question_2"), question("question_3")], 2)
    assert len(questions.questions(TENANT, CORPUS)) == 1


@pytest.mark.requirement("S-119", "S-126")
def test_of_two_who_change_a_question_the_second_is_told(questions: QuestionStore) -> None:
    """Issue 6, bad input: two people editing the same test question."""
    questions.add([question("question_1")], 2)
    first = replace(question("question_1"), revision=2, text="別の問い")
    questions.replace(first, 1)
    with pytest.raises(Outrun):
        questions.replace(replace(first, text="遅い"), 1)
    with pytest.raises(Outrun):
        questions.remove(TENANT, CORPUS, "question_1", 1)
    assert questions.question(TENANT, CORPUS, "question_1") == first
    questions.remove(TENANT, CORPUS, "question_1", 2)
    with pytest.raises(ThingNotFound):
        questions.replace(first, 2)
    with pytest.raises(ThingNotFound):
        questions.remove(TENANT, CORPUS, "question_1", 2)


@pytest.mark.requirement("S-126")
def test_exams_are_found_newest_first_by_version_state_and_job(exams: ExamStore) -> None:
    """Promised by the port."""
    for number, version in enumerate((1, 2, 1)):
        exams.add(exam(f"testrun_{number}", version, job=f"job_{number}"), [])
    exams.change(TENANT, "testrun_1", lambda was: replace(was, state="finished", cause=Cause(code="x")))
    found = exams.exams(TENANT, CORPUS, before="testrun_2")
    assert [kept.exam for kept in found] == ["testrun_1", "testrun_0"]
    assert [kept.exam for kept in exams.exams(TENANT, CORPUS, version=1, limit=1)] == ["testrun_2"]
    (finished,) = exams.exams(TENANT, CORPUS, states=("finished",))
    assert (finished.exam, finished.cause) == ("testrun_1", Cause(code="x"))
    of_job = exams.of_job(TENANT, "job_2")
    assert of_job is not None
    assert of_job.exam == "testrun_2"
    assert exams.of_job("other", "job_2") is None
    with pytest.raises(ThingNotFound):
        exams.exam("other", "testrun_0")
    exams.forget_corpus(TENANT, CORPUS)
    assert exams.exams(TENANT, CORPUS) == ()


@pytest.mark.requirement("S-120", "S-126")
def test_results_are_counted_once_and_only_for_the_one_who_asks(exams: ExamStore) -> None:
    """A test run that another process has taken over, or that was cancelled, counts nothing more."""
    exams.add(exam("testrun_1"), [result(0), result(1)])
    assert exams.put_result(TENANT, "testrun_1", result(0), "host_1", 9.0) is None
    exams.change(TENANT, "testrun_1", lambda was: replace(was, state="running", owner="host_1"))
    answered = replace(result(0), outcome="answered", is_passed=True, source_hit=True, usd=0.25, run="run_1")
    kept = exams.put_result(TENANT, "testrun_1", answered, "host_1", 9.0)
    again = exams.put_result(TENANT, "testrun_1", answered, "host_1", 9.0)
    assert kept is not None
    assert kept == again
    assert (kept.done, kept.passed, kept.dollars, kept.lease_until) == (1, 1, 0.25, 9.0)
    assert exams.put_result(TENANT, "testrun_1", answered, "host_2", 9.0) is None
    assert exams.unasked(TENANT, "testrun_1", 5) == (result(1),)
    assert exams.results(TENANT, "testrun_1") == (answered, result(1))
    assert exams.results(TENANT, "testrun_1", after=0) == (result(1),)


@pytest.mark.requirement("S-120", "S-126")
def test_those_that_wait_are_named_longest_without_a_turn_first(exams: ExamStore) -> None:
    """Promised by the port."""
    exams.add(exam("testrun_1", turned_at="2026-04-01T10:00:00.000Z"), [])
    exams.add(exam("testrun_2", tenant="other", turned_at="2026-04-01T09:30:00.000Z"), [])
    exams.add(exam("testrun_3"), [])
    exams.change(TENANT, "testrun_3", lambda was: replace(was, state="running", lease_until=50.0))
    assert [kept.exam for kept in exams.waiting(40.0)] == ["testrun_2", "testrun_1"]
    assert [kept.exam for kept in exams.waiting(60.0)] == ["testrun_3", "testrun_2", "testrun_1"]
    assert [kept.exam for kept in exams.running()] == ["testrun_3"]
    assert exams.change(TENANT, "testrun_3", lambda _was: None) is None
