"""Step 4: groups over the chunks, the bones of the tree.

A first compile groups everything. A later one keeps the groups there are: unchanged members stay, changed
and new chunks go to the best group, only groups over their limit are split, and only groups whose members
changed are described again. Whatever the engine answers, the leaves are exactly the chunks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from corpus2skill.compiler import shape
from corpus2skill.domain.chunk import SummarizedChunk
from corpus2skill.domain.grouping import GroupCard, GroupItem, GroupProposal
from corpus2skill.domain.language import Language
from corpus2skill.domain.node_file import one_line
from corpus2skill.domain.tree import Group, Tree, TreeLimits
from corpus2skill.domain.version import Repairs
from corpus2skill.errors import UnusableSettings
from corpus2skill.ports.grouper import Grouper


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustered:
    tree: Tree
    twins: tuple[tuple[str, ...], ...]
    repairs: Repairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Predecessor:
    """The tree to go on from."""

    tree: Tree
    is_same_engine: bool
    """False where another engine wrote its titles and summaries: then every group is described again."""


async def cluster_chunks(
    chunks: Sequence[SummarizedChunk],
    grouper: Grouper,
    *,
    title: str,
    limits: TreeLimits,
    language: Language,
    predecessor: Predecessor | None,
) -> Clustered:
    """Return a tree whose leaves are exactly `chunks`, within `limits`.

    Raises:
        ModelError: a grouping call failed for good.
    """
    twins = twin_families(chunks)
    work = _Clustering(chunks, grouper, title=title, limits=limits, language=language, twins=twins)
    tree = await (work.afresh() if predecessor is None else work.onward(predecessor))
    return Clustered(tree=tree, twins=twins, repairs=work.repairs)


def check_capacity(chunks: int, limits: TreeLimits) -> None:
    """Refuse, before anything is paid, limits under which so many chunks cannot be a tree.

    Raises:
        UnusableSettings: naming the smallest fetch limit that would do with the same widths.
    """
    narrowest = min(limits.max_children, limits.max_leaves)
    if narrowest < 2 or limits.max_group_depth < 1:
        raise UnusableSettings(
            "limits_too_small",
            max_children=limits.max_children,
            max_leaves=limits.max_leaves,
            fetch_limit=limits.fetch_limit,
        )
    if chunks > limits.capacity:
        enough = limits
        while enough.capacity < chunks:
            enough = replace(enough, fetch_limit=enough.fetch_limit + 1)
        raise UnusableSettings(
            "tree_too_small", chunks=chunks, capacity=limits.capacity, fetch_limit=enough.fetch_limit
        )


def twin_families(chunks: Sequence[SummarizedChunk]) -> tuple[tuple[str, ...], ...]:
    """Sets of chunks whose texts are equal after folding, in chunk order."""
    families: dict[str, list[str]] = {}
    for item in chunks:
        families.setdefault(item.chunk.folded, []).append(item.chunk.chunk_id)
    return tuple(tuple(family) for family in families.values() if len(family) > 1)


class _Clustering:
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
        groups = await self.groups_of(list(self.items))
        groups = self.bring_twins_together(groups, set(self.items))
        groups = await self.fitted(groups)
        return await self.rooted(groups)

    async def onward(self, predecessor: Predecessor) -> Tree:
        old = predecessor.tree
        kept = tuple(self.pruned(group) for group in old.groups)
        had = set(old.chunk_ids())
        new = [name for name in self.items if name not in had]
        groups = await self.with_placed(shape.without_empty(kept), new)
        groups = await self.fitted(self.bring_twins_together(groups, set(new)))
        groups = await self.described_again(groups, _Known(predecessor), self.title)
        is_unchanged = groups == old.groups and old.title == self.title and predecessor.is_same_engine
        return old if is_unchanged else await self.rooted(groups)

    async def rooted(self, groups: tuple[Group, ...]) -> Tree:
        members = [self.group_item(group, group.slug) for group in groups]
        said = await self.grouper.describe(self.title, members, (), self.language)
        return Tree(title=one_line(self.title), summary=one_line(said.summary), groups=groups)

    # A first grouping, and its repair

    async def groups_of(self, names: Sequence[str]) -> tuple[Group, ...]:
        """Group chunks that have no group yet; the answer holds each of `names` exactly once."""
        proposals = await self.grouper.group([self.items[name] for name in names], self.limits, self.language)
        adoption = _Adoption(set(names))
        groups = shape.without_empty(adoption.groups(proposals))
        self.count(unknown_ids=adoption.unknown, doubled_ids=adoption.doubled)
        missing = [name for name in names if name not in adoption.placed]
        self.count(missing_ids=len(missing))
        if not groups:
            return tuple(self.plain_group(run) for run in shape.slices(names, self.limits.max_leaves))
        return self.with_members(groups, await self.placed(groups, missing, must_place=True))

    def plain_group(self, names: Sequence[str]) -> Group:
        """A group by rule: neighbours, named after the first."""
        first = self.items[names[0]]
        return Group(slug="", title=first.title, summary=first.summary, member_ids=tuple(names))

    # Placing into groups that exist

    async def with_placed(self, groups: tuple[Group, ...], new: Sequence[str]) -> tuple[Group, ...]:
        if not new:
            return groups
        if not groups:
            return await self.groups_of(new)
        places = await self.placed(groups, new, must_place=False)
        grown = self.with_members(groups, places)
        homeless = [name for name in new if name not in places]
        return (*grown, *(await self.newcomers(homeless))) if homeless else grown

    async def newcomers(self, names: Sequence[str]) -> tuple[Group, ...]:
        """Groups for chunks that suit no group; the chapters of one new document stay under its name."""
        groups = await self.groups_of(names)
        outline = _common_outline([self.items[name] for name in names])
        if len(groups) < 2 or not outline:
            return groups
        return (shape.parent_of(groups, outline[-1]),)

    async def placed(
        self, groups: tuple[Group, ...], names: Sequence[str], *, must_place: bool
    ) -> dict[str, tuple[int, ...]]:
        """Chunk id to the address of the group that takes it; with `must_place` none is left out."""
        if not names:
            return {}
        addresses = {_address_id(address): address for address, _ in _leaf_groups(groups)}
        cards = [self.card(group, _address_id(address)) for address, group in _leaf_groups(groups)]
        answer = await self.grouper.place([self.items[name] for name in names], cards, self.language)
        wanted = set(names)
        places = {
            name: addresses[group_id]
            for name, group_id in answer.items()
            if name in wanted and group_id in addresses
        }
        if must_place:
            places |= self.neighbours(groups, [name for name in names if name not in places])
        return places

    def neighbours(self, groups: tuple[Group, ...], names: Sequence[str]) -> dict[str, tuple[int, ...]]:
        """The group of the nearest chunk before each name, or of the first chunk there is."""
        owners = {
            self.order[member]: address
            for address, group in _leaf_groups(groups)
            for member in group.member_ids
        }
        positions = sorted(owners)
        found: dict[str, tuple[int, ...]] = {}
        for name in names:
            nearest = max(bisect_left(positions, self.order[name]) - 1, 0)
            found[name] = owners[positions[nearest]]
        return found

    def with_members(
        self, groups: tuple[Group, ...], places: Mapping[str, tuple[int, ...]]
    ) -> tuple[Group, ...]:
        arrivals: dict[tuple[int, ...], list[str]] = {}
        for name, address in places.items():
            arrivals.setdefault(address, []).append(name)
        return self.grown(groups, arrivals, ())

    def grown(
        self, groups: tuple[Group, ...], arrivals: Mapping[tuple[int, ...], list[str]], above: tuple[int, ...]
    ) -> tuple[Group, ...]:
        return tuple(
            replace(
                group,
                groups=self.grown(group.groups, arrivals, (*above, index)),
                member_ids=self.sorted([*group.member_ids, *arrivals.get((*above, index), ())]),
            )
            for index, group in enumerate(groups)
        )

    def pruned(self, group: Group) -> Group:
        """The group without the chunks that are gone."""
        return replace(
            group,
            groups=tuple(self.pruned(inner) for inner in group.groups),
            member_ids=tuple(name for name in group.member_ids if name in self.items),
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
        home = {member: address for address, group in _leaf_groups(groups) for member in group.member_ids}
        room = {
            address: self.limits.max_leaves - len(group.member_ids) for address, group in _leaf_groups(groups)
        }
        moves: dict[str, tuple[int, ...]] = {}
        for name, first in self.first_twin.items():
            target = home[first]
            if name in movable and home[name] != target and room[target] > 0:
                moves[name] = target
                room[target] -= 1
        if not moves:
            return groups
        return shape.without_empty(self.with_members(_without(groups, moves.keys()), moves))

    # The limits

    async def fitted(self, groups: tuple[Group, ...]) -> tuple[Group, ...]:
        """Split what is too wide, stack what is too many, rebuild what is too deep, tell names apart."""
        fitted = await self.narrowed(groups)
        if not shape.is_within(fitted, self.limits):
            self.count(rebalanced=1)
            fitted = shape.rebalance(fitted, self.limits)
        fitted = _lifted(fitted)
        return shape.name_all_apart(fitted, self.title)

    async def narrowed(self, groups: tuple[Group, ...]) -> tuple[Group, ...]:
        return await self.few(tuple([await self.split(group) for group in groups]))

    async def few(self, groups: tuple[Group, ...]) -> tuple[Group, ...]:
        return groups if len(groups) <= self.limits.max_children else await self.stacked(groups)

    async def split(self, group: Group) -> Group:
        """Part a group's own leaves into sub-groups if they are too many, and look at those beneath."""
        inner = group.groups
        members = group.member_ids
        if len(members) > self.limits.max_leaves:
            inner, members = (*inner, *(await self.parts(members))), ()
        return replace(group, groups=await self.narrowed(inner) if inner else (), member_ids=members)

    async def parts(self, names: Sequence[str]) -> tuple[Group, ...]:
        parts = await self.groups_of(names)
        if max(len(list(part.chunk_ids())) for part in parts) < len(names):
            return parts
        return tuple(self.plain_group(run) for run in shape.slices(names, self.limits.max_leaves))

    async def stacked(self, groups: tuple[Group, ...]) -> tuple[Group, ...]:
        """Give too many siblings parents: by one more grouping call, by rule where that does not help."""
        by_id = {f"group_{index}": group for index, group in enumerate(groups)}
        items = [self.group_item(group, group_id) for group_id, group in by_id.items()]
        proposals = await self.grouper.group(items, self.limits, self.language)
        adoption = _Adoption(set(by_id), by_id)
        parents = shape.without_empty(adoption.groups(proposals))
        left = tuple(group for group_id, group in by_id.items() if group_id not in adoption.placed)
        self.count(unknown_ids=adoption.unknown, doubled_ids=adoption.doubled, missing_ids=len(left))
        if any(len(parent.groups) == len(groups) for parent in parents):
            return shape.pack(groups, self.limits.max_children)
        parents = tuple([replace(parent, groups=await self.few(parent.groups)) for parent in parents])
        return shape.pack((*parents, *left), self.limits.max_children)

    # Descriptions

    async def described_again(
        self, groups: tuple[Group, ...], known: _Known, parent_title: str
    ) -> tuple[Group, ...]:
        """Say again what the groups hold whose members are not what they were."""
        inner = [
            replace(group, groups=await self.described_again(group.groups, known, group.title))
            for group in groups
        ]
        said = [
            await self.described(group, inner) if known.needs_description(group) else group for group in inner
        ]
        return shape.name_apart(said, parent_title)

    async def described(self, group: Group, siblings: Sequence[Group]) -> Group:
        members = [
            *(self.group_item(inner, inner.slug) for inner in group.groups),
            *(self.items[name] for name in group.member_ids),
        ]
        cards = [self.card(sibling, sibling.slug) for sibling in siblings if sibling is not group]
        answer = await self.grouper.describe(group.title, members, cards, self.language)
        return replace(group, title=one_line(answer.title), summary=one_line(answer.summary))

    def group_item(self, group: Group, item_id: str) -> GroupItem:
        leaves = [self.items[name] for name in group.chunk_ids()]
        outline = _common_outline(leaves)
        return GroupItem(
            item_id=item_id,
            title=group.title,
            summary=group.summary,
            outline=outline,
            folders=min(len(outline), min(leaf.folders for leaf in leaves)),
            text="\n".join(f"{leaf.title}\n{leaf.summary}" for leaf in leaves),
        )

    def card(self, group: Group, group_id: str) -> GroupCard:
        return GroupCard(
            group_id=group_id,
            title=group.title,
            summary=group.summary,
            members=tuple(self.items[name] for name in group.chunk_ids()),
        )

    def count(
        self, unknown_ids: int = 0, doubled_ids: int = 0, missing_ids: int = 0, rebalanced: int = 0
    ) -> None:
        was = self.repairs
        self.repairs = Repairs(
            unknown_ids=was.unknown_ids + unknown_ids,
            doubled_ids=was.doubled_ids + doubled_ids,
            missing_ids=was.missing_ids + missing_ids,
            rebalanced=was.rebalanced + rebalanced,
        )


