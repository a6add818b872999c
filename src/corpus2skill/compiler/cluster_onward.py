"""Going on from the tree there is: groups are kept, and only what changed is placed and described again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from corpus2skill.compiler import shape
from corpus2skill.compiler.cluster_afresh import Clustering
from corpus2skill.compiler.together import together
from corpus2skill.domain.grouping import Repairs, common_outline
from corpus2skill.domain.node_file import one_line
from corpus2skill.domain.tree import Group, Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Predecessor:
    """The tree to go on from."""

    tree: Tree
    is_same_engine: bool
    """False where another engine wrote its titles and summaries: then every group is described again."""


async def go_on(clustering: Clustering, predecessor: Predecessor) -> Tree:
    """Return the predecessor's tree with the chunks of `clustering` in it; the same tree where nothing changed."""
    return await _Onward(clustering, predecessor).tree()


class _Onward:
    """One tree on its way from its predecessor."""

    def __init__(self, work: Clustering, predecessor: Predecessor) -> None:
        self.work = work
        self.predecessor = predecessor
        self.known = _Known(predecessor)

    async def tree(self) -> Tree:
        old, work = self.predecessor.tree, self.work
        kept = shape.without_empty([self.pruned(group) for group in old.groups])
        had = set(old.chunk_ids())
        new = [name for name in work.items if name not in had]
        groups = await self.with_placed(kept, new)
        groups = await work.fitted(work.bring_twins_together(groups, set(new)))
        groups = await self.described_again(groups, work.title)
        is_unchanged = groups == old.groups and old.title == work.title and self.predecessor.is_same_engine
        return old if is_unchanged else await work.rooted(groups)

    def pruned(self, group: Group) -> Group:
        """The group without the chunks that are gone."""
        return replace(
            group,
            groups=tuple(self.pruned(inner) for inner in group.groups),
            member_ids=tuple(name for name in group.member_ids if name in self.work.items),
        )

    async def with_placed(self, groups: tuple[Group, ...], new: Sequence[str]) -> tuple[Group, ...]:
        if not new:
            return groups
        if not groups:
            return await self.work.groups_of(new, self.work.title)
        places = await self.work.placed(groups, new, must_place=False)
        grown = self.work.with_members(groups, places)
        homeless = [name for name in new if name not in places]
        return (*grown, *(await self.newcomers(homeless))) if homeless else grown

    async def newcomers(self, names: Sequence[str]) -> tuple[Group, ...]:
        """Groups for chunks that suit no group; the chapters of one new document stay under its name."""
        groups = await self.work.groups_of(names, self.work.title)
        outline = common_outline([self.work.items[name] for name in names])
        if len(groups) < 2 or not outline:
            return groups
        return (shape.parent_of(groups, outline[-1]),)

    async def described_again(self, groups: tuple[Group, ...], parent_title: str) -> tuple[Group, ...]:
        """Say again what the groups hold whose members are not what they were; those within first."""
        within = await together(
            [partial(self.described_again, group.groups, group.title) for group in groups]
        )
        inner = [replace(group, groups=below) for group, below in zip(groups, within, strict=True)]
        said = await together([partial(self.described, group, inner, parent_title) for group in inner])
        return shape.name_apart(said, parent_title, self.work.hints)

    async def described(self, group: Group, siblings: Sequence[Group], parent_title: str) -> Group:
        work = self.work
        if not self.known.needs_description(group):
            return group
        members = [
            *(work.group_item(inner, inner.slug) for inner in group.groups),
            *(work.items[name] for name in group.member_ids),
        ]
        cards = [work.card(sibling, sibling.slug) for sibling in siblings if sibling is not group]
        said = await work.grouper.describe(group.title, members, cards, work.language, parent_title)
        work.repairs += Repairs(fallbacks=int(said.is_stand_in))
        return replace(group, title=one_line(said.title), summary=one_line(said.summary))


class _Known:
    """What the predecessor's groups held, to tell which descriptions still hold.

    A group is known by its summary: titles and slugs may have been told apart since, summaries never are.
    """

    def __init__(self, predecessor: Predecessor) -> None:
        self.is_same_engine = predecessor.is_same_engine
        self.held: dict[str, list[frozenset[str]]] = {}
        for _, group in predecessor.tree.paths():
            if group is not None:
                self.held.setdefault(group.summary, []).append(frozenset(group.chunk_ids()))

    def needs_description(self, group: Group) -> bool:
        """True for a group that was there and held something else; a new one has just been described."""
        held = self.held.get(group.summary)
        if held is None:
            return False
        return not self.is_same_engine or frozenset(group.chunk_ids()) not in held
