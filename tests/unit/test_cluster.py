"""Step 4: whatever a grouping engine answers, the tree is whole and within its limits."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus2skill.compiler.cluster import Clustered, Predecessor, check_capacity, cluster_chunks
from corpus2skill.domain.chunk import Chunk, ChunkSummary, Place, SummarizedChunk
from corpus2skill.domain.grouping import (
    GroupCard,
    GroupDescription,
    Grouping,
    GroupItem,
    GroupProposal,
    Placing,
)
from corpus2skill.domain.ids import is_slug
from corpus2skill.domain.language import Language
from corpus2skill.domain.tree import Tree, TreeLimits
from corpus2skill.errors import UnusableSettings

pytestmark = pytest.mark.anyio

SMALL = TreeLimits(max_children=3, max_leaves=4, fetch_limit=8)


def chunk(
    number: int, text: str | None = None, *headings: str, source: str = "利用規約.md"
) -> SummarizedChunk:
    body = text or f"本文{number}"
    return SummarizedChunk(
        chunk=Chunk(
            chunk_id=f"chunk_{number}",
            source=source,
            start=0,
            end=len(body),
            text=body,
            place=Place(headings=headings),
        ),
        summary=ChunkSummary(title=f"題{number}", summary=f"要約{number}"),
    )


class Shelves:
    """An orderly engine: items go to the shelf of their number's remainder; it counts its calls."""

    identity = "shelves-1"

    def __init__(self, shelves: int = 3) -> None:
        self.shelves = shelves
        self.described: list[str] = []
        self.placed: list[str] = []
        self.grouped: list[int] = []

    async def group(
        self, items: Sequence[GroupItem], limits: TreeLimits, language: Language, parent_title: str = ""
    ) -> Grouping:
        self.grouped.append(len(items))
        runs = [items[start :: self.shelves] for start in range(self.shelves)]
        return Grouping(
            groups=tuple(
                GroupProposal(
                    slug=f"shelf-{number}",
                    title=f"棚{number}",
                    summary=f"棚{number}の中身",
                    members=tuple(item.item_id for item in run),
                )
                for number, run in enumerate(runs, start=1)
                if run
            )
        )

    async def place(
        self, items: Sequence[GroupItem], groups: Sequence[GroupCard], language: Language
    ) -> Placing:
        self.placed += [item.item_id for item in items]
        return Placing(homes={item.item_id: groups[0].group_id for item in items})

    async def describe(
        self,
        title: str,
        members: Sequence[GroupItem],
        siblings: Sequence[GroupCard],
        language: Language,
        parent_title: str = "",
    ) -> GroupDescription:
        self.described.append(title)
        return GroupDescription(title=title, summary=" / ".join(member.title for member in members)[:160])


