"""Puts items into an order in which those of the same words are near each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from corpus2skill.adapters.offline.bisecting import cluster
from corpus2skill.adapters.offline.outline import Branch
from corpus2skill.adapters.offline.words import index_words
from corpus2skill.domain.grouping import GroupItem

_MOST = 6_000
"""More items keep the order of their documents: to cluster them would take minutes and hundreds of megabytes."""


def lexical_neighbours(items: Sequence[GroupItem]) -> Sequence[GroupItem]:
    """Return `items` in the order of their clusters, a `Neighbours`; by titles and summaries alone."""
    if not 2 < len(items) <= _MOST:
        return items
    leaves = [Branch(title="", entries=[place], size=1) for place in range(len(items))]
    words = [Counter(index_words(f"{item.title}\n{item.summary}")) for item in items]
    return [items[place] for place in cluster(leaves, words).items()]
