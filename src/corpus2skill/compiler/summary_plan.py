"""What the summaries of some chunks will probably take, said before any of them is asked for."""

from __future__ import annotations

from collections.abc import Iterable

from corpus2skill.domain.message import Text
from corpus2skill.domain.model_call import TextCall
from corpus2skill.domain.money import PlannedCalls, Span
from corpus2skill.domain.tokens import likely_tokens

_REPLY_TOKENS = Span(60, 180)
"""Of one reply: a title and a summary of usual length as JSON, in English at the low end, Japanese at the high."""
_ASKED_AGAIN = 1.1
"""The high end allows for one reply in ten that has to be asked for again."""


def most_summary_calls(chunks: int) -> int:
    """The calls for so many summaries, at the high end."""
    return round(chunks * _ASKED_AGAIN)


def planned_summaries(calls: Iterable[TextCall]) -> PlannedCalls:
    """Return the sum of `calls`, each made once or, at the high end, some of them twice."""
    count, characters, tokens = 0, 0, Span(0, 0)
    for call in calls:
        texts = [call.system, call.schema, *_texts(call)]
        count += 1
        characters += sum(map(len, texts))
        tokens = sum(map(likely_tokens, texts), tokens)
    return PlannedCalls(
        purpose="summarize",
        calls=Span(count, most_summary_calls(count)),
        prompt_characters=Span(characters, characters * _ASKED_AGAIN),
        input_tokens=Span(tokens.low, tokens.high * _ASKED_AGAIN),
        output_tokens=Span(count * _REPLY_TOKENS.low, count * _ASKED_AGAIN * _REPLY_TOKENS.high),
    )


def _texts(call: TextCall) -> Iterable[str]:
    return (part.text for message in call.messages for part in message.parts if isinstance(part, Text))
