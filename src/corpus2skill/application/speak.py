"""Answer aloud: what every voice door (browser, telephone, command line) does with a question.

A door plays what it is given, reports each piece that was really spoken, and says when somebody speaks over it:

```python
async with spoken.ask("年額プランの解約は？") as speaking:
    async for event in speaking:
        if isinstance(event, SpokenPiece):
            await play(event.text)
            speaking.spoken(event)
        elif isinstance(event, Filler):
            await play(event.text)
```
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from types import TracebackType
from typing import Literal, Protocol

from corpus2skill.application.ask import AskOptions, ask
from corpus2skill.application.wiring import Workspace
from corpus2skill.domain.run import Heard, RunEvent, RunFinished, RunRecord
from corpus2skill.domain.speech import SpeechEnded, SpeechEvent, SpokenPiece
from corpus2skill.navigator.cancellation import Cancellation
from corpus2skill.navigator.voice.heard import heard_of
from corpus2skill.navigator.voice.speaker import RunEvents, speech
from corpus2skill.ports.clock import Clock
from corpus2skill.ports.events import RunListener

_log = logging.getLogger(__name__)

HangUp = Literal["cancel", "go_on"]
"""What becomes of the run of a caller who has gone: it is ended and costs no more, or finished for the record."""

_Start = Callable[[RunListener, Cancellation], Awaitable[RunRecord]]


class AskAloud(Protocol):
    """Answers a question of one conversation on the voice channel."""

    def __call__(
        self, question: str, listener: RunListener, cancellation: Cancellation, heard_before: Heard | None, /
    ) -> Awaitable[RunRecord]: ...


class SpokenConversation:
    """Questions one after another, each of which may break into the answer before."""

    def __init__(
        self, ask: AskAloud, clock: Clock, *, hang_up: HangUp = "cancel", offer: str | None = None
    ) -> None:
        """`offer` is said to somebody who has waited long, where the door can do something for them."""
        self._ask = ask
        self._clock = clock
        self._hang_up: HangUp = hang_up
        self._offer = offer
        self._last: Speaking | None = None

    def ask(self, question: str, listener: RunListener | None = None) -> Speaking:
        """Return the question as something to enter and listen to.

        What is still being looked up or spoken then is broken off first, and its record is closed.
        """
        before = self._last

        async def start(told: RunListener, cancellation: Cancellation) -> RunRecord:
            heard = None if before is None else await before.break_off()
            return await self._ask(question, told, cancellation, heard)

        self._last = Speaking(start, self._clock, hang_up=self._hang_up, offer=self._offer, listener=listener)
        return self._last


class Speaking:
    """One question being answered aloud: entered once, iterated once. Its run begins when it is entered."""

    def __init__(
        self,
        start: _Start,
        clock: Clock,
        *,
        hang_up: HangUp = "cancel",
        offer: str | None = None,
        listener: RunListener | None = None,
    ) -> None:
        self._start = start
        self._clock = clock
        self._hang_up: HangUp = hang_up
        self._offer = offer
        self._listener = listener
        self._events: RunEvents = asyncio.Queue()
        self._cancellation = Cancellation()
        self._run: asyncio.Future[RunRecord] | None = None
        self._pieces_spoken = 0
        self._is_interrupted = False
        self._has_ended = False
        self.record: RunRecord | None = None
        """Of the run, once it is over. It may be so before a word of its answer is spoken."""

    def spoken(self, piece: SpokenPiece) -> None:
        """Note that `piece` was heard to its end."""
        self._pieces_spoken = max(self._pieces_spoken, piece.number)

    def interrupt(self) -> None:
        """Stop: somebody speaks over it. A run under way ends `interrupted`; of an answer no more comes."""
        self._is_interrupted = True
        self._cancellation.cancel("barge_in")

    async def break_off(self) -> Heard | None:
        """Interrupt what has not ended, wait for the record, and return how much of the answer was heard.

        None: all of it, or the record tells itself.
        """
        if not self._has_ended:
            self.interrupt()
        if self._run is not None:
            await asyncio.wait({self._run})
        if self.record is None or not self._is_interrupted:
            return None
        return heard_of(self.record, self._pieces_spoken)

    async def __aenter__(self) -> Speaking:
        self._run = asyncio.ensure_future(self._start(self._hear, self._cancellation))
        self._run.add_done_callback(lambda _: self._events.put_nowait(None))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Wait for the record; with `hang_up` as "cancel" the run is ended first."""
        assert self._run is not None
        if self._hang_up == "cancel":
            self._cancellation.cancel("stop")
        await asyncio.wait({self._run})
        if not self._run.cancelled() and (failure := self._run.exception()) is not None and kind is None:
            raise failure

    async def __aiter__(self) -> AsyncGenerator[SpeechEvent]:
        """Yield what is to be spoken.

        Raises:
            InvalidQuestion, and all else that a question may be refused with: nothing was begun.
        """
        assert self._run is not None
        async for event in speech(self._events, self._clock, self._offer):
            if self._is_interrupted and not isinstance(event, SpeechEnded):
                continue
            self._has_ended = isinstance(event, SpeechEnded)
            yield event
        if not self._has_ended:
            await self._run

    def _hear(self, event: RunEvent) -> None:
        if isinstance(event, RunFinished):
            self.record = event.record
        self._events.put_nowait(event)
        if self._listener is None:
            return
        try:
            self._listener(event)
        except Exception:  # noqa: BLE001 -- who only watches may not silence the speech, whatever they raise
            _log.exception("a listener to a spoken question failed and is told nothing more")
            self._listener = None


def ask_aloud(workspace: Workspace, options: AskOptions, listener: RunListener | None = None) -> Speaking:
    """Return one question as something to enter and listen to."""

    async def start(told: RunListener, cancellation: Cancellation) -> RunRecord:
        return await ask(workspace, replace(options, channel="voice"), told, cancellation)

    return Speaking(start, workspace.clock, listener=listener)