class Unruly(Shelves):
    """Loses, doubles and invents ids, nests as it likes, and gives slugs and titles no one can use."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.chance = random.Random(seed)

    async def group(
        self, items: Sequence[GroupItem], limits: TreeLimits, language: Language, parent_title: str = ""
    ) -> Grouping:
        names = [item.item_id for item in items if self.chance.random() < 0.9]
        names += [self.chance.choice(["chunk_999", "解約", *names]) for _ in range(3)]
        self.chance.shuffle(names)
        return Grouping(groups=tuple(self.proposal(names[start::2], 0) for start in range(2)))

    def proposal(self, names: list[str], depth: int) -> GroupProposal:
        members: tuple[str | GroupProposal, ...] = tuple(names)
        if depth < 7 and self.chance.random() < 0.7:
            cut = self.chance.randint(0, len(names))
            members = (self.proposal(names[:cut], depth + 1), *names[cut:])
        slug = self.chance.choice(["ok", "解約", "CON", "../x", "", "a" * 90])
        return GroupProposal(slug=slug, title=self.chance.choice(["解約", ""]), summary="", members=members)

    async def place(
        self, items: Sequence[GroupItem], groups: Sequence[GroupCard], language: Language
    ) -> Placing:
        known = [group.group_id for group in groups] + ["group_77"]
        answer = {item.item_id: self.chance.choice(known) for item in items if self.chance.random() < 0.6}
        return Placing(homes={**answer, "chunk_999": known[0]})


async def clustered(
    chunks: Sequence[SummarizedChunk],
    grouper: Shelves,
    limits: TreeLimits = SMALL,
    predecessor: Tree | None = None,
) -> Clustered:
    return await cluster_chunks(
        chunks,
        grouper,
        title="サンプル",
        limits=limits,
        language="ja",
        predecessor=None if predecessor is None else Predecessor(tree=predecessor, is_same_engine=True),
    )


def assert_is_sound(tree: Tree, chunks: Sequence[SummarizedChunk], limits: TreeLimits) -> None:
    assert sorted(tree.chunk_ids()) == sorted(item.chunk.chunk_id for item in chunks)
    assert tree.depth() <= limits.max_group_depth
    assert len(tree.groups) <= limits.max_children
    for _, group in tree.paths():
        siblings = tree.groups if group is None else group.groups
        if group is not None:
            assert len(group.groups) <= limits.max_children
            assert len(group.member_ids) <= limits.max_leaves
            assert group.groups or group.member_ids
        titles = [sibling.title for sibling in siblings]
        slugs = [sibling.slug for sibling in siblings]
        assert len(set(titles)) == len(titles)
        assert len(set(slugs)) == len(slugs)
        assert all(map(is_slug, slugs))
        assert all(0 < len(title) <= 40 for title in titles)


@pytest.mark.requirement("C-20")
@pytest.mark.requirement("C-21")
@pytest.mark.requirement("C-22")
@pytest.mark.requirement("C-23")
@given(count=st.integers(1, 120), seed=st.integers(0, 2**16))
async def test_an_engine_that_loses_doubles_and_invents_still_gives_a_whole_tree(
    count: int, seed: int
) -> None:
    """Field report 3: the multiset of leaves equals the input chunks."""
    chunks = [chunk(number) for number in range(1, count + 1)]
    result = await clustered(chunks, Unruly(seed))
    assert_is_sound(result.tree, chunks, SMALL)


@pytest.mark.requirement("C-20")
@given(
    before=st.sets(st.integers(1, 60), min_size=1),
    after=st.sets(st.integers(1, 60), min_size=1),
    seed=st.integers(0, 2**16),
)
async def test_a_recompile_with_an_unruly_engine_gives_a_whole_tree(
    before: set[int], after: set[int], seed: int
) -> None:
    """The leaves are exactly the chunks, whatever stayed, went and came."""
    first = await clustered([chunk(number) for number in sorted(before)], Unruly(seed))
    chunks = [chunk(number) for number in sorted(after)]
    second = await clustered(chunks, Unruly(seed + 1), predecessor=first.tree)
    assert_is_sound(second.tree, chunks, SMALL)


@pytest.mark.requirement("C-21")
async def test_repairs_are_counted() -> None:
    """Design, grouping that loses, doubles or invents ids: counted."""

    class Careless(Shelves):
        async def group(
            self, items: Sequence[GroupItem], limits: TreeLimits, language: Language, parent_title: str = ""
        ) -> Grouping:
            members = (items[0].item_id, items[0].item_id, "chunk_99")
            return Grouping(groups=(GroupProposal(slug="a", title="a", summary="a", members=members),))

    result = await clustered([chunk(1), chunk(2)], Careless())
    repairs = result.repairs
    assert (repairs.unknown_ids, repairs.doubled_ids, repairs.missing_ids) == (1, 1, 1)


@pytest.mark.requirement("C-28")
async def test_a_recompile_describes_only_the_ancestors_of_what_changed() -> None:
    """Design, recompiling: only ancestors whose members changed are summarised again."""
    chunks = [chunk(number) for number in range(1, 31)]
    before = (await clustered(chunks, Shelves())).tree
    engine = Shelves()
    after = (await clustered([*chunks[:-1], chunk(31)], engine, predecessor=before)).tree
    assert engine.placed == ["chunk_31"]
    assert engine.grouped == [] or max(engine.grouped) <= SMALL.max_leaves + 1
    old = {path: group for path, group in before.paths() if group is not None}
    new = {path: group for path, group in after.paths() if group is not None}
    touched = {"chunk_30", "chunk_31"}
    for path in old.keys() & new.keys():
        if not touched & {*old[path].chunk_ids(), *new[path].chunk_ids()}:
            assert old[path] == new[path]


@pytest.mark.requirement("C-28")
async def test_a_recompile_of_the_same_chunks_asks_nothing_and_gives_the_same_tree() -> None:
    """Design, recompiling."""
    chunks = [chunk(number) for number in range(1, 41)]
    before = (await clustered(chunks, Shelves())).tree
    engine = Shelves()
    assert (await clustered(chunks, engine, predecessor=before)).tree == before
    assert (engine.grouped, engine.placed, engine.described) == ([], [], [])


@pytest.mark.requirement("C-28")
async def test_an_emptied_group_goes_and_the_others_keep_their_slugs() -> None:
    """Design: a slug is kept by the group for its life."""
    chunks = [chunk(number) for number in range(1, 10)]
    before = (await clustered(chunks, Shelves())).tree
    left = [item for item in chunks if item.chunk.chunk_id in {"chunk_2", "chunk_3"}]
    after = (await clustered(left, Shelves(), predecessor=before)).tree
    assert [group.slug for group in after.groups] == ["shelf-2", "shelf-3"]


@pytest.mark.requirement("C-28")
async def test_the_chapters_of_a_new_document_stay_under_its_name() -> None:
    """A document that no group suits becomes one branch, as it would have in a first compile."""

    class Choosy(Shelves):
        async def place(
            self, items: Sequence[GroupItem], groups: Sequence[GroupCard], language: Language
        ) -> Placing:
            return Placing(homes={})

    before = (await clustered([chunk(number) for number in range(1, 4)], Shelves(), TreeLimits())).tree
    new = [chunk(number, source="手順/返品.md") for number in range(4, 10)]
    chunks = [*(chunk(number) for number in range(1, 4)), *new]
    after = (await clustered(chunks, Choosy(), TreeLimits(), predecessor=before)).tree
    assert [group.title for group in after.groups] == ["棚1", "棚2", "棚3", "返品"]
    assert set(after.groups[-1].chunk_ids()) == {item.chunk.chunk_id for item in new}


@pytest.mark.requirement("C-24")
async def test_twins_stand_side_by_side_while_the_group_has_room() -> None:
    """Design, twins: all stay leaves, side by side in one group."""
    chunks = [chunk(number, "同じ 本文" if number in {1, 5, 6} else None) for number in range(1, 8)]
    result = await clustered(chunks, Shelves(), TreeLimits())
    assert result.twins == (("chunk_1", "chunk_5", "chunk_6"),)
    home = next(group for _, group in result.tree.paths() if group and "chunk_1" in group.member_ids)
    at = home.member_ids.index("chunk_1")
    assert home.member_ids[at : at + 3] == ("chunk_1", "chunk_5", "chunk_6")


@pytest.mark.requirement("C-24")
async def test_more_twins_than_a_group_holds_fill_it_and_the_rest_stay_where_they_are() -> None:
    """Design, twins: while it has room."""
    chunks = [chunk(number, "同文") for number in range(1, 41)]
    result = await clustered(chunks, Shelves())
    assert_is_sound(result.tree, chunks, SMALL)


@pytest.mark.requirement("C-22")
async def test_an_engine_that_makes_one_group_of_everything_is_cut_by_rule() -> None:
    """Design: at most max_leaves in a group, however stubborn the engine."""
    chunks = [chunk(number) for number in range(1, 101)]
    result = await clustered(chunks, Shelves(shelves=1))
    assert_is_sound(result.tree, chunks, SMALL)


@pytest.mark.requirement("C-22")
def test_limits_that_cannot_hold_the_chunks_are_refused_with_the_smallest_that_do() -> None:
    """Design, one level or more."""
    with pytest.raises(UnusableSettings) as refused:
        check_capacity(500, TreeLimits(max_children=3, max_leaves=4, fetch_limit=6))
    assert refused.value.values == {"chunks": 500, "capacity": 36, "fetch_limit": 9}
    check_capacity(500, TreeLimits(max_children=3, max_leaves=4, fetch_limit=9))


@pytest.mark.requirement("C-22")
async def test_a_full_tree_of_the_smallest_limits_fits() -> None:
    """The capacity that is promised can be used to the last leaf."""
    limits = TreeLimits(max_children=2, max_leaves=2, fetch_limit=7)
    chunks = [chunk(number) for number in range(1, limits.capacity + 1)]
    result = await clustered(chunks, Shelves(shelves=5), limits)
    assert_is_sound(result.tree, chunks, limits)
