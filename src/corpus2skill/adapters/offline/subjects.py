"""Whether a sentence is about what the question names, or about something beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from corpus2skill.adapters.offline.placed_pieces import PlacedPiece
from corpus2skill.adapters.offline.question import Question
from corpus2skill.adapters.offline.telling_terms import terms
from corpus2skill.adapters.offline.words import fold

_SIBLING_SHARE = 0.5
"""What is left of a score where the sentence names 年額 and the question 月額."""
_NAMED_LOSS = 0.4
_TOLD_LOSS = 0.2
"""What is lost where another leaf has a rare word of the question: in its title or headings, in its text."""
_ELSEWHERE_SHARE = 0.4
"""What is left outside the article that the question names by its number."""
_REFERENCE = re.compile(r"第\s*\d+\s*[編章節款条項](?:の\d+)?")
_GOES_ON = re.compile(r"の\d")


class Subjects:
    """What the question names, weighed against all that was read."""

    def __init__(
        self, question: Question, weights: Mapping[str, float], read: Sequence[Sequence[PlacedPiece]]
    ) -> None:
        """Look for the question's terms in the pieces of each leaf of `read`."""
        self._weights = weights
        self._heaviest = max(weights.values(), default=0.0) or 1.0
        self._words = {fold(term): words for term, words in question.terms}
        pieces = [piece for leaf in read for piece in leaf]
        named = "\n".join(text for piece in pieces for text in piece.above)
        told = "\n".join(piece.text for piece in pieces)
        self._named = frozenset(term for term in self._words if term in named)
        self._told = frozenset(term for term in self._words if term in told)
        self._reference = _reference(question.text)
        self.is_reference_alone = bool(self._reference) and all(
            term in self._reference for term in self._words
        )
        self._has_reference = any(map(self.is_referred_to, pieces))

    def is_referred_to(self, piece: PlacedPiece) -> bool:
        """True where the question names the article that `piece` stands in by its number."""
        return bool(self._reference) and any(_begins_with(text, self._reference) for text in piece.above)

    def share(self, piece: PlacedPiece, section: str) -> float:
        """Return what is left of the score of `piece` in `section`, whose text is folded: 0 to 1."""
        lost = [self._share(term, piece, section) for term in sorted(self._named | self._told)]
        is_elsewhere = self._has_reference and not self.is_referred_to(piece)
        return min(lost, default=1.0) * (_ELSEWHERE_SHARE if is_elsewhere else 1.0)

    def _share(self, term: str, piece: PlacedPiece, section: str) -> float:
        if term in piece.text:
            return 1.0
        above = "\n".join(piece.above)
        own_siblings = _siblings(term, piece.text)
        siblings_above = _siblings(term, above)
        if term in above:
            return _SIBLING_SHARE if own_siblings & siblings_above else 1.0
        if own_siblings or siblings_above:
            return _SIBLING_SHARE
        if term in section:
            return 1.0
        missing = set(self._words[term]) - piece.words - piece.words_above
        weight = max((self._weights.get(word, 0.0) for word in missing), default=0.0) / self._heaviest
        return 1 - weight * (_NAMED_LOSS if term in self._named else _TOLD_LOSS)


def _reference(text: str) -> str:
    """The article that `text` names by its number, "" for none."""
    match = _REFERENCE.search(fold(text))
    return "".join(match[0].split()) if match else ""


def _begins_with(text: str, reference: str) -> bool:
    return text.startswith(reference) and not _GOES_ON.match(text, len(reference))


def _siblings(term: str, text: str) -> frozenset[str]:
    """The terms of `text` that end as `term` and begin otherwise, as 年額プラン beside 月額プラン."""
    return frozenset(other for other in map(str.lower, terms(text)) if _are_siblings(term, other))


def _are_siblings(one: str, other: str) -> bool:
    least = min(len(one), len(other))
    same = next((at for at in range(least) if one[-1 - at] != other[-1 - at]), least)
    if same == least:
        return False
    if one.isascii():
        return one.count(" ") == other.count(" ") == 1 and one.partition(" ")[2] == other.partition(" ")[2]
    return same >= 2 and same * 2 >= least
