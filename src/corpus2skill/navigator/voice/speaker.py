"""From the events of a run to what is spoken.

A round's words are a reason or the answer, and only the round's end tells which. Nothing of them is therefore
spoken before: what is spoken is the answer of the finished run, with its markers resolved. The time until then
is filled with fillers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from corpus2skill.domain.run import RunEvent, RunFinished, RunRecord
from corpus2skill.domain.speech import Filler, SpeechEnded, SpeechEvent, SpokenPiece
from corpus2skill.navigator.trail import milliseconds
from corpus2skill.navigator.voice.fillers import Fillers
from corpus2skill.navigator.voice.pieces import pieces_of
from corpus2skill.ports.clock import Clock

RunEvents = asyncio.Queue[RunEvent | None]
"""Events of one run as they come; None where no more will come."""


async def speech(events: RunEvents, clock: Clock, offer: str | None = None) -> AsyncGenerator[SpeechEvent]:
    """Yield fillers while the run is under way, then its answer in pieces, then the end.

    Where the events stop without `RunFinished`, there is nothing to say and no end either.
    """
    began = clock.monotonic()
    fillers = Fillers(began, offer)
    while True:
        event = await _event_or_pause(events, fillers, clock)
        if event is None:
            return
        if isinstance(event, Filler):
            yield event
        elif isinstance(event, RunFinished):
            break
        else:
            fillers.notice(event)
    pieces = spoken_pieces(event.record)
    answered = clock.monotonic()
    for number, text in enumerate(pieces, start=1):
        yield SpokenPiece(number=number, text=text)
    answer_ms = milliseconds(answered - began) if pieces else None
    yield SpeechEnded(record=event.record, answer_ms=answer_ms)


def spoken_pieces(record: RunRecord) -> tuple[str, ...]:
    """Return what is spoken of a run's answer. Who interrupted it is speaking, and told nothing."""
    return () if record.outcome == "interrupted" else pieces_of(record.answer)


async def _event_or_pause(events: RunEvents, fillers: Fillers, clock: Clock) -> RunEvent | Filler | None:
    """Return the next event or, where none comes in time, the filler that is due."""
    if not events.empty():
        return events.get_nowait()
    coming = asyncio.ensure_future(events.get())
    try:
        await asyncio.wait({coming}, timeout=fillers.seconds_left(clock.monotonic()))
        return coming.result() if coming.done() else fillers.take(clock.monotonic())
    finally:
        coming.cancel()
