"""Clusters branches by their words where their authors gave no order worth keeping.

The set is cut in two again and again. All arithmetic is on whole numbers, so the answer is the same on every
machine and for any number of threads.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from corpus2skill.adapters.offline.outline import Branch

_WIDTH = 512
"""Numbers per vector; words fall on them by their hash."""
_SCALE = 1024
"""Length of every vector."""
_ROUNDS = 8
_SMALLEST_SHARE = 4
"""No half is smaller than one part in so many."""

Whole = npt.NDArray[np.int64]


def cluster(branches: Sequence[Branch], words: Sequence[Counter[str]]) -> Branch:
    """Return a nameless branch with two in it, each with two in it, and so on down to `branches`.

    `words` has the words of each branch.
    """
    vectors = _vectors(words)
    root = Branch(title="")
    waiting: list[tuple[Branch, Whole]] = [(root, np.arange(len(branches)))]
    while waiting:
        above, places = waiting.pop()
        above.size = sum(branches[int(place)].size for place in places)
        halves = _halves(places, vectors)
        above.adopt([branches[int(half[0])] if len(half) == 1 else Branch(title="") for half in halves])
        waiting.extend(
            (entry, half)
            for entry, half in zip(above.branches(), halves, strict=True)
            if len(half) > 1
        )
    return root


def _vectors(words: Sequence[Counter[str]]) -> npt.NDArray[np.int32]:
    """One vector of whole numbers and length `_SCALE` for each branch: TF-IDF, folded by hash."""
    having = Counter(word for counted in words for word in counted)
    vectors = np.zeros((len(words), _WIDTH), dtype=np.int32)
    for row, counted in enumerate(words):
        folded = [0] * _WIDTH
        for word, count in sorted(counted.items()):
            code = zlib.crc32(word.encode("utf-8"))
            rarity = (len(words) * 16 // having[word]).bit_length() - 4
            value = count.bit_length() * rarity
            folded[code % _WIDTH] += value if code & 0x10000 else -value
        length = math.isqrt(sum(value * value for value in folded)) or 1
        vectors[row] = [value * _SCALE // length for value in folded]
    return vectors


def _halves(places: Whole, vectors: npt.NDArray[np.int32]) -> tuple[Whole, Whole]:
    """Cut `places` in two: the two-means of their vectors, from the two ends of the set."""
    own = vectors[places]
    first = int(np.argmin(_dots(own, _mean(own))))
    second = int(np.argmin(_dots(own, own[first].astype(np.int64))))
    pull = _dots(own, own[first] - own[second].astype(np.int64))
    for _ in range(_ROUNDS):
        is_left = _is_left(pull)
        new_pull = _dots(own, _mean(own[is_left]) - _mean(own[~is_left]))
        if np.array_equal(_is_left(new_pull), is_left):
            break
        pull = new_pull
    is_left = _is_left(pull)
    left, right = places[is_left], places[~is_left]
    return (left, right) if left[0] < right[0] else (right, left)


def _is_left(pull: Whole) -> npt.NDArray[np.bool_]:
    """The ones that are pulled to the first side, but neither too few nor too many of them."""
    least = max(len(pull) // _SMALLEST_SHARE, 1)
    wanted = min(max(int((pull > 0).sum()), least), len(pull) - least)
    is_left = np.zeros(len(pull), dtype=np.bool_)
    is_left[np.argsort(-pull, kind="stable")[:wanted]] = True
    return is_left


def _mean(vectors: npt.NDArray[np.int32]) -> Whole:
    total = vectors.sum(axis=0, dtype=np.int64)
    length = math.isqrt(int(total @ total)) or 1
    return total * _SCALE // length


def _dots(vectors: npt.NDArray[np.int32], direction: Whole) -> Whole:
    """Dot products, in whole numbers: no rounding, no order of adding."""
    return vectors.astype(np.int64) @ direction
