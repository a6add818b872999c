"""An order in which like things are near each other, for models that see a list in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from corpus2skill.adapters.offline.planting import Planting
from corpus2skill.domain.grouping import GroupItem, GroupProposal
from corpus2skill.domain.tree import TreeLimits


class OfflineNeighbours:
    """A `ports.grouper.Neighbours`: the leaves of the embedded engine's tree, from left to right.

    Only the order is taken: what the tree's branches are called does not matter here.
    """

    def __call__(self, items: Sequence[GroupItem], /) -> Sequence[GroupItem]:
        if not items:
            return ()
        by_id = {item.item_id: item for item in items}
        return [by_id[name] for name in _leaves(Planting(items, TreeLimits(), "en").proposals())]


def _leaves(members: Iterable[str | GroupProposal]) -> Iterator[str]:
    for member in members:
        if isinstance(member, str):
            yield member
        else:
            yield from _leaves(member.members)
