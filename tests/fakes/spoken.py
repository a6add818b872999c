"""A spoken conversation with everything around it faked, in the time of its loop: what is said, and when."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from corpus2skill.application.speak import HangUp, Speaking, SpokenConversation
from corpus2skill.domain.message import ModelEvent, Reply, TextDelta
from corpus2skill.domain.run import Heard, RunRecord
from corpus2skill.domain.speech import SpeechEnded, SpokenPiece
from corpus2skill.navigator.cancellation import Cancellation
from corpus2skill.ports.events import RunListener
from corpus2skill.ports.navigator_model import NavigatorModel, NavigatorRequest
from tests.fakes.navigation import QUESTION, Navigation
from tests.fakes.virtual_time import VirtualClock


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """One round: `wait` seconds until the first delta, `pace` seconds between two."""

    reply: Reply
    wait: float = 0.0
    pace: float = 0.0
    error: Exception | None = None
    """Raised after the deltas, instead of the reply."""


class TimedModel:
    """Plays rounds in their time. `requests` lists what it was asked."""

    name = "fake:timed"
    window = 10**9
    thinking_tokens = 0

    def __init__(self, *rounds: Timed) -> None:
        self._rounds = list(rounds)
        self.requests: list[NavigatorRequest] = []

    async def close(self) -> None:
        """Nothing to give back."""

    async def reply(self, request: NavigatorRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        played = self._rounds.pop(0)
        await asyncio.sleep(played.wait)
        for char in played.reply.text:
            yield TextDelta(char)
            await asyncio.sleep(played.pace)
        if played.error is not None:
            raise played.error
        yield played.reply


class SpokenNavigation:
    """One conversation of a caller, who hears at `seconds_a_character` where that is given."""

    def __init__(
        self,
        model: NavigatorModel,
        *,
        hang_up: HangUp = "cancel",
        offer: str | None = None,
        seconds_a_character: float = 0.0,
    ) -> None:
        self.navigation = Navigation(clock=VirtualClock())
        self.model = model
        self._pace = seconds_a_character
        self.conversation = SpokenConversation(self._ask, self.navigation.clock, hang_up=hang_up, offer=offer)
        self.opening = 0.0
        """Seconds before the run of the next question begins."""
        self.said: list[tuple[float, str]] = []
        """When, in seconds of the loop, and what."""
        self.ended: list[SpeechEnded] = []

    async def ask(self, question: str = QUESTION) -> RunRecord:
        """Listen to the whole answer of one question."""
        async with self.conversation.ask(question) as speaking:
            await self.listen(speaking)
        assert speaking.record is not None
        return speaking.record

    async def listen(self, speaking: Speaking, pieces: int | None = None) -> None:
        """Hear out what comes, or no more than so many `pieces` of the answer."""
        async for event in speaking:
            if isinstance(event, SpeechEnded):
                self.ended.append(event)
                continue
            self.said.append((round(self.navigation.clock.monotonic(), 2), event.text))
            await asyncio.sleep(len(event.text) * self._pace)
            if isinstance(event, SpokenPiece):
                speaking.spoken(event)
                if event.number == pieces:
                    return

    @property
    def words(self) -> list[str]:
        return [text for _, text in self.said]

    async def _ask(
        self, question: str, listener: RunListener, cancellation: Cancellation, heard: Heard | None
    ) -> RunRecord:
        await asyncio.sleep(self.opening)
        return await self.navigation.ask(
            self.model,
            question,
            channel="voice",
            listener=listener,
            cancellation=cancellation,
            heard_before=heard,
        )
