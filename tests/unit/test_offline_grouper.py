"""Groups by the documents' own order, by their words where there is none, with names for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus2skill.adapters.offline.grouper import OfflineGrouper
from corpus2skill.adapters.offline.naming import range_title, slug_of
from corpus2skill.domain.grouping import GroupCard, GroupItem, GroupProposal
from corpus2skill.domain.ids import is_slug
from corpus2skill.domain.tree import TreeLimits

pytestmark = pytest.mark.anyio


def item(number: int, *outline: str, title: str = "", text: str = "", folders: int = 0) -> GroupItem:
    title = title or f"第{number}条"
    return GroupItem(
        item_id=f"chunk_{number}",
        title=title,
        summary=text or title,
        outline=outline,
        folders=folders,
        text=text or title,
    )


async def grouped(items: Sequence[GroupItem], limits: TreeLimits | None = None) -> tuple[GroupProposal, ...]:
    return (await OfflineGrouper().group(items, limits or TreeLimits(), "ja")).groups


def all_groups(proposals: Sequence[GroupProposal]) -> Iterator[GroupProposal]:
    for proposal in proposals:
        yield proposal
        yield from all_groups([member for member in proposal.members if isinstance(member, GroupProposal)])


def leaves(proposal: GroupProposal) -> list[str]:
    return [
        name
        for member in proposal.members
        for name in ([member] if isinstance(member, str) else leaves(member))
    ]


def depth(proposals: Sequence[GroupProposal]) -> int:
    inner = [[m for m in proposal.members if isinstance(m, GroupProposal)] for proposal in proposals]
    return 1 + max((depth(groups) for groups in inner if groups), default=0)


@pytest.mark.requirement("C-20")
@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 40), st.integers(0, 5), st.booleans()), max_size=500
    ),
    st.sampled_from([(12, 30), (2, 2), (3, 5), (12, 2), (2, 30)]),
)
@example([(0, 0, 0, True)] * 500, (12, 30))
@example([(0, number, 0, False) for number in range(500)], (12, 30))
@example([(0, number % 41, 0, False) for number in range(64)], (2, 2))
async def test_every_shape_of_corpus_becomes_whole_groups_within_the_limits(
    shape: list[tuple[int, int, int, bool]], widths: tuple[int, int]
) -> None:
    """C-20, C-22, C-23: for 0 to 500 chunks."""
    limits = TreeLimits(max_children=widths[0], max_leaves=widths[1], fetch_limit=16)
    items = [
        item(number, f"棚{folder}", f"文書{document}", *([f"章{chapter}"] if is_deep else []), folders=1)
        for number, (folder, document, chapter, is_deep) in enumerate(shape, 1)
    ]
    proposals = await grouped(items, limits)
    assert Counter(name for group in proposals for name in leaves(group)) == Counter(i.item_id for i in items)
    for group in all_groups(proposals):
        inner = [member for member in group.members if isinstance(member, GroupProposal)]
        assert group.members
        assert len(inner) <= limits.max_children
        assert len(group.members) - len(inner) <= limits.max_leaves
        assert is_slug(group.slug)
        assert len({one.slug for one in inner}) == len({one.title for one in inner}) == len(inner)
        assert group.title not in {one.title for one in inner}
        assert 0 < len(group.title) <= 40
        assert 0 < len(group.summary) <= 160
    assert len(proposals) <= limits.max_children
    if items:
        assert depth(proposals) <= limits.max_group_depth


async def test_folders_are_the_branches_where_there_are_few() -> None:
    """Chapters people know are branches people understand."""
    items = [
        item(1, "規約", "利用規約"),
        item(2, "規約", "個人情報"),
        item(3, "FAQ", "解約"),
        item(4, "FAQ", "料金"),
    ]
    assert [(group.title, group.members) for group in await grouped(items)] == [
        ("規約", ("chunk_1", "chunk_2")),
        ("FAQ", ("chunk_3", "chunk_4")),
    ]


async def test_a_single_document_is_parted_by_its_chapters_without_a_chain() -> None:
    """The top of a tree of one document: no node with a lone child."""
    items = [item(number, "利用規約", "利用規約", f"第{1 + number // 5}章") for number in range(20)]
    proposals = await grouped(items)
    assert [group.title for group in proposals] == ["第1章", "第2章", "第3章", "第4章"]


async def test_groups_are_filled_so_that_no_needless_level_appears() -> None:
    """360 leaves fit into twelve groups of thirty."""
    items = [item(number, f"文書{number // 7}") for number in range(360)]
    proposals = await grouped(items)
    assert depth(proposals) == 1
    assert len(proposals) == 12


async def test_a_range_of_documents_is_named_from_where_to_where_it_goes() -> None:
    """The documents' order is kept, and the title says which are in it."""
    items = [item(number, name) for number, name in enumerate(["解約", "契約", "支払", "料金"], 1)]
    proposals = await grouped(items)
    assert [group.title for group in proposals] == ["解約 ～ 契約", "支払 ～ 料金"]


