"""Runs as JSON: what the asker sees of one, and what a reviewer sees of its record."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from corpus2skill.application.json_form import to_json
from corpus2skill.application.server.conversations import RunView
from corpus2skill.application.server.run_events import face_form, visit_form
from corpus2skill.domain.feedback import Feedback, FeedbackReason
from corpus2skill.domain.hosted import HostedRun
from corpus2skill.domain.language import Language
from corpus2skill.domain.message import Confidence
from corpus2skill.domain.run import Outcome, RunRecord
from corpus2skill.domain.session import Channel, Door
from corpus2skill.domain.trail import VisitStatus
from corpus2skill.domain.tree import NodeType


class SourceBody(BaseModel):
    n: int
    """From 1; of a citation the number in the answer."""
    doc_id: str
    title: str
    source: str
    place: str
    path: str


class OfferedBody(BaseModel):
    name: str
    title: str


class VisitBody(BaseModel):
    """One step of the trail, as `node.visited` tells it."""

    n: int
    path: str
    title: str
    node: str
    node_type: NodeType | None
    status: VisitStatus
    reason: str | None
    is_shared_reason: bool
    is_prefetched: bool
    offered: list[OfferedBody]
    model_ms: int
    fetch_ms: int
    elapsed_ms: int
    doc_id: str | None
    source: str | None
    place: str | None
    is_cut: bool


class FeedbackBody(BaseModel):
    rating: Literal["helpful", "not_helpful"]
    reasons: list[FeedbackReason]
    comment: str | None
    given_at: str
    given_by: str


class RunBody(BaseModel):
    """A run: while it is under way only what is known by then, afterwards what its record says."""

    run_id: str
    session_id: str
    state: Literal["running", "finished"]
    turn: int | None
    corpus: str
    version: int | None
    channel: Channel
    language: Language | None = None
    question: str | None
    answer: str | None = None
    outcome: Outcome | None = None
    confidence: Confidence | None = None
    is_truncated: bool = False
    is_doubtful: bool = False
    """The answer named a leaf that was not read, or quotes what stands in none."""
    citations: list[SourceBody] = []
    evidence: list[SourceBody] = []
    trail: list[VisitBody] = []
    fetches: int = 0
    rounds: int = 0
    model: str | None = None
    started_at: str
    ended_at: str | None = None
    total_ms: int | None = None
    feedback: FeedbackBody | None = None


class UsageBody(BaseModel):
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cache_written_tokens: int


class QuotationBody(BaseModel):
    text: str
    doc_id: str | None
    is_name: bool


class RecordLineBody(BaseModel):
    """A record in a list: enough to read the conversation without opening it."""

    run_id: str
    session_id: str
    turn: int
    corpus: str
    version: int
    channel: Channel
    door: Door
    end_user: str | None
    question: str
    answer: str
    outcome: Outcome
    confidence: Confidence | None
    is_doubtful: bool
    citations: int
    evidence: int
    steps: int
    model: str
    started_at: str
    total_ms: int
    usd: float | None
    feedback: FeedbackBody | None


class RecordBody(RunBody):
    """A record with what only those see who look after the conversations."""

    door: Door
    end_user: str | None
    struck_citations: int
    quotations: list[QuotationBody]
    prompt_version: str
    usage: UsageBody
    usd: float | None
    retries: int
    left_out_turns: int
    heard: str | None
    error_class: str | None
    error_code: str | None
    error_detail: str | None


def run_body(view: RunView) -> RunBody:
    if view.record is not None:
        return RunBody.model_validate(_finished(view.record, view.feedback))
    return _running(view)


def begun_body(run: HostedRun) -> RunBody:
    """A run that was taken on a moment ago. Without its question: answers to a POST may be kept for a day."""
    return _running(RunView(hosted=run, record=None))


def record_body(record: RunRecord, feedback: Feedback | None) -> RecordBody:
    more = {
        "door": record.door,
        "end_user": record.user,
        "struck_citations": record.struck_citations,
        "quotations": to_json(record.quotations),
        "prompt_version": record.prompt_version,
        "usage": to_json(record.usage),
        "usd": record.usd,
        "retries": record.retries,
        "left_out_turns": record.left_out_turns,
        "heard": record.heard,
        "error_class": record.error_class,
        "error_code": record.error_code,
        "error_detail": record.error_detail,
    }
    return RecordBody.model_validate(_finished(record, feedback) | more)


def record_line(record: RunRecord, feedback: Feedback | None) -> RecordLineBody:
    return RecordLineBody(
        run_id=record.ids.run,
        session_id=record.ids.session,
        turn=record.ids.turn,
        corpus=record.ids.corpus,
        version=record.ids.version,
        channel=record.channel,
        door=record.door,
        end_user=record.user,
        question=record.question,
        answer=record.answer,
        outcome=record.outcome,
        confidence=record.confidence,
        is_doubtful=record.is_doubtful,
        citations=len(record.citations),
        evidence=len(record.evidence),
        steps=len(record.visits),
        model=record.model,
        started_at=record.started_at,
        total_ms=record.total_ms,
        usd=record.usd,
        feedback=feedback_body(feedback),
    )


def feedback_body(feedback: Feedback | None) -> FeedbackBody | None:
    if feedback is None:
        return None
    return FeedbackBody(
        rating="helpful" if feedback.is_helpful else "not_helpful",
        reasons=list(feedback.reasons),
        comment=feedback.comment,
        given_at=feedback.given_at,
        given_by=feedback.given_by,
    )


def _finished(record: RunRecord, feedback: Feedback | None) -> dict[str, object]:
    return {
        **face_form(record),
        "state": "finished",
        "trail": [visit_form(visit) for visit in record.visits],
        "feedback": feedback_body(feedback),
    }


def _running(view: RunView) -> RunBody:
    hosted, started = view.hosted, view.started or {}
    told = {name: started.get(name) for name in ("turn", "version", "language", "model")}
    return RunBody.model_validate(
        {
            "run_id": hosted.run,
            "session_id": hosted.session,
            "state": "running",
            "corpus": hosted.corpus,
            "channel": hosted.channel,
            "question": view.question,
            "trail": list(view.visits),
            "started_at": hosted.asked_at,
            **told,
        }
    )
