"""Rounds of many runs behind the rate of the one key that they share."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from corpus2skill.domain.message import ModelEvent, Reply
from corpus2skill.domain.tokens import upper_prompt_tokens
from corpus2skill.errors import ModelUnavailable
from corpus2skill.paying.rate import KeyRate
from corpus2skill.ports.navigator_model import NavigatorModel, NavigatorRequest

_LONGEST_PAUSE = 5.0
"""Seconds that a round stands in line for without a word."""


class RatedModel:
    """A `NavigatorModel` over one that tries once: each round waits until its key may be used.

    What the provider says of its own limits, 429 and `retry-after`, slows all runs of the key down and not
    only the one that met it.
    """

    def __init__(self, model: NavigatorModel, rate: KeyRate) -> None:
        self._model = model
        self._rate = rate

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def window(self) -> int:
        return self._model.window

    @property
    def thinking_tokens(self) -> int:
        return self._model.thinking_tokens

    async def reply(self, request: NavigatorRequest) -> AsyncIterator[ModelEvent]:
        """
        Raises:
            as the port; `ModelUnavailable` too where the provider has told another run to stay away for long:
                whether somebody can wait for that is decided by the loop.
        """
        pause = self._rate.pause_left
        if pause > _LONGEST_PAUSE:
            raise ModelUnavailable("key_paused", retry_after=pause, model=self.name, seconds=f"{pause:.0f}")
        async with aclosing(rated_reply(self._model, request, self._rate)) as events:
            async for event in events:
                yield event

    async def close(self) -> None:
        await self._model.close()


async def rated_reply(
    model: NavigatorModel, request: NavigatorRequest, rate: KeyRate
) -> AsyncGenerator[ModelEvent]:
    """Pass one round through when `rate` lets it; whether it is tried again is decided by the loop.

    Raises:
        as `NavigatorModel.reply`.
    """
    tokens = upper_prompt_tokens(*request.texts) + request.max_output_tokens + model.thinking_tokens
    async with rate.turn(tokens) as turn:
        events = model.reply(request)
        try:
            async for event in events:
                if isinstance(event, Reply):
                    turn.used(event.usage.input_tokens + event.usage.output_tokens)
                yield event
        finally:
            if isinstance(events, AsyncGenerator):
                await events.aclose()
