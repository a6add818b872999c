"""Every change of a test run's state: told to who watches."""

from __future__ import annotations

from dataclasses import replace

from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.event_log import NewEvent, exam_topic
from corpus2skill.domain.exam import EXAM_OVER, Exam, ExamResult, ExamState
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.server_job import Cause


def becoming(server: Server, exam: Exam, state: ExamState, cause: Cause | None = None) -> Exam:
    """The test run in another state from now on; nobody works on it."""
    now = moment_of(server.clock.now())
    return replace(
        exam,
        state=state,
        cause=cause,
        owner=None,
        lease_until=0.0,
        turned_at=now,
        ended_at=now if state in EXAM_OVER else None,
    )


def tell_state(server: Server, exam: Exam) -> None:
    """Tell whoever watches."""
    server.events.append(exam.tenant, exam_topic(exam.exam), [_state_event(exam)])


def tell_result(server: Server, exam: Exam, result: ExamResult) -> None:
    """Tell what came of one question, and how far the test run is."""
    payload = {
        "done": exam.done,
        "questions": exam.questions,
        "passed": exam.passed,
        "dollars": exam.dollars,
        "position": result.position,
        "question_id": result.question_id,
        "outcome": result.outcome,
        "is_passed": result.is_passed,
    }
    event = NewEvent(kind="test_run.progress", payload=payload)
    server.events.append(exam.tenant, exam_topic(exam.exam), [event])


def _state_event(exam: Exam) -> NewEvent:
    cause = None if exam.cause is None else {"code": exam.cause.code, "values": dict(exam.cause.values)}
    return NewEvent(
        kind="test_run.state",
        payload={
            "state": exam.state,
            "cause": cause,
            "done": exam.done,
            "questions": exam.questions,
            "passed": exam.passed,
            "is_switched": exam.is_switched,
            "is_last": exam.state in EXAM_OVER,
        },
    )
