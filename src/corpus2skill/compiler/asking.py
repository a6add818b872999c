"""Asks a language model until its reply can be used: at most twice again, with the fault named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from corpus2skill.compiler.group_prompts import again_text
from corpus2skill.domain.language import Language
from corpus2skill.domain.message import ModelMessage, ProgramMessage, Text
from corpus2skill.domain.model_call import TextCall
from corpus2skill.domain.tokens import upper_prompt_tokens, upper_tokens
from corpus2skill.errors import BadReply, ModelRefused
from corpus2skill.messages import error_message
from corpus2skill.ports.language_model import LanguageModel

Value = TypeVar("Value")

MOST_ASKED_AGAIN = 2
_MOST_TOLD = 4
"""Faults named at once."""
_TOLD_LIMIT = 320
"""Characters of what is told."""
ROOM_TO_ASK_AGAIN = 700
"""Tokens that a call leaves free in the window, so that its faults can be told."""


@dataclass(frozen=True, slots=True)
class Judged(Generic[Value]):
    """What a reply says, and what is wrong with it though it can be used."""

    value: Value
    faults: tuple[BadReply, ...] = ()


class CutShort(Exception):
    """The reply ran into its limit: the same call would again, a smaller one may not."""


async def ask(
    model: LanguageModel, call: TextCall, read: Callable[[str], Judged[Value]], language: Language
) -> Value | None:
    """Return what the model says, or None where no reply could be used.

    A reply that can be used but has faults is asked for once more, and the better of the two is taken.
    `read` raises BadReply for one that cannot be used.

    Raises:
        CutShort: the reply was cut off at its limit.
        ModelUnavailable, ModelUnusable, SpendingCapReached: whatever the model says of itself goes up.
    """
    best: Judged[Value] | None = None
    question = call
    for number in range(1, 2 + MOST_ASKED_AGAIN):
        text, judged = await _once(model, question, read)
        if isinstance(judged, Judged):
            is_second = best is not None
            if best is None or len(judged.faults) < len(best.faults):
                best = judged
            if not judged.faults or is_second:
                break
        faults = judged.faults if isinstance(judged, Judged) else (judged,)
        told = _told(faults, number, language)
        question = _again(call, text, told, model.window)
    return None if best is None else best.value


def prompt_tokens(call: TextCall) -> int:
    """What the prompt of a call stays below, in tokens."""
    texts = [part.text for message in call.messages for part in message.parts if isinstance(part, Text)]
    return upper_prompt_tokens(call.system, call.schema, *texts)


async def _once(
    model: LanguageModel, call: TextCall, read: Callable[[str], Judged[Value]]
) -> tuple[str, Judged[Value] | BadReply]:
    """One reply, and what it says or why it cannot be used."""
    try:
        reply = await model.complete(call)
    except (ModelRefused, BadReply):
        return "", BadReply("grouping_refused")
    if reply.stop == "max_tokens":
        raise CutShort
    if reply.stop == "refusal":
        return "", BadReply("grouping_refused")
    try:
        return reply.text, read(reply.text)
    except BadReply as fault:
        return reply.text, fault


def _told(faults: Sequence[BadReply], number: int, language: Language) -> str:
    """What was wrong with reply `number`; no two such texts are alike, so that no reply is met twice."""
    words = "\n".join(error_message(language, fault) for fault in faults[:_MOST_TOLD])[:_TOLD_LIMIT]
    return again_text(words, number, language)


def _again(call: TextCall, reply: str, told: str, window: int) -> TextCall:
    """The question, the reply as far as it fits, and its faults; without a reply the faults join the question."""
    shown = _fitting(reply, window - call.max_output_tokens - prompt_tokens(call) - upper_tokens(told) - 8)
    if not shown:
        question = [part for message in call.messages for part in message.parts if isinstance(part, Text)]
        return replace(call, messages=(ProgramMessage((*question, Text(told))),))
    answered = (ModelMessage((Text(shown),)), ProgramMessage((Text(told),)))
    return replace(call, messages=(*call.messages, *answered))


def _fitting(reply: str, room: int) -> str:
    """The reply where it fits: half of one would only teach the model to stop half-way."""
    text = reply.strip()
    return text if text and upper_tokens(text) <= room else ""
