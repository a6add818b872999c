"""A navigator model that says what a test wrote down for it, well behaved or not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass

from corpus2skill.domain.message import (
    ModelEvent,
    ModelPart,
    Reply,
    StopReason,
    Text,
    TextDelta,
    ToolCall,
    Usage,
)
from corpus2skill.ports.navigator_model import NavigatorRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One round: deltas first, then an effect (time passing, an error, a hang), then the events."""

    deltas: tuple[str, ...] = ()
    effect: Callable[[], object] | None = None
    error: BaseException | None = None
    hangs: bool = False
    ignores_cancellation: bool = False
    """While it hangs: takes the first cancellation for nothing and replies as if nothing had been."""
    events: tuple[ModelEvent, ...] = ()


Step = Reply | BaseException | Script | Callable[[NavigatorRequest], "Reply | Script"]


class ScriptedModel:
    """Plays `steps`, one a round; the last one is repeated where `is_repeating`, else more is a failure.

    `requests` lists what it was asked.
    """

    name = "fake:scripted"
    window = 10**9
    thinking_tokens = 0

    def __init__(self, *steps: Step, is_repeating: bool = False) -> None:
        self._steps = list(steps)
        self._is_repeating = is_repeating
        self.requests: list[NavigatorRequest] = []
        self.hanging = asyncio.Event()
        """Set when a round hangs."""

    async def close(self) -> None:
        """Nothing to give back."""

    async def reply(self, request: NavigatorRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        script = self._next(request)
        for delta in script.deltas:
            yield TextDelta(delta)
        if script.effect is not None:
            script.effect()
        if script.hangs:
            await self._hang(is_deaf=script.ignores_cancellation)
        if script.error is not None:
            raise script.error
        for event in script.events:
            yield event

    def _next(self, request: NavigatorRequest) -> Script:
        if not self._steps:
            raise AssertionError("the model was asked more often than the script says")
        step = self._steps[0] if self._is_repeating and len(self._steps) == 1 else self._steps.pop(0)
        if isinstance(step, BaseException):
            return Script(error=step)
        if not isinstance(step, Reply | Script):
            step = step(request)
        return Script(events=(step,)) if isinstance(step, Reply) else step

    async def _hang(self, *, is_deaf: bool) -> None:
        self.hanging.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if not is_deaf:
                raise


def says(text: str, *, stop: StopReason = "end", usage: Usage = Usage()) -> Reply:
    """A reply of words alone."""
    return Reply(parts=(Text(text),), stop=stop, usage=usage)


def wants(*paths: str, why: str = "", stop: StopReason = "tool_use", usage: Usage = Usage()) -> Reply:
    """A reply that asks for these paths, after the words `why`."""
    calls = (call({"path": path}, number) for number, path in enumerate(paths))
    return of(*((Text(why),) if why else ()), *calls, stop=stop, usage=usage)


def of(*parts: ModelPart, stop: StopReason = "tool_use", usage: Usage = Usage()) -> Reply:
    return Reply(parts=parts, stop=stop, usage=usage)


def call(arguments: object, number: int = 0, *, name: str = "get_document") -> ToolCall:
    """A tool call; `arguments` as they are where they are text, else as JSON."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(call_id=f"call_{number}", name=name, arguments=written)


def streamed(deltas: Iterable[str], reply: Reply) -> Script:
    return Script(deltas=tuple(deltas), events=(reply,))
