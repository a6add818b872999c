"""Joins branches by their words, the two nearest first, where their authors gave no order worth keeping."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from corpus2skill.adapters.offline.outline import Branch, cluster_of
from corpus2skill.adapters.offline.word_vectors import Vectors

_Floats = npt.NDArray[np.float64]


def joined(branches: Sequence[Branch], vectors: Vectors) -> Branch:
    """Return a nameless branch with two in it, each with two in it, and so on down to `branches`.

    The two are joined that lose the least by having one mean instead of two (Ward's method), which makes
    clusters of like size. What comes first among `branches` comes first in the answer.
    """
    joining = _Joining(vectors)
    nodes = list(branches)
    kept = 0
    firsts = list(range(len(nodes)))
    for _ in range(len(nodes) - 1):
        kept, gone, cost = joining.nearest()
        pair = (kept, gone) if firsts[kept] < firsts[gone] else (gone, kept)
        above = cluster_of([nodes[place] for place in pair], looseness=cost)
        nodes[kept], firsts[kept] = above, firsts[pair[0]]
        joining.join(kept, gone)
    return nodes[kept]


class _Joining:
    """What joining any two clusters would cost. Sums are of whole numbers; nothing depends on their order."""

    def __init__(self, vectors: Vectors) -> None:
        used = vectors[:, vectors.any(axis=0)]  # a few hundred short texts fill a small part of the width
        self.products: _Floats = (used @ used.T).astype(np.float64)
        self.counts = np.ones(len(vectors))
        spreads = self.products.diagonal()
        # What `weigh` says of two clusters of one each, for all pairs at once.
        self.costs = (spreads[:, None] + spreads - 2 * self.products) / 2 + 2
        np.fill_diagonal(self.costs, np.inf)

    def nearest(self) -> tuple[int, int, float]:
        at = int(np.argmin(self.costs))
        return at // len(self.counts), at % len(self.counts), float(self.costs.flat[at])

    def join(self, kept: int, gone: int) -> None:
        self.products[kept] += self.products[gone]
        self.products[:, kept] += self.products[:, gone]
        self.counts[kept] += self.counts[gone]
        self.counts[gone] = 0
        self.costs[gone] = self.costs[:, gone] = np.inf
        self.weigh(kept)

    def weigh(self, place: int) -> None:
        """Work out the costs of joining the cluster at `place` with each other."""
        counts, count = np.maximum(self.counts, 1), self.counts[place]
        spread = self.products.diagonal() / counts**2 + self.products[place, place] / count**2
        costs = (spread - 2 * self.products[place] / (counts * count)) * (counts * count) / (counts + count)
        costs += counts + count  # equal ones pair by pair, not in a chain
        costs[self.counts == 0] = np.inf
        costs[place] = np.inf
        self.costs[place] = self.costs[:, place] = costs
