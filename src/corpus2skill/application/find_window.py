"""How much a model reads: what is set or known, what its server says, or what it was seen to read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from corpus2skill.application.model_wiring import (
    listed_window,
    open_single_model,
    price_in_force,
    said_window,
)
from corpus2skill.application.wiring import Workspace
from corpus2skill.domain.message import ProgramMessage, Text, Usage
from corpus2skill.domain.model_call import TextCall, TextReply
from corpus2skill.domain.model_name import ModelName
from corpus2skill.domain.tokens import likely_tokens
from corpus2skill.errors import ModelError
from corpus2skill.ports.language_model import LanguageModel

Origin = Literal["set", "known", "said", "measured", "failed"]

_SIZES = (2_048, 4_096, 8_192, 16_384, 32_768)
"""Tokens of prompt and reply together that are tried, one after the other until one is too many."""
_MOST_DOLLARS = 0.10
"""Sizes that would make the measuring dearer than this are left out, where the price is known."""
_REPLY_TOKENS = 64
_ROOM = _REPLY_TOKENS + 96
"""What a prompt stays below its size by: the reply, and what a server wraps around the words."""
_ALL_OF_IT = 0.9
"""Of the expected tokens: a server that counts fewer has cut the prompt in silence."""
_CODE_WORD = "KUMQUAT-7316"
_SYSTEM = "Answer with the code word alone."
_LINE = "Line {number}: there is nothing to be found in this line, so please read on.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Tokens that prompt and reply may have together, and how that is known."""

    model: str
    origin: Origin
    """`measured`: at least so many; `failed`: not even the smallest prompt was read."""
    tokens: int
    is_used: bool
    """The compile reckons with that number already; otherwise it is to be written into the settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring:
    """What finding out will take, told before it begins."""

    model: str
    calls: int
    tokens: int
    dollars: float | None


async def find_window(
    workspace: Workspace, name: ModelName, base_url: str | None, tell: Callable[[Measuring], None]
) -> Window:
    """Find out, as cheaply as possible; `tell` is told of prompts that are paid for before the first is sent.

    Raises:
        UnusableSettings, ModelUnusable: the model cannot be opened.
    """
    if (tokens := workspace.settings.context_window) is not None:
        return Window(model=str(name), origin="set", tokens=tokens, is_used=True)
    chosen = base_url or workspace.settings.base_url
    if (tokens := listed_window(name, chosen)) is not None:
        return Window(model=str(name), origin="known", tokens=tokens, is_used=True)
    model = open_single_model(workspace, name, base_url)
    try:
        if (tokens := await said_window(model, name)) is not None:
            return Window(model=model.name, origin="said", tokens=tokens, is_used=tokens == model.window)
        sizes = _affordable(workspace, name, chosen, tell)
        tokens = await _measured(model, sizes)
    finally:
        await model.close()
    origin = "measured" if tokens else "failed"
    return Window(model=model.name, origin=origin, tokens=tokens, is_used=tokens == model.window)


def _affordable(
    workspace: Workspace, name: ModelName, base_url: str | None, tell: Callable[[Measuring], None]
) -> tuple[int, ...]:
    """Return the sizes to try, and tell what they will take at most."""
    price = price_in_force(workspace.settings, name, base_url)
    sizes = _SIZES
    while (dollars := price(_usage(sizes))) is not None and dollars > _MOST_DOLLARS and len(sizes) > 1:
        sizes = sizes[:-1]
    tell(Measuring(model=str(name), calls=len(sizes), tokens=sum(sizes), dollars=dollars))
    return sizes


def _usage(sizes: tuple[int, ...]) -> Usage:
    return Usage(input_tokens=sum(sizes), output_tokens=_REPLY_TOKENS * len(sizes))


async def _measured(model: LanguageModel, sizes: tuple[int, ...]) -> int:
    """Return the largest size that was read to its beginning; 0 where none was."""
    largest, tokens_a_line = 0, likely_tokens(_LINE.format(number=100)).high
    for size in sizes:
        lines = int((size - _ROOM) / tokens_a_line)
        try:
            reply = await model.complete(_call(lines))
        except ModelError:
            break
        if not _is_whole(reply, lines * tokens_a_line, is_guessed=not largest):
            break
        if reply.usage.input_tokens:
            tokens_a_line = reply.usage.input_tokens / lines
        largest = size
    return largest


def _is_whole(reply: TextReply, expected: float, *, is_guessed: bool) -> bool:
    """True where all of a prompt was read: by the server's count, or as the word at its head was."""
    if _CODE_WORD in reply.text:
        return True
    share = _ALL_OF_IT / 2 if is_guessed else _ALL_OF_IT
    return reply.usage.input_tokens >= share * expected


def _call(lines: int) -> TextCall:
    """A prompt whose only word of use stands at its head, where servers cut first."""
    words = "".join(_LINE.format(number=number) for number in range(1, lines + 1))
    asked = f"The code word is {_CODE_WORD}.\n\n{words}\nWhat is the code word?"
    return TextCall(
        purpose="trial",
        prompt_version="window-1",
        system=_SYSTEM,
        messages=(ProgramMessage((Text(asked),)),),
        schema="",
        max_output_tokens=_REPLY_TOKENS,
    )
