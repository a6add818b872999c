"""What an answer costs, and where its limit ends it."""

from __future__ import annotations

from dataclasses import replace

from corpus2skill.domain.message import ModelPart, ToolCall
from tests.fakes.providers.prompt import Answer
from tests.fakes.providers.wire import tokens


def output_tokens(answer: Answer) -> int:
    """Count the tokens of all that was generated, thinking counted."""
    return max(1, sum(tokens(_words(part)) for part in answer.parts))


def clipped(answer: Answer, limit: int | None) -> Answer:
    """End an answer at its limit of tokens, as a model ends: in the middle of a word or an object."""
    if limit is None or output_tokens(answer) <= limit:
        return answer
    left, kept = limit, list[ModelPart]()
    for part in answer.parts:
        if left <= 0:
            break
        words = _words(part)
        while tokens(words) > left:
            words = words[: len(words) - max(1, tokens(words) - left)]
        left -= tokens(words)
        kept.append(_with_words(part, words))
    return replace(answer, parts=tuple(kept), stop="max_tokens")


def _words(part: ModelPart) -> str:
    return part.arguments if isinstance(part, ToolCall) else part.text


def _with_words(part: ModelPart, words: str) -> ModelPart:
    return replace(part, arguments=words) if isinstance(part, ToolCall) else replace(part, text=words)
