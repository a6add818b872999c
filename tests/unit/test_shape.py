"""The shape of a tree by rule: names told apart, depth held, no more rebuilt than has to be."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus2skill.compiler import shape
from corpus2skill.domain.tree import Group, TreeLimits


def leaf_group(title: str, *names: str, slug: str = "part") -> Group:
    return Group(slug=slug, title=title, summary=f"{title}の中身。", member_ids=names or (title,))


def titles(groups: Sequence[Group]) -> list[str]:
    return [group.title for group in groups]


@pytest.mark.requirement("C-23")
def test_a_title_that_is_taken_gets_what_tells_it_apart_behind_it() -> None:
    """Design: told apart by rule, in words where there are any."""
    groups = [leaf_group("解約", "a"), leaf_group("解約", "b"), leaf_group("Plans", "c")]
    hints = {"a": ["月額"], "b": ["解約", "年額プラン"], "c": ["annual"]}
    named = shape.name_apart(groups, "Plans", lambda group: hints[group.member_ids[0]])
    assert titles(named) == ["解約", "解約（年額プラン）", "Plans (annual)"]


@pytest.mark.requirement("C-23")
@settings(deadline=None)
@given(
    st.lists(st.tuples(st.text(max_size=50), st.lists(st.text(max_size=50), max_size=3)), max_size=12),
    st.text(max_size=40),
)
@example([("解約", ["解約"]), ("解約", ["同じ"]), ("解約", ["同じ"])], "解約")
@example([("題" * 40, ["印" * 40])] * 4, "題" * 40)
def test_titles_and_slugs_always_differ_and_keep_their_lengths(
    given_groups: list[tuple[str, list[str]]], parent: str
) -> None:
    """Whatever an engine calls its groups."""
    groups = [leaf_group(title, str(number)) for number, (title, _) in enumerate(given_groups)]
    named = shape.name_apart(groups, parent, lambda group: given_groups[int(group.member_ids[0])][1])
    assert len({parent, *titles(named)}) == len(named) + 1
    assert len({group.slug for group in named}) == len(named)
    assert all(1 <= len(title) <= 40 for title in titles(named))


@pytest.mark.requirement("C-22")
def test_only_the_branch_that_is_too_deep_is_rebuilt() -> None:
    """Names that an engine found are kept wherever they can be."""
    limits = TreeLimits(max_children=3, max_leaves=4, fetch_limit=6)
    sound = Group(
        slug="sound", title="料金", summary="料金。", groups=(leaf_group("固定"), leaf_group("従量"))
    )
    deep = Group(
        slug="deep",
        title="解約",
        summary="解約。",
        groups=(Group(slug="x", title="x", summary="x", groups=(leaf_group("年額"), leaf_group("月額"))),),
        member_ids=("own",),
    )
    rebuilt = shape.rebalance((sound, deep), limits)
    assert rebuilt[0] is sound
    assert (rebuilt[1].slug, rebuilt[1].title, titles(rebuilt[1].groups)) == (
        "deep",
        "解約",
        ["年額", "月額", "解約"],
    )
    assert shape.is_within(rebuilt, limits)


NESTED = st.recursive(
    st.integers(1, 4), lambda inner: st.tuples(st.integers(0, 4), st.lists(inner, max_size=3)), max_leaves=20
)


@pytest.mark.requirement("C-22")
@settings(deadline=None)
@given(st.lists(NESTED, min_size=1, max_size=3))
def test_every_tree_that_fits_at_all_is_brought_within_the_limits(nested: list[object]) -> None:
    """Every path fits into the fetch limit, and no leaf is lost."""
    limits = TreeLimits(max_children=3, max_leaves=4, fetch_limit=8)
    counter = iter(range(10**6))

    def grown(node: object) -> Group:
        own, inner = (node, []) if isinstance(node, int) else node  # type: ignore[misc]
        names = tuple(str(next(counter)) for _ in range(own))
        return Group(
            slug="s", title="t", summary="u", groups=tuple(grown(each) for each in inner), member_ids=names
        )

    groups = shape.without_empty([grown(node) for node in nested])
    rebuilt = shape.rebalance(groups, limits)
    assert shape.is_within(rebuilt, limits)
    assert sorted(name for group in rebuilt for name in group.chunk_ids()) == sorted(
        name for group in groups for name in group.chunk_ids()
    )
