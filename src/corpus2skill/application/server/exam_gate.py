"""Whether a version may be switched to, where its owner wants the test questions to go well first."""

from __future__ import annotations

from collections.abc import Sequence

from corpus2skill.application.server.corpora import corpus_settings
from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.exam import Exam, ExamQuestion, questions_fingerprint
from corpus2skill.errors import Conflict

_EXAMS_LOOKED_AT = 50


def require_tests(server: Server, tenant: str, corpus: str, version: int) -> None:
    """Raises: Conflict: today's questions are required to go well on the version, and they did not."""
    settings = corpus_settings(server, tenant, corpus)
    if not settings.tests_required:
        return
    questions = server.questions.questions(tenant, corpus)
    if not questions:
        raise Conflict("tests_required_none", corpus=corpus, version=version)
    fingerprint, percent = fingerprint_of(questions), settings.tests_percent
    exams = _exams(server, tenant, corpus, version, fingerprint)
    if any(exam.is_good(percent) for exam in exams):
        return
    if not exams:
        raise Conflict("tests_required", corpus=corpus, version=version)
    newest = exams[0]
    raise Conflict(
        "tests_required_failed",
        corpus=corpus,
        version=version,
        passed=newest.passed,
        questions=newest.questions,
        percent=percent,
        test_run=newest.exam,
    )


def fingerprint_of(questions: Sequence[ExamQuestion]) -> str:
    return questions_fingerprint((question.text, question.expected) for question in questions)


def _exams(server: Server, tenant: str, corpus: str, version: int, fingerprint: str) -> list[Exam]:
    """Ended test runs of these very questions on the version, the newest first."""
    found = server.exams.exams(tenant, corpus, version=version, states=("finished",), limit=_EXAMS_LOOKED_AT)
    return [exam for exam in found if exam.fingerprint == fingerprint]
