"""The documents' own order as a tree of branches: folders, documents, chapters, sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from corpus2skill.adapters.offline.sentences import plain
from corpus2skill.domain.grouping import GroupItem


@dataclass(slots=True, eq=False)
class Branch:
    """A stretch of the corpus that belongs together. Grown here, then only read."""

    title: str
    """What its author called it; empty for a cluster, which nobody has named."""
    entries: list[Branch | int] = field(default_factory=list["Branch | int"])
    """Branches within and places of items, in reading order."""
    size: int = 0
    """Items beneath."""
    parent: Branch | None = None

    @property
    def is_cluster(self) -> bool:
        """True where several items were put together that nobody has named."""
        return not self.title and self.size > 1

    @property
    def is_cluster_of_clusters(self) -> bool:
        return self.is_cluster and all(
            isinstance(entry, Branch) and entry.is_cluster for entry in self.entries
        )

    def items(self) -> Iterator[int]:
        """The places of all items beneath, in reading order."""
        waiting: list[Branch | int] = [self]
        while waiting:
            entry = waiting.pop()
            if isinstance(entry, Branch):
                waiting.extend(reversed(entry.entries))
            else:
                yield entry

    def branches(self) -> list[Branch]:
        """Its entries as branches: an item that lies directly in it becomes a branch of its own."""
        return [
            entry if isinstance(entry, Branch) else Branch(title="", entries=[entry], size=1, parent=self)
            for entry in self.entries
        ]

    def around(self) -> list[Branch]:
        """The branches that hold it, nearest first."""
        found: list[Branch] = []
        above = self.parent
        while above is not None:
            found.append(above)
            above = above.parent
        return found

    def adopt(self, branches: Sequence[Branch]) -> None:
        """Take `branches` as entries instead of what was there."""
        self.entries = list(branches)
        for branch in branches:
            branch.parent = self


def grow(items: Sequence[GroupItem]) -> Branch:
    """Return the root branch over `items`, named by their outlines."""
    root = Branch(title="")
    known: dict[tuple[int, str], Branch] = {}
    for place, item in enumerate(items):
        branch = root
        branch.size += 1
        for title in map(plain, item.outline):
            if not title or title == branch.title:
                continue
            branch = _child(branch, title, known)
            branch.size += 1
        branch.entries.append(place)
    return root


def without_chain(branch: Branch) -> Branch:
    """Return `branch`, or the first branch below it where there is a choice to make."""
    while len(branch.entries) == 1 and isinstance(branch.entries[0], Branch):
        branch = branch.entries[0]
    return branch


def _child(branch: Branch, title: str, known: dict[tuple[int, str], Branch]) -> Branch:
    key = (id(branch), title)
    if key not in known:
        known[key] = Branch(title=title, parent=branch)
        branch.entries.append(known[key])
    return known[key]
