"""What is to be spoken while a question is answered aloud."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from corpus2skill.domain.run import RunRecord

FillerKind = Literal["start", "place", "wait", "long"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filler:
    """Something true to say while there is no answer yet. It is no part of the answer or of the history."""

    text: str
    kind: FillerKind


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenPiece:
    """A piece of the answer, of at most 60 characters."""

    number: int
    """From 1 in its answer."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechEnded:
    """There is nothing more to say."""

    record: RunRecord
    answer_ms: int | None
    """From the question to the answer's first piece; fillers do not count. None where nothing was said."""


SpeechEvent = Filler | SpokenPiece | SpeechEnded
