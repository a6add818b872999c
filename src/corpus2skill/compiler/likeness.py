"""Which texts are like a given one, by the pairs of letters that they share."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

_COMMONEST = 0.2
"""A pair that more than this share of the texts have tells nothing; among a few texts it is always counted."""
_FEW = 20


class Likeness:
    """An index over texts. The same texts give the same answers everywhere."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._count = len(texts)
        holders: dict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(texts):
            for pair in _pairs(text):
                holders[pair].append(number)
        most = max(_COMMONEST * len(texts), _FEW)
        self._holders = {pair: held for pair, held in holders.items() if len(held) <= most}

    def nearest(self, text: str, count: int) -> list[int]:
        """The numbers of the `count` texts most like `text`, the likest first; the first ones where none is."""
        likeness: Counter[int] = Counter()
        for pair in sorted(_pairs(text)):
            held = self._holders.get(pair, ())
            weight = round(1000 * math.log(1 + self._count / len(held))) if held else 0
            for number in held:
                likeness[number] += weight
        ranked = sorted(likeness, key=lambda number: (-likeness[number], number))[:count]
        rest = (number for number in range(self._count) if number not in likeness)
        return [*ranked, *(next(rest) for _ in range(min(count - len(ranked), self._count - len(likeness))))]


def _pairs(text: str) -> set[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return {first + second for first, second in pairwise(folded) if first.isalnum() and second.isalnum()}
