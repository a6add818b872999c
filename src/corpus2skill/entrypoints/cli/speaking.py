"""An answer piece by piece, as a voice would speak it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpus2skill.domain.run import RunRecord
from corpus2skill.domain.speech import Filler, SpeechEnded, SpokenPiece
from corpus2skill.entrypoints.cli.desk import Desk
from corpus2skill.entrypoints.cli.trail import TrailListener

if TYPE_CHECKING:
    from corpus2skill.application.ask import AskOptions


async def speak_answer(desk: Desk, options: AskOptions) -> RunRecord:
    """Write each piece of the answer as a line of standard output, fillers as notes, each when it would be said."""
    from corpus2skill.application.speak import ask_aloud

    out = desk.out
    async with ask_aloud(desk.workspace, options, TrailListener(out)) as speaking:
        async for event in speaking:
            match event:
                case SpokenPiece(text=text):
                    out.answer(text)
                case Filler(text=text):
                    out.note(out.say("cli.filler", text=text))
                case SpeechEnded(record=record):
                    if record.is_truncated:
                        out.note(out.say("cli.truncated"))
    assert speaking.record is not None
    return speaking.record
