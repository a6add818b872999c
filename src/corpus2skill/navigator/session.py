"""A conversation as the model is shown it: what was asked and what was answered, nothing of how."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from corpus2skill.domain.language import Language
from corpus2skill.domain.message import Message, ModelMessage, ProgramMessage, Text
from corpus2skill.domain.session import Turn
from corpus2skill.domain.tokens import upper_tokens
from corpus2skill.messages import message

_SOURCE_NUMBERS = re.compile(r"[ \u3000]?\[\d{1,3}\]")
"""The numbered sources of an answer, which mean nothing in a later turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Earlier turns as messages, oldest first."""

    messages: tuple[Message, ...]
    left_out: int
    """Turns that did not fit."""


def build_history(turns: Sequence[Turn], tokens: int, language: Language) -> History:
    """Return the newest of `turns` that stay below so many `tokens` together.

    Where older ones are left out, the model is told so in front of the first that is kept.
    """
    kept: list[Turn] = []
    room = tokens
    for turn in reversed(turns):
        room -= sum(upper_tokens(text) for text in _texts(turn, language))
        if room < 0:
            break
        kept.append(turn)
    left_out = len(turns) - len(kept)
    messages = [part for turn in reversed(kept) for part in _messages(turn, language)]
    if left_out and kept:
        notice = left_out_notice(left_out, language)
        messages[0] = ProgramMessage((notice, Text(kept[-1].question)))
    return History(messages=tuple(messages), left_out=left_out)


def left_out_notice(turns: int, language: Language) -> Text:
    """Return the line that tells a model how much of the conversation it does not see."""
    return Text(message(language, "history.left_out", turns=turns))


def _messages(turn: Turn, language: Language) -> tuple[Message, Message]:
    question, answer = _texts(turn, language)
    return ProgramMessage((Text(question),)), ModelMessage((Text(answer),))


def _texts(turn: Turn, language: Language) -> tuple[str, str]:
    answer = _SOURCE_NUMBERS.sub("", turn.answer).strip() or message(language, "history.no_answer")
    return turn.question, answer
