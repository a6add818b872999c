"""The documents' own order as a tree of branches: folders, documents, chapters, sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from corpus2skill.adapters.offline.sentences import plain
from corpus2skill.domain.grouping import GroupItem

_ALONE_FROM = 2
"""Leaves that a document needs to be a group of its own among clusters."""


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
    is_folder: bool = False
    """True where it holds documents; false for a document, and for what is within one."""
    is_cluster: bool = False
    """True where documents were put together that nobody has named as one."""
    looseness: float = 0.0
    """Of a cluster: how much less alike its two parts are than what is in each of them."""

    @property
    def is_cluster_of_clusters(self) -> bool:
        """True for a cluster whose parts can stand alone."""
        return self.is_cluster and all(
            isinstance(entry, Branch) and (entry.is_cluster or entry.size > _ALONE_FROM)
            for entry in self.entries
        )

    @property
    def is_clustered(self) -> bool:
        """True for a part of a cluster."""
        return self.parent is not None and self.parent.is_cluster

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

    def documents(self) -> Iterator[Branch]:
        """The documents of a cluster; any other branch itself."""
        waiting: list[Branch] = [self]
        while waiting:
            branch = waiting.pop()
            if branch.is_cluster:
                waiting.extend(reversed(branch.branches()))
            else:
                yield branch

    def replace(self, old: Sequence[Branch], new: Branch) -> None:
        """Take `new` as an entry where the first of `old` was, and none of `old`; all alone it gives its own."""
        gone = {id(branch) for branch in old}
        at = next(at for at, entry in enumerate(self.entries) if id(entry) in gone)
        kept: list[Branch | int] = [entry for entry in self.entries if id(entry) not in gone]
        self.entries = [*kept[:at], *(new.entries if not kept else [new]), *kept[at:]]
        for entry in self.entries:
            if isinstance(entry, Branch):
                entry.parent = self

    def adopt(self, branches: Sequence[Branch]) -> None:
        """Take `branches` as entries instead of what was there."""
        self.entries = list(branches)
        for branch in branches:
            branch.parent = self


def grow(items: Sequence[GroupItem]) -> Branch:
    """Return the root branch over `items`, named by their outlines."""
    root = Branch(title="", is_folder=True)
    known: dict[tuple[int, str], Branch] = {}
    for place, item in enumerate(items):
        branch = root
        branch.size += 1
        for depth, title in enumerate(map(plain, item.outline)):
            if not title or title == branch.title:
                continue
            branch = _child(branch, title, known)
            branch.is_folder = branch.is_folder or depth < item.folders
            branch.size += 1
        branch.entries.append(place)
    return root


def cluster_of(parts: Sequence[Branch], *, looseness: float) -> Branch:
    """Return a cluster over `parts`."""
    above = Branch(title="", size=sum(part.size for part in parts), is_cluster=True, looseness=looseness)
    above.adopt(parts)
    return above


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
