"""Finds the existing group that a new or changed item belongs to."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from corpus2skill.adapters.offline.words import index_words
from corpus2skill.domain.grouping import GroupCard, GroupItem

_OWN_BRANCH = 3
"""So many items of one document that no group knows are left out: they get a branch of their own."""
_LEAST_FIT = 0.15
"""Share of an item's words, weighed by rarity, that a group must have to take it in."""


def place_items(items: Sequence[GroupItem], groups: Sequence[GroupCard]) -> Mapping[str, str]:
    """Return item id to group id; items that suit no group are left out."""
    if not groups:
        return {}
    outlines = _Outlines(groups)
    vocabulary = _Vocabulary(groups)
    placed: dict[str, str] = {}
    strangers = Counter(outlines.unknown(item.outline) for item in items)
    for item in items:
        unknown = outlines.unknown(item.outline)
        if unknown and strangers[unknown] >= _OWN_BRANCH and not outlines.nearest(item.outline):
            continue
        nearest = outlines.nearest(item.outline)
        best = vocabulary.best(item, nearest or range(len(groups)), is_certain=bool(nearest))
        if best is not None:
            placed[item.item_id] = groups[best].group_id
    return placed


class _Outlines:
    """Which groups have members below each outline prefix."""

    def __init__(self, groups: Sequence[GroupCard]) -> None:
        self.all = len(groups)
        self.holders: dict[tuple[str, ...], list[int]] = {}
        for number, group in enumerate(groups):
            outlines = {member.outline for member in group.members}
            prefixes = {outline[:end] for outline in outlines for end in range(1, len(outline) + 1)}
            for prefix in prefixes:
                self.holders.setdefault(prefix, []).append(number)

    def nearest(self, outline: tuple[str, ...]) -> list[int]:
        """The groups that share the longest prefix of `outline`; none where it tells no group from another."""
        for end in range(len(outline), 0, -1):
            holders = self.holders.get(outline[:end], [])
            if holders and (len(holders) < self.all or self.all == 1):
                return holders
        return []

    def unknown(self, outline: tuple[str, ...]) -> tuple[str, ...]:
        """The shortest prefix of `outline` that no group has; empty where all of it is known."""
        for end in range(1, len(outline) + 1):
            if outline[:end] not in self.holders:
                return outline[:end]
        return ()


class _Vocabulary:
    """Which words each group's members have."""

    def __init__(self, groups: Sequence[GroupCard]) -> None:
        self.words = [
            {word for member in group.members for word in index_words(_text(member))} for group in groups
        ]
        self.having = Counter(word for words in self.words for word in words)

    def best(self, item: GroupItem, numbers: Sequence[int], *, is_certain: bool) -> int | None:
        """The group among `numbers` with most of the item's words; None where none has enough of them."""
        if len(numbers) == 1 and is_certain:
            return numbers[0]
        words = sorted(set(index_words(_text(item))))
        total = sum(self.rarity(word) for word in words) or 1.0
        fits = [
            round(sum(self.rarity(word) for word in words if word in self.words[number]) / total, 6)
            for number in numbers
        ]
        best = max(range(len(fits)), key=lambda at: (fits[at], -at))
        return numbers[best] if is_certain or fits[best] >= _LEAST_FIT else None

    def rarity(self, word: str) -> float:
        return math.log(1 + (len(self.words) + 1) / (self.having[word] + 0.5))


def _text(item: GroupItem) -> str:
    return f"{item.title}\n{item.summary}\n{item.text}"
