"""The groups of many batches brought together: groups of groups, until the top level is narrow enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from corpus2skill.compiler.group_asking import AskedGroup, GroupAsking, by_rule
from corpus2skill.compiler.group_batches import (
    WantedOf,
    are_to_be_merged,
    wanted_alone,
    wanted_chapters,
    wanted_leaf_groups,
    wanted_merged,
)
from corpus2skill.compiler.group_describing import DescribeTask, describe_group
from corpus2skill.compiler.together import together
from corpus2skill.domain.grouping import GroupCard, GroupItem, Repairs
from corpus2skill.domain.tree import Group, TreeLimits
from corpus2skill.ports.grouper import Neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLevels:
    """Groups a list that is too long for one call."""

    asking: GroupAsking
    neighbours: Neighbours
    limits: TreeLimits
    parent_title: str

    async def of(self, items: Sequence[GroupItem]) -> tuple[Group, ...]:
        """Group `items` batch by batch, then the groups, level by level."""
        near = self.neighbours(items)
        wanted_of = wanted_leaf_groups(len(items), self.limits)
        level = await self._leaf_groups(near, wanted_of)
        level = await self._merged(level)
        while True:
            higher = await self._chapters(level)
            is_done = len(higher) <= self.limits.max_children or len(higher) >= len(level)
            level = higher
            if is_done or self._levels_left(level) < 1:
                named = {item.item_id: item for item in items}
                return await self._told_apart(level, self.parent_title, named)

    async def _leaf_groups(self, items: Sequence[GroupItem], wanted_of: WantedOf) -> tuple[Group, ...]:
        batches = self.asking.batches(items, wanted_of, of_groups=False)
        asked = await self.asking.of_batches(batches, wanted_of, self.parent_title, of_groups=False)
        narrow = await self._narrow(asked, self.limits.max_leaves, of_groups=False)
        return tuple(_group(group, tuple(item.item_id for item in group.items)) for group in narrow)

    async def _merged(self, level: tuple[Group, ...]) -> tuple[Group, ...]:
        """Make groups of a good size out of many small ones: small windows see only a few items at once."""
        held = sum(len(group.member_ids) for group in level) / len(level)
        if not are_to_be_merged(len(level), held, self.limits):
            return level
        rows = await self._brought_together(level, wanted_merged(held, self.limits))
        merged: list[Group] = []
        for asked, groups in rows:
            leaves = tuple(name for group in groups for name in group.member_ids)
            is_one = len(groups) > 1 and len(leaves) <= self.limits.max_leaves
            merged += [_group(asked, leaves)] if is_one else groups
        return tuple(merged) if len(merged) == len(level) else await self._merged(tuple(merged))

    async def _chapters(self, level: tuple[Group, ...]) -> tuple[Group, ...]:
        """Bring the groups of one level together under parents; what fits into one group becomes one."""
        wanted_of = wanted_chapters(len(level), self._levels_left(level), self.limits)
        rows = await self._brought_together(level, wanted_of)
        return tuple(self._chapter(asked, groups) for asked, groups in rows)

    async def _brought_together(
        self, level: tuple[Group, ...], wanted_of: WantedOf
    ) -> list[tuple[AskedGroup, list[Group]]]:
        """What the model puts together, none wider than a node may be."""
        items = self.neighbours([_group_item(number, group) for number, group in enumerate(level)])
        batches = self.asking.batches(items, wanted_of, of_groups=True)
        asked = await self.asking.of_batches(batches, wanted_of, self.parent_title, of_groups=True)
        narrow = await self._narrow(asked, self.limits.max_children, of_groups=True)
        return [(group, [level[int(item.item_id)] for item in group.items]) for group in narrow]

    async def _narrow(self, asked: Sequence[AskedGroup], most: int, *, of_groups: bool) -> list[AskedGroup]:
        """Groups over `most` members are parted, and their parts take their place: no level is added."""
        parts = await together([partial(self._parts, group, most, of_groups=of_groups) for group in asked])
        return [part for row in parts for part in row]

    async def _parts(self, group: AskedGroup, most: int, *, of_groups: bool) -> list[AskedGroup]:
        if len(group.items) <= most:
            return [group]
        limits = replace(self.limits, max_leaves=most) if of_groups else self.limits
        wanted_of = wanted_alone(limits)
        batches = self.asking.batches(group.items, wanted_of, of_groups=of_groups)
        parts = await self.asking.of_batches(batches, wanted_of, group.title, of_groups=of_groups)
        rows = [
            [part] if len(part.items) <= most else by_rule(part.items, most, part.title) for part in parts
        ]
        return [part for row in rows for part in row]

    def _chapter(self, asked: AskedGroup, held: Sequence[Group]) -> Group:
        """A parent over its groups; one group alone stays as it is, and what fits into one group becomes one."""
        groups = _twins_merged(held, self.limits.max_leaves)
        if len(groups) == 1:
            return groups[0]
        leaves = tuple(name for group in groups for name in group.chunk_ids())
        is_small = len(leaves) <= self.limits.max_leaves and not any(group.groups for group in groups)
        return _group(asked, leaves) if is_small else replace(_group(asked, ()), groups=groups)

    async def _told_apart(
        self, groups: tuple[Group, ...], parent_title: str, named: Mapping[str, GroupItem]
    ) -> tuple[Group, ...]:
        """Ask for other titles where groups of different batches, side by side now, have the same."""
        taken = [parent_title, *(group.title for group in groups)]
        is_free = [taken.index(group.title) == at for at, group in enumerate(groups, start=1)]
        renamed = await together(
            [
                partial(self._itself, group)
                if free
                else partial(self._renamed, group, groups, parent_title, named)
                for group, free in zip(groups, is_free, strict=True)
            ]
        )
        inner = await together(
            [partial(self._told_apart, group.groups, group.title, named) for group in renamed]
        )
        return tuple(replace(group, groups=within) for group, within in zip(renamed, inner, strict=True))

    async def _itself(self, group: Group) -> Group:
        return group

    async def _renamed(
        self, group: Group, beside: Sequence[Group], parent_title: str, named: Mapping[str, GroupItem]
    ) -> Group:
        inner = [_group_item(number, within) for number, within in enumerate(group.groups)]
        said = await describe_group(
            self.asking.model,
            DescribeTask(
                title="",
                members=[*inner, *(named[name] for name in group.member_ids)],
                siblings=[_card(each) for each in beside if each is not group],
                parent_title=parent_title,
                language=self.asking.language,
            ),
        )
        self.asking.tally.add(Repairs(fallbacks=int(said.is_stand_in)))
        return replace(group, title=said.title, summary=said.summary)

    def _levels_left(self, level: Sequence[Group]) -> int:
        return self.limits.max_group_depth - max((group.depth() for group in level), default=1)


def _twins_merged(groups: Sequence[Group], most: int) -> tuple[Group, ...]:
    """Groups of one title, found in different batches and brought together since, become one while they fit."""
    merged: dict[str, Group] = {}
    for number, group in enumerate(groups):
        twin = merged.get(group.title)
        if twin is None:
            merged[group.title] = group
        elif not twin.groups and not group.groups and len(twin.member_ids) + len(group.member_ids) <= most:
            merged[group.title] = replace(twin, member_ids=(*twin.member_ids, *group.member_ids))
        else:
            merged[f"{group.title}\n{number}"] = group
    return tuple(merged.values())


def _group(asked: AskedGroup, names: tuple[str, ...]) -> Group:
    return Group(slug=asked.slug, title=asked.title, summary=asked.summary, member_ids=names)


def _group_item(number: int, group: Group) -> GroupItem:
    return GroupItem(
        item_id=str(number),
        title=group.title,
        summary=group.summary,
        outline=(),
        text=_titles_within(group),
        is_group=True,
    )


def _titles_within(group: Group) -> str:
    return "\n".join(f"{inner.title}\n{inner.summary}" for inner in group.groups)


def _card(group: Group) -> GroupCard:
    return GroupCard(group_id=group.slug, title=group.title, summary=group.summary, members=())
