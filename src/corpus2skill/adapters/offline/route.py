"""Where to go next: the way to the best text that is not read yet and still within reach."""

from __future__ import annotations

from dataclasses import dataclass

from corpus2skill.adapters.offline.mapped_index import RankedLeaf, Ranking
from corpus2skill.adapters.offline.walk import Walk, ways_to

WORTHWHILE = 0.6
"""A leaf is worth a fetch where it scores at least this share of the best."""
COST = 0.02
"""What each further fetch on the way takes off a leaf's score: of two that fit alike, the nearer is read."""
LOOKS_BEFORE_GIVING_UP = 3
"""Leaves that are read before nothing is said to be found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The next fetch, and the leaf that it leads to."""

    path: str
    goal: RankedLeaf
    is_turning_back: bool
    """It leaves the branch of the node that was read last."""


def next_step(walk: Walk, ranking: Ranking, *, fetches_left: int, most_leaves: int) -> Step | None:
    """Return the next fetch, or None where nothing worthwhile is within reach."""
    if not ranking.leaves or len(walk.leaves) >= most_leaves:
        return None
    least = ranking.leaves[0].score * WORTHWHILE
    best: tuple[float, RankedLeaf, str] | None = None
    for leaf in ranking.leaves:
        if leaf.score < least or (best is not None and leaf.score <= best[0]):
            break
        ahead = [path for path in ways_to(leaf.path) if path not in walk.fetched]
        if not ahead or ahead[0] not in walk.offered or len(ahead) > fetches_left:
            continue
        if not _is_open(leaf.path, ahead[0], walk):
            continue
        value = round(leaf.score * (1 - COST * (len(ahead) - 1)), 6)
        if best is None or value > best[0]:
            best = (value, leaf, ahead[0])
    if best is None:
        return None
    _, goal, path = best
    folder = walk.last_path.rpartition("/")[0]
    return Step(path=path, goal=goal, is_turning_back=not path.startswith(folder))


def _is_open(path: str, ahead: str, walk: Walk) -> bool:
    """True where everything above `ahead` was found: a way that ended in an error is closed."""
    ways = ways_to(path)
    return all(way in walk.offered for way in ways[: ways.index(ahead)])
