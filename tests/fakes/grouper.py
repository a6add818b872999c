"""A grouper that shelves items by the first part of their outline and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from corpus2skill.domain.grouping import (
    GroupCard,
    GroupDescription,
    Grouping,
    GroupItem,
    GroupProposal,
    Placing,
)
from corpus2skill.domain.ids import slugify, unique_slug
from corpus2skill.domain.language import Language
from corpus2skill.domain.tree import TreeLimits


class FakeGrouper:
    """One group for each name at the head of an outline, the last one taking in what is too many.

    `scripted` is answered instead, one each, to the first calls of `group`.
    """

    identity = "fake-1"

    def __init__(self, *scripted: tuple[GroupProposal, ...]) -> None:
        self._scripted = list(scripted)
        self.grouped: list[tuple[str, ...]] = []
        """The item ids of each call of `group`."""
        self.placed: list[tuple[str, ...]] = []
        self.described: list[str] = []
        """The titles of the calls of `describe`."""

    async def group(
        self, items: Sequence[GroupItem], limits: TreeLimits, language: Language, parent_title: str = ""
    ) -> Grouping:
        self.grouped.append(tuple(item.item_id for item in items))
        if self._scripted:
            return Grouping(groups=self._scripted.pop(0))
        shelves: dict[str, list[str]] = {}
        for item in items:
            name = item.outline[0] if item.outline else "other"
            is_room = name in shelves or len(shelves) < limits.max_children
            shelves.setdefault(name if is_room else next(reversed(shelves)), []).append(item.item_id)
        return Grouping(groups=_as_groups(shelves))

    async def place(
        self, items: Sequence[GroupItem], groups: Sequence[GroupCard], language: Language
    ) -> Placing:
        self.placed.append(tuple(item.item_id for item in items))
        homes = {member.outline[:1]: group.group_id for group in groups for member in group.members}
        return Placing(
            homes={item.item_id: homes[item.outline[:1]] for item in items if item.outline[:1] in homes}
        )

    async def describe(
        self,
        title: str,
        members: Sequence[GroupItem],
        siblings: Sequence[GroupCard],
        language: Language,
        parent_title: str = "",
    ) -> GroupDescription:
        self.described.append(title)
        return GroupDescription(
            title=title or members[0].title,
            summary=" / ".join(member.title for member in members)[:160] or "-",
        )


def _as_groups(shelves: Mapping[str, Sequence[str]]) -> tuple[GroupProposal, ...]:
    groups: list[GroupProposal] = []
    taken: set[str] = set()
    for number, (name, members) in enumerate(shelves.items(), 1):
        slug = unique_slug(slugify(name, f"topic-{number}"), taken)
        taken.add(slug)
        groups.append(
            GroupProposal(
                slug=slug, title=name[:40], summary=f"{name[:100]}: {len(members)}", members=tuple(members)
            )
        )
    return tuple(groups)
