"""How much of an answer was heard, from the pieces of it that were spoken."""

from __future__ import annotations

from corpus2skill.domain.run import Heard, RunRecord
from corpus2skill.navigator.voice.speaker import spoken_pieces


def heard_of(record: RunRecord, pieces: int) -> Heard | None:
    """Return what the first so many `pieces` of the answer come to, None where that is all of it.

    Only a number is believed of a door: the words are those of our own record.
    """
    every = spoken_pieces(record)
    if pieces >= len(every):
        return None
    return Heard(run=record.ids.run, characters=_end_of("".join(every[: max(0, pieces)]), record.answer))


def _end_of(spoken: str, answer: str) -> int:
    """Return where in `answer` the beginning `spoken` ends; white space may differ."""
    left = sum(not char.isspace() for char in spoken)
    for position, char in enumerate(answer):
        if not left:
            return position
        left -= not char.isspace()
    return len(answer)