async def test_a_large_flat_folder_is_clustered_by_its_words() -> None:
    """Documents in no telling order: those of one subject come together and give the group its name."""
    subjects = ["解約申請", "請求書", "二要素認証", "データ移行"]
    items = [
        item(
            number,
            "資料",
            f"{number:03}",
            title=f"{subjects[number % 4]}の{number}",
            text=subjects[number % 4] * 5,
            folders=1,
        )
        for number in range(400)
    ]
    proposals = await grouped(items)
    named = [
        subject for subject in subjects if any(subject in group.title for group in all_groups(proposals))
    ]
    assert named == subjects
    together = 0
    for group in proposals:
        of_subject = Counter(int(name.removeprefix("chunk_")) % 4 for name in leaves(group))
        together += max(of_subject.values())
    assert together >= 360


SUBJECTS = {
    "解約": "解約申請は契約管理画面から行う。解約後は利用契約が終了する。",
    "請求書": "請求書は請求履歴から発行する。銀行振込とクレジットカードで支払う。",
    "パスワード": "パスワードはログイン画面で再設定する。二要素認証も設定できる。",
    "メンバー": "管理者はメンバーを招待して権限を与える。編集者と閲覧者がいる。",
}


def flat_folder(documents: int, chunks_each: int = 1) -> list[GroupItem]:
    """Documents on four subjects in turn, so that their order tells nothing."""
    names = list(SUBJECTS)
    return [
        item(
            document * chunks_each + chunk,
            "よくある質問",
            f"{names[document % 4]}のこと{document}",
            title=f"{names[document % 4]}のこと{document}" + (f": {chunk}" if chunk else ""),
            text=SUBJECTS[names[document % 4]],
            folders=1,
        )
        for document in range(documents)
        for chunk in range(chunks_each)
    ]


@pytest.mark.parametrize(("documents", "chunks_each"), [(16, 1), (20, 3), (40, 2), (60, 5)])
async def test_a_small_flat_folder_is_sorted_by_subject(documents: int, chunks_each: int) -> None:
    """Issue: clusters where a folder is flat; more documents than a node has branches."""
    items = flat_folder(documents, chunks_each)
    of_subject = {one.item_id: one.outline[1].partition("の")[0] for one in items}
    proposals = await grouped(items)
    assert 4 <= len(proposals) <= 12
    for group in all_groups(proposals):
        assert len({of_subject[name] for name in leaves(group)}) == 1
        assert of_subject[leaves(group)[0]] in group.title


async def test_a_document_of_a_flat_folder_stays_in_one_group_where_it_fits() -> None:
    """Issue: a document's chunks stay together."""
    items = flat_folder(44, 8)
    homes = {name: number for number, group in enumerate(await grouped(items)) for name in leaves(group)}
    documents = Counter(one.outline[1] for one in items)
    homes_of = {name: {homes[one.item_id] for one in items if one.outline[1] == name} for name in documents}
    assert sum(len(home) > 1 for home in homes_of.values()) <= 8, "12 groups of 30 hold 44 documents of 8"


async def test_a_group_of_a_flat_folder_names_its_documents() -> None:
    """Issue: titles and summaries that help a person choose."""
    for group in await grouped(flat_folder(14)):
        assert group.title.startswith(tuple(SUBJECTS))
        assert group.summary.startswith(tuple(SUBJECTS))


async def test_folders_with_names_stay_whole_beside_sorted_documents() -> None:
    """Issue: chapters people know are branches people understand."""
    named = [
        item(1000 + n, "規程", "就業規則", f"第{n}条", text="就業規則の条文", folders=1) for n in range(25)
    ]
    loose = [
        item(n, "一覧", f"{list(SUBJECTS)[n % 4]}{n}", text=list(SUBJECTS.values())[n % 4], folders=1)
        for n in range(40)
    ]
    ids = [one.item_id for one in named]
    groups = list(all_groups(await grouped([*named, *loose])))
    assert any(sorted(leaves(group)) == sorted(ids) and group.title == "規程" for group in groups)


@pytest.mark.parametrize("name", ["第{}条", "Chapter {}", "{:02}_手順"])
async def test_documents_numbered_by_their_author_keep_their_order(name: str) -> None:
    """Issue: the documents' own order where it says something."""
    names = list(SUBJECTS.values())
    items = [item(n, "法", name.format(n), text=names[n % 4], folders=1) for n in range(1, 41)]
    together = [one for group in await grouped(items) for one in leaves(group)]
    assert together == [one.item_id for one in items]


