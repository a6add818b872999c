"""The audit record of a run: opened before the first call, closed on every way out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from corpus2skill.domain.message import Confidence, Reply
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.run import Outcome, Quotation, RunFinished, RunRecord, RunStarted, Source
from corpus2skill.messages import message
from corpus2skill.navigator.channel import is_spoken, shows_sources
from corpus2skill.navigator.citation import resolve_citations, without_markers
from corpus2skill.navigator.error_words import error_code, error_detail, error_values
from corpus2skill.navigator.outcome import declares_not_found, fixed_sentence
from corpus2skill.navigator.prompt import PROMPT_VERSION
from corpus2skill.navigator.quotation import check_quotations
from corpus2skill.navigator.run import Run
from corpus2skill.navigator.trail import milliseconds
from corpus2skill.navigator.voice.speakable import speakable

_LEASE_GRACE = 60.0
"""Seconds beyond a run's own time limit before another process may take it for dead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """How a run came out and what the asker reads."""

    outcome: Outcome
    answer: str
    confidence: Confidence | None = None
    citations: tuple[Source, ...] = ()
    struck_citations: int = 0
    quotations: tuple[Quotation, ...] = ()
    is_truncated: bool = False
    error: BaseException | None = None


def open_record(run: Run) -> None:
    """Note that `run` began, as it would read if nothing more were heard of it."""
    opening = _make_record(run, conclude_without_reply(run, "stopped"))
    lease = run.limits.seconds + _LEASE_GRACE
    turn = run.navigator.records.open_run(run.ids, opening, lease)
    run.ids = replace(run.ids, turn=turn)
    run.tell(
        RunStarted(
            ids=run.ids,
            question=run.question.text,
            model=run.navigator.model.name,
            channel=run.question.channel,
            language=run.language,
        )
    )


def close_record(run: Run, conclusion: Conclusion) -> RunRecord:
    """Write the record. It awaits nothing, so no cancellation can come in between."""
    record = _make_record(run, conclusion)
    run.navigator.records.close_run(record)
    run.tell(RunFinished(record=record))
    return record


def conclude_from_reply(run: Run, reply: Reply) -> Conclusion:
    """Return what the model's own words come to: an answer, or its declaration that there is none."""
    is_not_found = declares_not_found(reply.text)
    answer = resolve_citations(
        reply.text, run.trail.evidence, is_numbered=shows_sources(run.question.channel)
    )
    return Conclusion(
        outcome="not_found" if is_not_found else "answered",
        answer=_as_received(run, answer.text),
        confidence=None if is_not_found else reply.confidence or "strong",
        citations=answer.citations,
        struck_citations=answer.struck,
        quotations=_quotations(run, reply.text),
        is_truncated=reply.stop == "max_tokens",
    )


def conclude_without_reply(run: Run, outcome: Outcome, error: BaseException | None = None) -> Conclusion:
    """Return the fixed sentence of an `outcome` that the model did not put into words."""
    sentence = fixed_sentence(outcome, run.language, run.question.channel, run.trail.titles, error)
    return Conclusion(outcome=outcome, answer=_as_received(run, sentence), error=error)


def _as_received(run: Run, answer: str) -> str:
    """Return what the asker reads or hears of `answer`."""
    if not is_spoken(run.question.channel):
        return answer
    return speakable(answer, run.language) or message(run.language, "voice.not_speakable")


def _quotations(run: Run, answer: str) -> tuple[Quotation, ...]:
    return check_quotations(without_markers(answer), run.trail.texts, run.trail.names, run.question.text)


def _make_record(run: Run, conclusion: Conclusion) -> RunRecord:
    """Return the record of `run` as it stands now."""
    clock = run.navigator.clock
    return RunRecord(
        ids=run.ids,
        channel=run.question.channel,
        door=run.question.door,
        language=run.language,
        question=run.question.text,
        answer=conclusion.answer,
        outcome=conclusion.outcome,
        confidence=conclusion.confidence,
        visits=tuple(run.trail.visits),
        evidence=tuple(run.trail.evidence.values()),
        citations=conclusion.citations,
        struck_citations=conclusion.struck_citations,
        fetches=run.fetches,
        rounds=run.rounds,
        model=run.navigator.model.name,
        prompt_version=PROMPT_VERSION,
        usage=run.usage,
        usd=run.navigator.price(run.usage),
        started_at=run.started_at,
        ended_at=moment_of(clock.now()),
        total_ms=milliseconds(clock.monotonic() - run.began),
        is_truncated=conclusion.is_truncated,
        left_out_turns=run.left_out_turns,
        retries=run.retries,
        error_class=None if conclusion.error is None else type(conclusion.error).__name__,
        error_detail=error_detail(conclusion.error),
        error_code=error_code(conclusion.error),
        error_values=error_values(conclusion.error),
        user=run.question.user,
        quotations=conclusion.quotations,
        heard=_heard(run, conclusion.outcome),
        heard_before=run.heard_before,
    )


def _heard(run: Run, outcome: Outcome) -> str | None:
    """Nothing: of an answer no word is spoken before its run is over."""
    return "" if outcome == "interrupted" and run.question.channel == "voice" else None
