"""Clusters branches by their words where their authors gave no order worth keeping.

Many are cut in two again and again; few are joined, the two nearest first. All sums are of whole numbers, so
the answer is the same on every machine and for any number of threads.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from corpus2skill.adapters.offline.joining import joined
from corpus2skill.adapters.offline.outline import Branch, cluster_of
from corpus2skill.adapters.offline.word_vectors import LENGTH, Vectors, word_vectors

_WIDTH = 512
_FULL_WIDTH = 4096
"""Numbers per vector while many are cut in two, and when few are joined."""
_FEW = 512
"""So many are joined one by one; more are cut in two again and again until there are so few."""
_ROUNDS = 8
_SMALLEST_SHARE = 4
"""No half is smaller than one part in so many."""

Whole = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def cluster(branches: Sequence[Branch], words: Sequence[Counter[str]]) -> Branch:
    """Return a nameless branch with two in it, each with two in it, and so on down to `branches`.

    `words` has the words of each branch.
    """
    vectors = word_vectors(words, _WIDTH) if len(branches) > _FEW else None
    return _within(np.arange(len(branches)), branches, words, vectors)


def _within(
    places: Whole, branches: Sequence[Branch], words: Sequence[Counter[str]], vectors: Vectors | None
) -> Branch:
    if vectors is None or len(places) <= _FEW:
        own_words = [words[int(place)] for place in places]
        return joined([branches[int(place)] for place in places], word_vectors(own_words, _FULL_WIDTH))
    halves = [_within(half, branches, words, vectors) for half in _halves(places, vectors)]
    return cluster_of(halves, looseness=math.inf)


def _halves(places: Whole, vectors: Vectors) -> tuple[Whole, Whole]:
    """Cut `places` in two: the two-means of their vectors, from the two ends of the set."""
    own = vectors[places].astype(np.float64)
    total = own.sum(axis=0)
    first = int(np.argmin(own @ _mean(total)))
    second = int(np.argmin(own @ own[first]))
    pull = own @ (own[first] - own[second])
    for _ in range(_ROUNDS):
        is_left = _is_left(pull)
        left_total = is_left.astype(np.float64) @ own
        new_pull = own @ (_mean(left_total) - _mean(total - left_total))
        if np.array_equal(_is_left(new_pull), is_left):
            break
        pull = new_pull
    is_left = _is_left(pull)
    left, right = places[is_left], places[~is_left]
    return (left, right) if left[0] < right[0] else (right, left)


def _is_left(pull: Floats) -> npt.NDArray[np.bool_]:
    """The ones that are pulled to the first side, but neither too few nor too many of them."""
    least = max(len(pull) // _SMALLEST_SHARE, 1)
    wanted = min(max(int((pull > 0).sum()), least), len(pull) - least)
    is_left = np.zeros(len(pull), dtype=np.bool_)
    is_left[np.argsort(-pull, kind="stable")[:wanted]] = True
    return is_left


def _mean(total: Floats) -> Floats:
    """The mean direction of vectors, given their sum, in whole numbers again."""
    length = math.isqrt(int(total @ total)) or 1
    return np.floor(total * LENGTH / length)
