"""Paid results to keep and find."""

from __future__ import annotations

import hashlib

from corpus2skill.domain.message import Usage
from corpus2skill.domain.model_call import Purpose, TextReply
from corpus2skill.ports.result_store import PaidResult
from tests.fakes.clock import START

USAGE = Usage(input_tokens=900, output_tokens=60, cached_tokens=500, cache_written_tokens=100)


def key_of(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def reply(text: str = '{"title":"解約","summary":"年額の解約。"}') -> TextReply:
    return TextReply(text=text, stop="end", usage=USAGE)


def result(
    name: str,
    *,
    text: str = '{"title":"解約","summary":"年額の解約。"}',
    corpus: str = "terms",
    model: str = "fake:model",
    purpose: Purpose = "summarize",
    subject: str = "chunk",
    dollars: float | None = 0.001,
) -> PaidResult:
    """Return the result of the call `name`."""
    return PaidResult(
        key=key_of(name),
        corpus=corpus,
        model=model,
        purpose=purpose,
        subject=subject,
        prompt_characters=1_200,
        reply=reply(text),
        dollars=dollars,
        paid_at=START,
    )
