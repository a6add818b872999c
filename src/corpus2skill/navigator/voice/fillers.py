"""What is said while the answer is not there yet: few words, at set times, each true when it is said."""

from __future__ import annotations

from corpus2skill.domain.ids import ROOT_PATH
from corpus2skill.domain.language import Language
from corpus2skill.domain.run import NodeVisited, RunEvent, RunStarted
from corpus2skill.domain.speech import Filler, FillerKind
from corpus2skill.domain.trail import Visit
from corpus2skill.messages import message
from corpus2skill.navigator.voice.speakable import speakable

MARKS: tuple[tuple[float, FillerKind], ...] = ((0.8, "start"), (4.0, "place"), (9.0, "wait"), (20.0, "long"))
"""Seconds after the question, for as long as there is no answer."""
_GAP = 3.0
"""Seconds between two fillers at least, should one have been said late."""
_PLACE_LIMIT = 30
"""Characters of a title that can be followed by ear; a longer one is not named."""


class Fillers:
    """The fillers of one run, which `notice` keeps true."""

    def __init__(self, began: float, offer: str | None = None) -> None:
        """`began` is when the question ended: seconds of `Clock.monotonic`.

        `offer` is what the door can do for somebody who has waited long (put them through to a person, say).
        """
        self._began = began
        self._offer = offer
        self._marks = list(MARKS)
        self._last: float | None = None
        self._language: Language | None = None
        self._place: str | None = None

    def notice(self, event: RunEvent) -> None:
        """Take in what the run is at."""
        if isinstance(event, RunStarted):
            self._language = event.language
        elif isinstance(event, NodeVisited) and self._language is not None:
            self._place = _place(event.visit, self._language) or self._place

    def seconds_left(self, now: float) -> float | None:
        """Return how long to wait for the next filler, None where there will be none."""
        if not self._marks or self._language is None:
            return None
        due = self._began + self._marks[0][0]
        if self._last is not None:
            due = max(due, self._last + _GAP)
        return max(0.0, due - now)

    def take(self, now: float) -> Filler:
        """Return the filler that is due: the first always greets the question, later ones go by the time.

        What was missed is not caught up on.
        """
        assert self._language is not None
        _, kind = self._marks.pop(0)
        while self._marks and self._began + self._marks[0][0] <= now:
            _, later = self._marks.pop(0)
            kind = kind if self._last is None else later
        self._last = now
        return Filler(text=self._words(kind, self._language), kind=kind)

    def _words(self, kind: FillerKind, language: Language) -> str:
        if kind == "place" and self._place is None:
            return message(language, "voice.filler.looking")
        words = message(language, f"voice.filler.{kind}", place=self._place)
        return f"{words} {self._offer}" if kind == "long" and self._offer else words


def _place(visit: Visit, language: Language) -> str | None:
    """The name of a place on the way, where it can be followed by ear."""
    if visit.status != "found" or visit.path == ROOT_PATH:
        return None
    title = speakable(visit.title, language)
    return title if title and len(title) <= _PLACE_LIMIT and "\n" not in title else None
