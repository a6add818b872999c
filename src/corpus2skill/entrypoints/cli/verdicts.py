"""The verdict on a source as words: what became of it and why."""

from __future__ import annotations

from corpus2skill.application import verdict_words
from corpus2skill.application.verdict_words import REFUSING as REFUSING
from corpus2skill.domain.corpus import Notice, SourceReport
from corpus2skill.entrypoints.cli.output import Output
from corpus2skill.errors import SourceRefused


def is_warning(report: SourceReport) -> bool:
    """True where a person should look: the source was refused, today or with its last text kept."""
    return report.verdict == "kept" or report.verdict in REFUSING


def verdict_name(out: Output, verdict: str) -> str:
    return verdict_words.verdict_name(out.language, verdict)


def reason(out: Output, report: SourceReport) -> str:
    """Why the source is not simply accepted, as a sentence; "" where there is nothing to say."""
    return verdict_words.verdict_reason(out.language, report)


def judged_line(out: Output, report: SourceReport) -> str:
    """A source that was not simply accepted, with the reason, as a line of a list."""
    return f"  {report.source}: {verdict_name(out, report.verdict)} - {reason(out, report)}"


def refusal_sentence(out: Output, refusal: SourceRefused) -> str:
    return verdict_words.refusal_reason(out.language, refusal.verdict, refusal.detail, refusal.values)


def notice_sentence(out: Output, notice: Notice) -> str:
    return verdict_words.notice_sentence(out.language, notice)
