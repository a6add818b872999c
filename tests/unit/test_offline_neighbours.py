"""An order of items in which like ones are near, for grouping in batches."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus2skill.adapters.offline.neighbours import lexical_neighbours
from corpus2skill.domain.grouping import GroupItem


def item(number: int, title: str) -> GroupItem:
    return GroupItem(item_id=f"chunk_{number}", title=title, summary=f"{title}。", outline=(), text="")


def test_items_of_one_subject_stand_together_wherever_they_come_from() -> None:
    """Design: batches of lexical neighbours."""
    topics = ["解約手続きの申請期限", "配送料金の計算方法", "会員パスワードの再設定"]
    items = [item(number, f"{topics[number % 3]} {number}") for number in range(60)]
    ordered = [each.title[:4] for each in lexical_neighbours(items)]
    assert sum(left != right for left, right in pairwise(ordered)) <= 4


@settings(deadline=None)
@given(st.lists(st.text(max_size=20), max_size=30))
@example(["解約"] * 10)
@example([""] * 5)
def test_the_order_has_exactly_the_items(titles: list[str]) -> None:
    """Nothing is lost on the way to a batch."""
    items = [item(number, title) for number, title in enumerate(titles)]
    ordered = lexical_neighbours(items)
    assert sorted(each.item_id for each in ordered) == sorted(each.item_id for each in items)
    assert lexical_neighbours(list(items)) == ordered
