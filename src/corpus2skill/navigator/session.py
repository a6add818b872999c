"""A conversation as the model is shown it: what was asked and what was answered, nothing of how."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from corpus2skill.domain.language import Language
from corpus2skill.domain.message import Message, ModelMessage, ProgramMessage, Text
from corpus2skill.domain.session import Turn
from corpus2skill.messages import message

_SOURCE_NUMBERS = re.compile(r"[ \u3000]?\[\d{1,3}\]")
"""The numbered sources of an answer, which mean nothing in a later turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Earlier turns as messages, oldest first."""

    messages: tuple[Message, ...]
    left_out: int
    """Turns that did not fit."""


def build_history(turns: Sequence[Turn], limit: int, language: Language) -> History:
    """Return the newest of `turns` that fit into `limit` characters together."""
    kept: list[Turn] = []
    room = limit
    for turn in reversed(turns):
        room -= len(turn.question) + len(turn.answer)
        if room < 0:
            break
        kept.append(turn)
    messages = tuple(part for turn in reversed(kept) for part in _messages(turn, language))
    return History(messages=messages, left_out=len(turns) - len(kept))


def _messages(turn: Turn, language: Language) -> tuple[Message, Message]:
    answer = _SOURCE_NUMBERS.sub("", turn.answer).strip() or message(language, "history.no_answer")
    return ProgramMessage((Text(turn.question),)), ModelMessage((Text(answer),))