class _Adoption:
    """Proposals on their way into groups: unknown ids dropped, doubles kept at their first place."""

    def __init__(self, names: set[str], as_groups: Mapping[str, Group] | None = None) -> None:
        self.names = names
        self.as_groups = as_groups
        """Where the items are groups themselves: what each id stands for."""
        self.placed: set[str] = set()
        self.unknown = 0
        self.doubled = 0

    def groups(self, proposals: Sequence[GroupProposal]) -> tuple[Group, ...]:
        return tuple(self.group(proposal) for proposal in proposals)

    def group(self, proposal: GroupProposal) -> Group:
        inner = [self.group(member) for member in proposal.members if isinstance(member, GroupProposal)]
        names = [name for name in proposal.members if isinstance(name, str) and self.take(name)]
        if self.as_groups is not None:
            inner += [self.as_groups[name] for name in names]
            names = []
        return Group(
            slug=proposal.slug,
            title=proposal.title,
            summary=proposal.summary,
            groups=tuple(inner),
            member_ids=tuple(names),
        )

    def take(self, name: str) -> bool:
        if name not in self.names:
            self.unknown += 1
        elif name in self.placed:
            self.doubled += 1
        else:
            self.placed.add(name)
            return True
        return False


class _Known:
    """What the predecessor's groups held, to tell which descriptions still hold."""

    def __init__(self, predecessor: Predecessor) -> None:
        self.is_same_engine = predecessor.is_same_engine
        self.held: dict[tuple[str, str], list[frozenset[str]]] = {}
        for _, group in predecessor.tree.paths():
            if group is not None:
                key = (group.slug, group.title)
                self.held.setdefault(key, []).append(frozenset(group.chunk_ids()))

    def needs_description(self, group: Group) -> bool:
        """True for a group that was there and held something else; a new one has just been described."""
        held = self.held.get((group.slug, group.title))
        if held is None:
            return False
        return not self.is_same_engine or frozenset(group.chunk_ids()) not in held


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


def _leaf_groups(
    groups: Sequence[Group], above: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], Group]]:
    """Every group with leaves of its own, with its address: the indices on the way to it."""
    for index, group in enumerate(groups):
        address = (*above, index)
        if group.member_ids:
            yield address, group
        yield from _leaf_groups(group.groups, address)


def _address_id(address: tuple[int, ...]) -> str:
    return "group_" + "_".join(map(str, address))


def _without(groups: Sequence[Group], names: Iterable[str]) -> tuple[Group, ...]:
    gone = set(names)
    return tuple(
        replace(
            group,
            groups=_without(group.groups, gone),
            member_ids=tuple(name for name in group.member_ids if name not in gone),
        )
        for group in groups
    )


def _lifted(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """A lone group on top that only holds groups would cost a fetch and tell nothing: lift them."""
    while len(groups) == 1 and groups[0].groups and not groups[0].member_ids:
        groups = groups[0].groups
    return groups


def _common_outline(leaves: Sequence[GroupItem]) -> tuple[str, ...]:
    first, last = min(leaf.outline for leaf in leaves), max(leaf.outline for leaf in leaves)
    common = 0
    while common < min(len(first), len(last)) and first[common] == last[common]:
        common += 1
    return first[:common]
