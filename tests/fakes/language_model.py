"""A language model that answers what a test wrote down for it: texts, replies, errors or a function of the call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from corpus2skill.domain.message import ModelEvent, Reply, Text, TextDelta, Usage
from corpus2skill.domain.model_call import TextCall, TextReply
from corpus2skill.ports.navigator_model import NavigatorRequest

Answer = str | TextReply | BaseException | Callable[[TextCall], "str | TextReply | BaseException"]
_T = TypeVar("_T")
Round = str | Reply | BaseException | Callable[[NavigatorRequest], "str | Reply | BaseException"]


class FakeLanguageModel:
    """Answers calls with `answers` in their order; where one is left it is repeated.

    `rounds` do the same for `reply`. `calls` and `requests` list what it was asked, `most_at_once` is the
    highest number of calls under way together.
    """

    def __init__(
        self,
        *answers: Answer,
        rounds: tuple[Round, ...] = (),
        name: str = "fake:model",
        window: int = 100_000,
        thinking_tokens: int = 0,
        usage: Usage = Usage(input_tokens=100, output_tokens=20),
    ) -> None:
        self._answers = list(answers)
        self._rounds = list(rounds)
        self._usage = usage
        self._under_way = 0
        self.name = name
        self.identity = f"{name} fake-1"
        self.window = window
        self.thinking_tokens = thinking_tokens
        self.calls: list[TextCall] = []
        self.requests: list[NavigatorRequest] = []
        self.most_at_once = 0
        self.is_closed = False

    def answer_with(self, *answers: Answer) -> None:
        """Go on with these answers."""
        self._answers = list(answers)

    async def complete(self, call: TextCall) -> TextReply:
        self.calls.append(call)
        self._under_way += 1
        self.most_at_once = max(self.most_at_once, self._under_way)
        try:
            await asyncio.sleep(0)
            return self._text_reply(_next(self._answers), call)
        finally:
            self._under_way -= 1

    async def reply(self, request: NavigatorRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        await asyncio.sleep(0)
        wanted = _next(self._rounds)
        if not isinstance(wanted, str | Reply | BaseException):
            wanted = wanted(request)
        if isinstance(wanted, BaseException):
            raise wanted
        reply = (
            Reply(parts=(Text(wanted),), stop="end", usage=self._usage) if isinstance(wanted, str) else wanted
        )
        if reply.text:
            yield TextDelta(reply.text)
        yield reply

    async def close(self) -> None:
        self.is_closed = True

    def _text_reply(self, answer: Answer, call: TextCall) -> TextReply:
        if not isinstance(answer, str | TextReply | BaseException):
            answer = answer(call)
        if isinstance(answer, BaseException):
            raise answer
        return TextReply(text=answer, stop="end", usage=self._usage) if isinstance(answer, str) else answer


def _next(script: list[_T]) -> _T:
    if not script:
        raise AssertionError("the model was asked, and the script says nothing")
    return script[0] if len(script) == 1 else script.pop(0)
