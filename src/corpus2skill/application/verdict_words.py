"""The verdict on a source as sentences: what became of it and why. `language` is `ja` or `en`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import get_args

from corpus2skill.domain.corpus import Notice, Refusal, SourceReport
from corpus2skill.messages import has_message, message

REFUSING: frozenset[str] = frozenset(get_args(Refusal))


def verdict_name(language: str, verdict: str) -> str:
    return message(language, f"verdict.{verdict}")


def verdict_reason(language: str, report: SourceReport) -> str:
    """Why the source is not simply accepted; "" where there is nothing to say."""
    values = dict(report.values)
    match report.verdict:
        case "accepted":
            return ""
        case "kept":
            reason = refusal_reason(language, report.detail or "", None, values)
            return message(language, "verdict.kept.reason", reason=reason)
        case "renamed":
            return message(language, "verdict.renamed.reason", renamed_to=values.get("renamed_to", ""))
        case "duplicate":
            return message(language, "verdict.duplicate.reason", same_as=values.get("same_as", ""))
        case verdict if verdict in REFUSING:
            return refusal_reason(language, verdict, report.detail, values)
        case verdict:
            return message(language, f"verdict.{verdict}.reason")


def notice_sentence(language: str, notice: Notice) -> str:
    return message(language, f"notice.{notice.code}", **dict(notice.values))


def refusal_reason(language: str, verdict: str, detail: str | None, values: Mapping[str, object]) -> str:
    """The most exact sentence whose values are known; a source kept from before has fewer of them."""
    for key in _keys(verdict, detail):
        try:
            return message(language, key, **values)
        except KeyError:
            continue
    return verdict


def _keys(verdict: str, detail: str | None) -> Iterator[str]:
    keys = (f"refused.{verdict}.{detail}", f"refused.{verdict}", f"verdict.{verdict}")
    yield from (key for key in keys if has_message(key))
