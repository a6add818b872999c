"""The leaves of a version by BM25 alone, without a tree: what a walk is held against."""

from __future__ import annotations

from corpus2skill.adapters.offline.mapped_index import MappedIndex
from corpus2skill.adapters.offline.question import understand


class FlatRanking:
    """Ranks all leaves at once, as a retrieval without branches would."""

    def __init__(self, index: MappedIndex) -> None:
        self._index = index

    def best(self, question: str, limit: int) -> tuple[str, ...]:
        """Return the node paths of the `limit` leaves that fit best, best first."""
        ranking = self._index.rank(understand(question), limit)
        return tuple(leaf.path for leaf in ranking.leaves)
