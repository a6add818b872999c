"""A language model without a network: the fake providers' brain, asked directly."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator

from corpus2skill.domain.message import ModelEvent, ProgramMessage, Text, Usage
from corpus2skill.domain.model_call import TextCall, TextReply
from corpus2skill.domain.tokens import upper_prompt_tokens
from corpus2skill.paying.call_key import prompt_texts
from corpus2skill.ports.navigator_model import NavigatorRequest
from tests.fakes.providers.brain import rule_brain
from tests.fakes.providers.prompt import Prompt, Turn


class InProcessModel:
    """A `LanguageModel`. `seconds` is the CPU that its brain took."""

    name = "openai:in-process"
    identity = "in-process"
    thinking_tokens = 0

    def __init__(self, window: int) -> None:
        self.window = window
        self.seconds = 0.0
        self.largest_prompt = 0
        """Tokens, at most."""
        self.largest_call = 0
        """The same with the room for its reply."""

    async def complete(self, call: TextCall) -> TextReply:
        await asyncio.sleep(0)
        began = time.thread_time()
        tokens = upper_prompt_tokens(*prompt_texts(call))
        self.largest_prompt = max(self.largest_prompt, tokens)
        self.largest_call = max(self.largest_call, tokens + call.max_output_tokens)
        answer = rule_brain(_prompt(call))
        self.seconds += time.thread_time() - began
        return TextReply(text=answer.text, stop="end", usage=Usage(input_tokens=tokens, output_tokens=100))

    def reply(self, request: NavigatorRequest) -> AsyncIterator[ModelEvent]:
        raise NotImplementedError

    async def close(self) -> None:
        pass


def _prompt(call: TextCall) -> Prompt:
    turns = tuple(
        Turn(
            role="user" if isinstance(message, ProgramMessage) else "assistant",
            parts=tuple(part for part in message.parts if isinstance(part, Text)),
        )
        for message in call.messages
    )
    return Prompt(
        provider="openai",
        model="in-process",
        system=call.system,
        turns=turns,
        schema=json.loads(call.schema),
        max_tokens=call.max_output_tokens,
    )
