"""The verdict on a source as words: what became of it and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import get_args

from corpus2skill.domain.corpus import Notice, Refusal, SourceReport
from corpus2skill.entrypoints.cli.output import Output
from corpus2skill.errors import SourceRefused
from corpus2skill.messages import has_message

REFUSING: frozenset[str] = frozenset(get_args(Refusal))


def is_warning(report: SourceReport) -> bool:
    """True where a person should look: the source was refused, today or with its last text kept."""
    return report.verdict == "kept" or report.verdict in REFUSING


def verdict_name(out: Output, verdict: str) -> str:
    return out.say(f"verdict.{verdict}")


def reason(out: Output, report: SourceReport) -> str:
    """Why the source is not simply accepted, as a sentence; "" where there is nothing to say."""
    values = dict(report.values)
    match report.verdict:
        case "accepted":
            return ""
        case "kept":
            return out.say("verdict.kept.reason", reason=_refusal(out, report.detail or "", None, values))
        case "renamed":
            return out.say("verdict.renamed.reason", renamed_to=values.get("renamed_to", ""))
        case "duplicate":
            return out.say("verdict.duplicate.reason", same_as=values.get("same_as", ""))
        case verdict if verdict in REFUSING:
            return _refusal(out, verdict, report.detail, values)
        case verdict:
            return out.say(f"verdict.{verdict}.reason")


def judged_line(out: Output, report: SourceReport) -> str:
    """A source that was not simply accepted, with the reason, as a line of a list."""
    return f"  {report.source}: {verdict_name(out, report.verdict)} - {reason(out, report)}"


def refusal_sentence(out: Output, refusal: SourceRefused) -> str:
    return _refusal(out, refusal.verdict, refusal.detail, refusal.values)


def notice_sentence(out: Output, notice: Notice) -> str:
    return out.say(f"notice.{notice.code}", **dict(notice.values))


def _refusal(out: Output, verdict: str, detail: str | None, values: Mapping[str, object]) -> str:
    """The most exact sentence whose values are known; a source kept from before has fewer of them."""
    for key in _keys(verdict, detail):
        try:
            return out.say(key, **values)
        except KeyError:
            continue
    return verdict


def _keys(verdict: str, detail: str | None) -> Iterator[str]:
    keys = (f"refused.{verdict}.{detail}", f"refused.{verdict}", f"verdict.{verdict}")
    yield from (key for key in keys if has_message(key))
