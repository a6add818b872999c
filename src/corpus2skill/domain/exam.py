"""Test questions of a corpus, and what a version made of them.

A test question is an `ExamQuestion`, a run over all of them an `Exam`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from corpus2skill.domain.ids import SUMMARY_FILE
from corpus2skill.domain.run import Outcome, RunRecord, Source
from corpus2skill.domain.server_job import Cause

ExamState = Literal["queued", "running", "paused_budget", "failed", "cancelled", "finished"]
"""`paused_budget`: goes on with a higher cap. `failed`: the model cannot be asked; may be continued."""
EXAM_STATES: tuple[ExamState, ...] = get_args(ExamState)
EXAM_OVER: frozenset[ExamState] = frozenset(("cancelled", "finished"))
EXAM_RESTING: frozenset[ExamState] = frozenset(("paused_budget", "failed"))
"""Somebody has to let it go on."""

MOST_QUESTIONS = 5_000
"""Of one corpus."""
MOST_SOURCES = 20
"""Expected ones of one question."""
SOURCE_CHARACTERS = 1_000
NOTE_CHARACTERS = 2_000

Change = Literal["better", "worse", "same"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What an answer is held against."""

    sources: tuple[str, ...] = ()
    """Names of documents, doc ids or node paths: one of them must have been read."""
    not_found: bool = False
    """True where the corpus has no answer, and that is what must be said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamQuestion:
    """A question of which is known what a good answer rests on."""

    question_id: str
    """`question_...`"""
    tenant: str
    corpus: str
    revision: int
    """From 1; one higher with every change."""
    text: str
    expected: Expectation
    note: str | None = None
    created_at: str
    """RFC 3339 in UTC with milliseconds; so `changed_at`."""
    created_by: str
    changed_at: str
    changed_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """All test questions of a corpus, as they were then, asked of one version."""

    exam: str
    """`testrun_...`"""
    tenant: str
    corpus: str
    version: int
    model: str
    """With which the questions are answered."""
    max_cost: float | None = None
    """US dollars; None where nothing is paid for."""
    state: ExamState = "queued"
    cause: Cause | None = None
    questions: int
    fingerprint: str
    """Of the questions: another one, and they have changed since."""
    done: int = 0
    passed: int = 0
    dollars: float = 0.0
    """What the questions came to; those of unknown price left out."""
    job: str | None = None
    """The compile whose version is switched to when the questions go well."""
    switches_from: int | None = None
    """With `job`: the version that was active then; where it is another by now, nothing is switched."""
    is_switched: bool = False
    """By itself, after it went well."""
    created_by: str
    created_at: str
    started_at: str | None = None
    ended_at: str | None = None
    owner: str | None = None
    """The process that asks the questions now."""
    lease_until: float = 0.0
    """Seconds since 1970; after that its owner counts as dead."""
    turned_at: str = ""
    """When it last had its turn: several take turns."""

    @property
    def score(self) -> float | None:
        """Share of its questions that went well; None before the end."""
        if self.state != "finished" or not self.questions:
            return None
        return self.passed / self.questions

    def is_good(self, percent: int) -> bool:
        """True where it has ended and so many of a hundred questions went well."""
        return self.state == "finished" and self.passed * 100 >= self.questions * percent


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamResult:
    """One question of an exam, and what came of it."""

    position: int
    """From 0, in the order in which they are asked."""
    question_id: str
    text: str
    expected: Expectation
    outcome: Outcome | None = None
    """None: not asked yet."""
    is_passed: bool = False
    source_hit: bool | None = None
    """An expected source was read. None where none is expected."""
    fetches: int = 0
    ms: int = 0
    usd: float | None = None
    run: str | None = None
    """Its record, which stands apart from people's conversations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedResult:
    """A result beside that of the same question in an earlier exam."""

    result: ExamResult
    change: Change | None = None
    """None where the earlier exam has no such question, or there is none."""
    reference: ExamResult | None = field(default=None)


def questions_fingerprint(questions: Iterable[tuple[str, Expectation]]) -> str:
    """SHA-256 of what is asked and expected, in whatever order."""
    lines = sorted(
        json.dumps([text, sorted(expected.sources), expected.not_found]) for text, expected in questions
    )
    return hashlib.sha256("\n".join(lines).encode("ascii")).hexdigest()


def judged(result: ExamResult, record: RunRecord) -> ExamResult:
    """The result of a question whose run has ended."""
    expected = result.expected
    hit = any(_is_meant(source, wanted) for source in record.evidence for wanted in expected.sources)
    wanted: Outcome = "not_found" if expected.not_found else "answered"
    return ExamResult(
        position=result.position,
        question_id=result.question_id,
        text=result.text,
        expected=expected,
        outcome=record.outcome,
        is_passed=record.outcome == wanted and (hit or not expected.sources),
        source_hit=hit if expected.sources else None,
        fetches=record.fetches,
        ms=record.total_ms,
        usd=record.usd,
        run=record.ids.run,
    )


def compared(result: ExamResult, before: Mapping[str, ExamResult]) -> ComparedResult:
    """`result` beside the one of the same question."""
    reference = before.get(result.question_id)
    if reference is None or reference.outcome is None or result.outcome is None:
        return ComparedResult(result=result)
    change: Change = "same"
    if result.is_passed != reference.is_passed:
        change = "better" if result.is_passed else "worse"
    return ComparedResult(result=result, change=change, reference=reference)


def _is_meant(source: Source, wanted: str) -> bool:
    if wanted in (source.source, source.doc_id, source.path):
        return True
    folder = wanted.removesuffix(SUMMARY_FILE).rstrip("/") + "/"
    return source.source.startswith(folder) or source.path.startswith(folder)
