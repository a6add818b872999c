"""One round's input: what is sent, how large it is, and what of the model's window is left."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from corpus2skill.domain.message import message_texts
from corpus2skill.domain.tokens import FRAME_TOKENS, upper_tokens
from corpus2skill.navigator.channel import max_output_tokens
from corpus2skill.navigator.get_document import tool_spec
from corpus2skill.navigator.prompt import system_prompt
from corpus2skill.navigator.run import Run
from corpus2skill.ports.navigator_model import NavigatorRequest

_FRAME_OF_A_TEXT = 16
"""Tokens that a provider may wrap around one part of a message."""


def build_request(run: Run, *, may_use_tools: bool = True) -> NavigatorRequest:
    """Return the request for the next round. But for `may_use_tools`, only its messages ever change in a run."""
    channel = run.question.channel
    return NavigatorRequest(
        system=system_prompt(run.language, channel, run.limits.fetches),
        messages=tuple(run.messages),
        tools=(tool_spec(run.language),),
        max_output_tokens=max_output_tokens(channel),
        language=run.language,
        channel=channel,
        may_use_tools=may_use_tools,
    )


def prompt_tokens(run: Run, request: NavigatorRequest, weigh: Callable[[str], int]) -> int:
    """Return what `request` stays below: what the provider counted of it last time, and what came since.

    `weigh` says what one text stays below.
    """
    if not run.counted_tokens:
        return FRAME_TOKENS + sum(map(weigh, request.texts))
    since = message_texts(islice(request.messages, run.counted_messages, None))
    return run.counted_tokens + sum(weigh(text) + _FRAME_OF_A_TEXT for text in since)


def reply_tokens(run: Run, request: NavigatorRequest) -> int:
    """Return what the reply stays below, its thinking counted."""
    return request.max_output_tokens + run.navigator.model.thinking_tokens


def room_left(run: Run) -> int:
    """Return the tokens of the model's window that are left for documents; not below 0.

    Set aside are the next reply and, should that ask for more, the reply after it.
    """
    request = build_request(run)
    sent = prompt_tokens(run, request, upper_tokens)
    replies = reply_tokens(run, request) + request.max_output_tokens
    return max(0, run.navigator.model.window - sent - replies)
