"""Text as it comes, cut into pieces to be spoken: sentences, and parts of those that are too long."""

from __future__ import annotations

from collections.abc import Iterator

from corpus2skill.navigator.voice.long_sentence import LOOK_AHEAD, early_cut, forced_cut
from corpus2skill.navigator.voice.sentence_end import NeedsMore, sentence_end

LONGEST = 60
"""Characters of a piece: about ten seconds of Japanese. Some browsers' voices fall silent after fourteen."""
EARLY = 12
"""Characters from which on the first piece may end at a comma, so that speaking begins early."""


class PieceCutter:
    """Fed text in portions of any size; gives pieces out as soon as they are certain.

    The pieces together are the text, white space aside, and they do not depend on the portions.
    """

    def __init__(self) -> None:
        self._held = ""
        self._is_first = True

    def feed(self, text: str) -> list[str]:
        """Take `text` and return the pieces that it completes."""
        self._held += text
        return list(self._pieces(is_whole=False))

    def flush(self) -> list[str]:
        """Return what is left: nothing more comes."""
        return list(self._pieces(is_whole=True))

    def _pieces(self, *, is_whole: bool) -> Iterator[str]:
        while held := self._held.lstrip():
            self._held = held
            try:
                end = _piece_end(held, is_first=self._is_first, is_whole=is_whole)
            except NeedsMore:
                return
            self._held, self._is_first = held[end:], False
            # A line end within a quotation is no pause.
            yield " ".join(held[:end].split())


def pieces_of(text: str) -> tuple[str, ...]:
    """Return the pieces of a whole text."""
    cutter = PieceCutter()
    return (*cutter.feed(text), *cutter.flush())


def _piece_end(held: str, *, is_first: bool, is_whole: bool) -> int:
    """Return where the first piece of `held` ends.

    Raises:
        NeedsMore: what has come so far does not tell.
    """
    comma = early_cut(held, EARLY, LONGEST) if is_first else None
    if comma is not None and sentence_end(held[:comma], LONGEST, is_whole=True) == comma:
        return comma
    end = sentence_end(held, LONGEST, is_whole=is_whole)
    if end is not None:
        return end
    if len(held) <= LONGEST:
        return len(held)
    if len(held) < LONGEST + LOOK_AHEAD and not is_whole:
        raise NeedsMore
    return forced_cut(held, LONGEST)
