"""Where to go next: the way to the best text that is not read yet and still within reach."""

from __future__ import annotations

from dataclasses import dataclass

from corpus2skill.adapters.offline.mapped_index import RankedLeaf, Ranking
from corpus2skill.adapters.offline.walk import Walk, ways_to

WORTHWHILE = 0.55
"""A leaf is worth a fetch where it scores at least this share of the best."""
HOPELESS_BELOW = 0.4
SURE_FROM = 0.85
_LOOKS_WITHOUT_HOPE = 3
_LOOKS_WHEN_SURE = 4
"""Matches, and how many leaves are read at most below and above them; in between the fetches are the limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The next fetch, and the leaf that it leads to."""

    path: str
    goal: RankedLeaf
    is_turning_back: bool
    """It leaves the branch of the node that was read last."""


def next_step(walk: Walk, ranking: Ranking, *, fetches_left: int) -> Step | None:
    """Return the next fetch, or None where nothing worthwhile is within reach."""
    if not ranking.leaves or _has_read_enough(walk, ranking.match):
        return None
    least = ranking.leaves[0].score * WORTHWHILE
    for leaf in ranking.leaves:
        if leaf.score < least:
            return None
        ahead = [path for path in ways_to(leaf.path) if path not in walk.fetched]
        if ahead and len(ahead) <= fetches_left and _is_open(leaf.path, ahead[0], walk):
            folder = walk.last_path.rpartition("/")[0]
            return Step(path=ahead[0], goal=leaf, is_turning_back=not ahead[0].startswith(folder))
    return None


def _has_read_enough(walk: Walk, match: float) -> bool:
    read = len(walk.leaves)
    return (match < HOPELESS_BELOW and read >= _LOOKS_WITHOUT_HOPE) or (
        match >= SURE_FROM and read >= _LOOKS_WHEN_SURE
    )


def _is_open(path: str, ahead: str, walk: Walk) -> bool:
    """True where `ahead` and all above it were offered: a way that ended in an error is closed."""
    ways = ways_to(path)
    return all(way in walk.offered for way in ways[: ways.index(ahead) + 1])
