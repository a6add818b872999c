"""What every `Grouper` promises, asked of the offline engine, of a language model and of the fake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from corpus2skill.adapters.offline.grouper import OfflineGrouper
from corpus2skill.compiler.model_grouper import ModelGrouper
from corpus2skill.domain.grouping import GroupCard, GroupItem, GroupProposal
from corpus2skill.domain.ids import is_slug
from corpus2skill.domain.node_file import one_line
from corpus2skill.domain.tree import TreeLimits
from corpus2skill.ports.grouper import Grouper
from tests.fakes.grouper import FakeGrouper
from tests.fakes.grouping_model import orderly
from tests.fakes.language_model import FakeLanguageModel

pytestmark = pytest.mark.anyio

LIMITS = TreeLimits()


def model_grouper() -> ModelGrouper:
    homes = {"割引": "料金", "附則": "規約"}
    return ModelGrouper(model=FakeLanguageModel(partial(orderly, homes=homes)))


@pytest.fixture(params=[OfflineGrouper, FakeGrouper, model_grouper], ids=["offline", "fake", "model"])
def grouper(request: pytest.FixtureRequest) -> Grouper:
    return request.param()


def item(number: int, *outline: str, title: str = "", text: str = "") -> GroupItem:
    title = title or f"第{number}条"
    return GroupItem(
        item_id=f"chunk_{number}",
        title=title,
        summary=f"{title}の定め。",
        outline=outline,
        text=text or title,
    )


NAMES = st.sampled_from(
    ["利用規約", "料金表", "FAQ", "第1章 総則", "第2章 解約", "年額プラン", "README", "a b", "～", "ガイド"]
)
OUTLINES = st.lists(st.lists(NAMES, min_size=1, max_size=4), max_size=60)


def levels(proposals: Sequence[GroupProposal]) -> Iterator[Sequence[GroupProposal]]:
    """Yield each set of siblings."""
    yield proposals
    for proposal in proposals:
        inner = [member for member in proposal.members if isinstance(member, GroupProposal)]
        if inner:
            yield from levels(inner)


def ids(proposals: Sequence[GroupProposal]) -> Iterator[str]:
    for proposal in proposals:
        for member in proposal.members:
            yield from [member] if isinstance(member, str) else ids([member])


@pytest.mark.requirement("C-20")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(OUTLINES)
@example([])
@example([["利用規約"]])
@example([["同じ名前", "同じ名前"]] * 40)
@example([[f"文書{number}"] for number in range(60)])
async def test_every_item_is_in_exactly_one_group_and_groups_have_names(
    grouper: Grouper, outlines: list[list[str]]
) -> None:
    """C-20, C-23: and no level is wider than the limits."""
    items = [item(number, *outline) for number, outline in enumerate(outlines, 1)]
    proposals = (await grouper.group(items, LIMITS, "ja")).groups
    assert Counter(ids(proposals)) == Counter(one.item_id for one in items)
    for siblings in levels(proposals):
        assert len(siblings) <= LIMITS.max_children
        assert len({group.slug for group in siblings}) == len(siblings)
        assert len({group.title for group in siblings}) == len(siblings)
        for group in siblings:
            assert is_slug(group.slug)
            assert group.members
            assert 1 <= len(one_line(group.title)) == len(group.title) <= 40
            assert 1 <= len(one_line(group.summary)) == len(group.summary) <= 160


async def test_the_same_items_give_the_same_groups(grouper: Grouper) -> None:
    """C-27: promised by the port."""
    items = [item(number, "規約", f"第{number // 4}章") for number in range(1, 40)]
    assert await grouper.group(items, LIMITS, "ja") == await grouper.group(list(items), LIMITS, "ja")


async def test_a_new_item_is_placed_with_its_document(grouper: Grouper) -> None:
    """C-28: promised by the port; what suits no group may be left out."""
    cards = [
        GroupCard(
            group_id="group_0", title="規約", summary="規約。", members=(item(1, "規約"), item(2, "規約"))
        ),
        GroupCard(group_id="group_1", title="料金", summary="料金。", members=(item(3, "料金表"),)),
    ]
    placed = await grouper.place(
        [item(9, "料金表", title="割引"), item(10, "規約", title="附則")], cards, "ja"
    )
    assert placed.homes == {"chunk_9": "group_1", "chunk_10": "group_0"}
    assert (await grouper.place([item(9, "料金表")], (), "ja")).homes == {}
    assert set((await grouper.place([item(11, "zzz", title="qqq")], cards, "ja")).homes) <= {"chunk_11"}


async def test_a_description_keeps_the_title_and_fits(grouper: Grouper) -> None:
    """C-18: promised by the port."""
    members = [
        item(number, "規約", title=f"第{number}条（とても長い見出しを持つ条文の例その{number}）")
        for number in range(1, 30)
    ]
    said = await grouper.describe("解約手続き", members, (), "ja")
    assert said.title == "解約手続き"
    assert 1 <= len(one_line(said.summary)) == len(said.summary) <= 160
    invented = await grouper.describe("", members, (), "ja")
    assert invented.title
