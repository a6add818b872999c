"""A first grouping: proposals become groups, every chunk gets its place, and the limits are held.

What a later compile does beside it is in `cluster_onward`. Calls that do not need each other's answers are
made at the same time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

from corpus2skill.compiler import shape
from corpus2skill.compiler.adoption import Address, Adoption, address_id, leaf_groups, titles_above, without
from corpus2skill.compiler.together import together
from corpus2skill.domain.chunk import SummarizedChunk
from corpus2skill.domain.grouping import GroupCard, GroupItem, Repairs, common_outline
from corpus2skill.domain.language import Language
from corpus2skill.domain.node_file import one_line
from corpus2skill.domain.tree import Group, Tree, TreeLimits
from corpus2skill.ports.grouper import Grouper


class Clustering:
    """One tree in the making."""

    def __init__(
        self,
        chunks: Sequence[SummarizedChunk],
        grouper: Grouper,
        *,
        title: str,
        limits: TreeLimits,
        language: Language,
        twins: tuple[tuple[str, ...], ...],
    ) -> None:
        self.items = {item.chunk.chunk_id: _item(item) for item in chunks}
        self.order = {chunk_id: position for position, chunk_id in enumerate(self.items)}
        self.grouper = grouper
        self.title = title
        self.limits = limits
        self.language: Language = language
        self.first_twin = {member: family[0] for family in twins for member in family}
        self.repairs = Repairs()

    async def afresh(self) -> Tree:
        groups = await self.groups_of(list(self.items), self.title)
        groups = self.bring_twins_together(groups, set(self.items))
        groups = await self.fitted(groups)
        return await self.rooted(groups)

    async def rooted(self, groups: tuple[Group, ...]) -> Tree:
        members = [self.group_item(group, group.slug) for group in groups]
        said = await self.grouper.describe(self.title, members, (), self.language)
        self.repairs += Repairs(fallbacks=int(said.is_stand_in))
        return Tree(title=one_line(self.title), summary=one_line(said.summary), groups=groups)

    # A first grouping, and its repair

    async def groups_of(self, names: Sequence[str], parent_title: str) -> tuple[Group, ...]:
        """Group chunks that have no group yet; the answer holds each of `names` exactly once."""
        items = [self.items[name] for name in names]
        answer = await self.grouper.group(items, self.limits, self.language, parent_title)
        adoption = Adoption(set(names))
        groups = shape.without_empty(adoption.groups(answer.groups))
        missing = [name for name in names if name not in adoption.placed]
        self.repairs += answer.repairs + adoption.repairs + Repairs(missing_ids=len(missing))
        if not groups:
            return tuple(self.plain_group(run) for run in shape.slices(names, self.limits.max_leaves))
        return self.with_members(groups, await self.placed(groups, missing, must_place=True))

    def plain_group(self, names: Sequence[str]) -> Group:
        """A group by rule: neighbours, named after the first."""
        first = self.items[names[0]]
        return Group(slug="", title=first.title, summary=first.summary, member_ids=tuple(names))

    # Placing into groups that exist

    async def placed(
        self, groups: tuple[Group, ...], names: Sequence[str], *, must_place: bool
    ) -> dict[str, Address]:
        """Chunk id to the address of the group that takes it; with `must_place` none is left out."""
        if not names:
            return {}
        addresses = {address_id(address): address for address, _ in leaf_groups(groups)}
        cards = [
            replace(self.card(group, address_id(address)), above=tuple(titles_above(groups, address)))
            for address, group in leaf_groups(groups)
        ]
        answer = await self.grouper.place([self.items[name] for name in names], cards, self.language)
        self.repairs += answer.repairs
        wanted = set(names)
        places = {
            name: addresses[group_id]
            for name, group_id in answer.homes.items()
            if name in wanted and group_id in addresses
        }
        if must_place:
            places |= self.neighbours(groups, [name for name in names if name not in places])
        return places

    def neighbours(self, groups: tuple[Group, ...], names: Sequence[str]) -> dict[str, Address]:
        """The group of the nearest chunk before each name, or of the first chunk there is."""
        owners = {
            self.order[member]: address
            for address, group in leaf_groups(groups)
            for member in group.member_ids
        }
        positions = sorted(owners)
        found: dict[str, Address] = {}
        for name in names:
            nearest = max(bisect_left(positions, self.order[name]) - 1, 0)
            found[name] = owners[positions[nearest]]
        return found

    def with_members(self, groups: tuple[Group, ...], places: Mapping[str, Address]) -> tuple[Group, ...]:
        arrivals: dict[Address, list[str]] = {}
        for name, address in places.items():
            arrivals.setdefault(address, []).append(name)
        return self.grown(groups, arrivals, ())

    def grown(
        self, groups: tuple[Group, ...], arrivals: Mapping[Address, list[str]], above: Address
    ) -> tuple[Group, ...]:
        return tuple(
            replace(
                group,
                groups=self.grown(group.groups, arrivals, (*above, index)),
                member_ids=self.sorted([*group.member_ids, *arrivals.get((*above, index), ())]),
            )
            for index, group in enumerate(groups)
        )

    def sorted(self, names: Sequence[str]) -> tuple[str, ...]:
        """Chunk order, twins behind the first of them that is here."""
        firsts: dict[str, int] = {}
        for name in names:
            family = self.first_twin.get(name, name)
            firsts[family] = min(self.order[name], firsts.get(family, self.order[name]))
        return tuple(
            sorted(names, key=lambda name: (firsts[self.first_twin.get(name, name)], self.order[name]))
        )

    # Twins

    def bring_twins_together(self, groups: tuple[Group, ...], movable: set[str]) -> tuple[Group, ...]:
        """Move equal texts beside the first of them while its group has room."""
        home = {member: address for address, group in leaf_groups(groups) for member in group.member_ids}
        room = {
            address: self.limits.max_leaves - len(group.member_ids) for address, group in leaf_groups(groups)
        }
        moves: dict[str, Address] = {}
        for name, first in self.first_twin.items():
            target = home[first]
            if name in movable and home[name] != target and room[target] > 0:
                moves[name] = target
                room[target] -= 1
        if not moves:
            return groups
        return shape.without_empty(self.with_members(without(groups, moves.keys()), moves))

    # The limits

    async def fitted(self, groups: tuple[Group, ...]) -> tuple[Group, ...]:
        """Split what is too wide, stack what is too many, rebuild what is too deep, tell names apart."""
        fitted = await self.narrowed(groups, self.title)
        if not shape.is_within(fitted, self.limits):
            self.repairs += Repairs(rebalanced=1)
            fitted = shape.rebalance(fitted, self.limits)
        return shape.name_all_apart(_lifted(fitted), self.title, self.hints)

    async def narrowed(self, groups: tuple[Group, ...], parent_title: str) -> tuple[Group, ...]:
        split = await together([partial(self.split, group) for group in groups])
        return await self.few(tuple(split), parent_title)

    async def few(self, groups: tuple[Group, ...], parent_title: str) -> tuple[Group, ...]:
        is_few = len(groups) <= self.limits.max_children
        return groups if is_few else await self.stacked(groups, parent_title)

    async def split(self, group: Group) -> Group:
        """Part a group's own leaves into sub-groups if they are too many, and look at those beneath."""
        inner = group.groups
        members = group.member_ids
        if len(members) > self.limits.max_leaves:
            inner, members = (*inner, *(await self.parts(members, group.title))), ()
        narrowed = await self.narrowed(inner, group.title) if inner else ()
        return replace(group, groups=narrowed, member_ids=members)

    async def parts(self, names: Sequence[str], parent_title: str) -> tuple[Group, ...]:
        parts = await self.groups_of(names, parent_title)
        if max(len(list(part.chunk_ids())) for part in parts) < len(names):
            return parts
        return tuple(self.plain_group(run) for run in shape.slices(names, self.limits.max_leaves))

    async def stacked(self, groups: tuple[Group, ...], parent_title: str) -> tuple[Group, ...]:
        """Give too many siblings parents: by one more grouping call, by rule where that does not help."""
        by_id = {f"group_{index}": group for index, group in enumerate(groups, start=1)}
        items = [self.group_item(group, group_id) for group_id, group in by_id.items()]
        answer = await self.grouper.group(items, self.limits, self.language, parent_title)
        adoption = Adoption(set(by_id), by_id)
        parents = [_itself_if_alone(parent) for parent in adoption.groups(answer.groups)]
        left = tuple(group for group_id, group in by_id.items() if group_id not in adoption.placed)
        self.repairs += answer.repairs + adoption.repairs + Repairs(missing_ids=len(left))
        fewer = (*shape.without_empty(parents), *left)
        if len(fewer) >= len(groups) or any(len(parent.groups) == len(groups) for parent in fewer):
            return shape.pack(groups, self.limits.max_children)
        inner = await together([partial(self.few, parent.groups, parent.title) for parent in fewer])
        narrow = [replace(parent, groups=within) for parent, within in zip(fewer, inner, strict=True)]
        return await self.few(tuple(narrow), parent_title)

    # What engines and rules are told of a group

    def group_item(self, group: Group, item_id: str) -> GroupItem:
        leaves = [self.items[name] for name in group.chunk_ids()]
        outline = common_outline(leaves)
        return GroupItem(
            item_id=item_id,
            title=group.title,
            summary=group.summary,
            outline=outline,
            folders=min(len(outline), *(leaf.folders for leaf in leaves)),
            text="\n".join(f"{leaf.title}\n{leaf.summary}" for leaf in leaves),
            is_group=True,
        )

    def card(self, group: Group, group_id: str) -> GroupCard:
        return GroupCard(
            group_id=group_id,
            title=group.title,
            summary=group.summary,
            members=tuple(self.items[name] for name in group.chunk_ids()),
        )

    def hints(self, group: Group) -> tuple[str, ...]:
        """What may tell a group from another of the same title: its place, and the first things in it."""
        inner = [*group.groups, *(self.items[name] for name in group.member_ids)]
        outline = common_outline([self.items[name] for name in group.chunk_ids()])
        return (*reversed(outline), *(each.title for each in inner))


def _item(item: SummarizedChunk) -> GroupItem:
    chunk = item.chunk
    path = PurePosixPath(chunk.source)
    return GroupItem(
        item_id=chunk.chunk_id,
        title=item.summary.title,
        summary=item.summary.summary,
        outline=(*path.parent.parts, path.stem, *chunk.place.headings),
        folders=len(path.parent.parts),
        text=chunk.text,
    )


def _itself_if_alone(parent: Group) -> Group:
    """A group that was put under a parent with no other stays what it is."""
    return parent.groups[0] if len(parent.groups) == 1 and not parent.member_ids else parent


def _lifted(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """A lone group on top that only holds groups would cost a fetch and tell nothing: lift them."""
    while len(groups) == 1 and groups[0].groups and not groups[0].member_ids:
        groups = groups[0].groups
    return groups