async def test_the_chapters_of_one_large_document_keep_their_order() -> None:
    """Issue: a book of twenty chapters is no flat folder, however long it is."""
    names = list(SUBJECTS.values())
    items = [item(n, "手引き", f"{n // 20}のこと", text=names[n // 20 % 4]) for n in range(400)]
    assert [one for group in await grouped(items) for one in leaves(group)] == [one.item_id for one in items]


async def test_many_equal_documents_become_groups_within_the_limits() -> None:
    """Issue, bad input: a folder of copies."""
    items = [item(n, "写し", f"写し{n}", title="同じ題", text="同じ文", folders=1) for n in range(700)]
    proposals = await grouped(items)
    assert Counter(name for group in proposals for name in leaves(group)) == Counter(i.item_id for i in items)
    assert depth(proposals) == 2


async def test_equal_names_are_told_apart() -> None:
    """Sibling titles all differ."""
    items = [
        item(number, "章", "概要" if number % 2 else " 概要", title=f"題{number}") for number in range(1, 9)
    ]
    titles = [group.title for group in await grouped(items)]
    assert len(set(titles)) == len(titles)


async def test_a_summary_says_what_is_in_a_group_and_what_marks_it() -> None:
    """Annual is not monthly."""
    items = [
        item(1, "年額", title="年額プランの解約", text="年額プランは契約期間の末日まで。"),
        item(2, "年額", title="年額プランの料金", text="年額プランは9,800円。"),
        item(3, "月額", title="月額プランの解約", text="月額プランは申請月の末日まで。"),
        item(4, "月額", title="月額プランの料金", text="月額プランは980円。"),
    ]
    annual, monthly = await grouped(items)
    assert annual.summary.startswith("年額プランの解約、年額プランの料金。")
    assert "年額プラン" in annual.summary.partition("特徴となる語")[2]
    assert "年額" not in monthly.summary


async def test_the_nearest_outline_wins_and_words_decide_between_equals() -> None:
    """C-28: an item of the same document and chapter goes to its group; what suits none is left out."""
    cards = [
        GroupCard(
            group_id="a",
            title="甲",
            summary="甲。",
            members=(item(1, "規約", "第1章", text="年額プランの解約"),),
        ),
        GroupCard(
            group_id="b",
            title="乙",
            summary="乙。",
            members=(item(2, "規約", "第2章", text="請求書の再発行"),),
        ),
        GroupCard(group_id="c", title="丙", summary="丙。", members=(item(3, "料金", text="月額の料金表"),)),
    ]
    new = [
        item(11, "規約", "第2章", text="年額プランの解約"),
        item(12, "規約", "第9章", title="附則", text="請求書の再発行の手数料"),
        item(13, "新文書", title="料金", text="月額の料金表の改定"),
        item(14, "別文書", title="沿革", text="zebra quux"),
    ]
    assert (await OfflineGrouper().place(new, cards, "ja")).homes == {
        "chunk_11": "b",
        "chunk_12": "b",
        "chunk_13": "c",
    }


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("解約手続き", "topic-3"),
        ("年額プラン", "puran"),
        ("Cancellation and refunds", "cancellation-and-refunds"),
        ("第12条（解約）", "topic-12"),
        ("ふるさと納税", "furusato"),
        ("FAQ（よくある質問）", "faq-yokuaru"),
        ("con", "topic-3"),
    ],
)
def test_slugs_are_latin_words_and_romanised_kana(title: str, slug: str) -> None:
    """C-23, as design.md decides for the offline engine."""
    assert slug_of(title, 3) == slug


@given(st.text(max_size=80), st.integers(min_value=1, max_value=500))
@example("プラン" * 40, 1)
@example("ッーャ", 1)
def test_every_title_has_a_slug(title: str, number: int) -> None:
    """C-23: whatever the title."""
    assert is_slug(slug_of(title, number))


def test_a_range_says_once_what_both_ends_begin_with() -> None:
    """Forty characters are few."""
    law = "医薬品、医療機器等の品質、有効性及び安全性の確保等に関する法律"
    title = range_title("", f"{law} 第14条", f"{law} 第23条")
    assert len(title) <= 40
    assert title.endswith("第14条 ～ 第23条")
    assert range_title("規約", "第1条", "第9条") == "規約 第1条 ～ 第9条"


async def test_a_new_document_of_several_chunks_is_left_out_to_get_a_branch_of_its_own() -> None:
    """Issue: chapters people know are branches people understand, after a recompile too."""
    known = tuple(item(number, "規約", f"第{number}章") for number in range(1, 4))
    groups = [GroupCard(group_id="g", title="規約", summary="規約", members=known)]
    new = [item(number, "料金表", f"{number}節") for number in range(10, 13)]
    few = [item(20, "お知らせ")]
    changed = [item(30, "規約", "第9章")]
    placed = (await OfflineGrouper().place([*new, *few, *changed], groups, "ja")).homes
    assert not {one.item_id for one in new} & placed.keys()
    assert placed[changed[0].item_id] == "g"
