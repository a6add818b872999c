"""How much goes into one grouping call, and how many groups are asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from corpus2skill.compiler.asking import ROOM_TO_ASK_AGAIN, prompt_tokens
from corpus2skill.compiler.group_prompts import Wanted, group_call
from corpus2skill.domain.chunk import TITLE_LIMIT
from corpus2skill.domain.language import Language
from corpus2skill.domain.tree import TreeLimits
from corpus2skill.errors import UnusableSettings

MOST_ITEMS = 150
"""Of one call: longer lists fit into large windows, but models begin to lose ids in them."""
LEAST_ITEMS = 4
"""A window that does not hold so many items with the longest titles and summaries is too small."""
LONGEST_ITEM_TOKENS = 380
"""Of a line with a title of 40 and a summary of 160 characters, in Japanese."""
_GROUP_TOKENS = 300
"""Of a group in a reply: slug, title of 40 and summary of 160 characters."""
_ID_TOKENS = 12
_REPLY_TOKENS = 200
"""Of a reply's frame."""
_COMFORTABLE = 0.65
"""Share of their width that nodes are filled to where there is a choice: what models make is never even."""
_GOOD_FILL = 0.6
"""Share of the leaves it may have that a group is to have."""
_SMALL_FILL = 0.3
"""Groups below it are merged, where there are too many of them."""
_LEAST_PARTS = 8
"""A batch of so many items is more than one subject."""
_FULL = 0.85
"""Share of their width that saves a level."""
_LONGEST_TITLE = "上" * TITLE_LIMIT

WantedOf = Callable[[int], Wanted]
"""How many groups to ask for over so many items."""


def group_reply_tokens(items: int, groups: int) -> int:
    """The most that a sound reply to a grouping call has."""
    return _REPLY_TOKENS + groups * _GROUP_TOKENS + items * _ID_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRoom:
    """What the prompts and replies of grouping calls must fit into."""

    window: int
    language: Language
    of_groups: bool = False

    def check(self) -> None:
        """Refuse a window in which no grouping is possible, before anything is paid.

        Raises:
            UnusableSettings: naming the smallest window that would do.
        """
        least = Wanted(least=2, most=2, members=LEAST_ITEMS)
        needed = self.window - self._left(LEAST_ITEMS * LONGEST_ITEM_TOKENS, LEAST_ITEMS, least)
        if needed > self.window:
            raise UnusableSettings("grouping_window_too_small", window=self.window, needed=needed)

    def batches(self, tokens: Sequence[int], wanted_of: WantedOf) -> list[range]:
        """Cut a list, given the tokens of each line, into the fewest batches, of nearly equal lengths."""
        sums = [0, *accumulate(tokens)]
        count = len(self._filled(sums, wanted_of, MOST_ITEMS))
        while count:
            even = self._filled(sums, wanted_of, math.ceil(len(tokens) / count))
            if len(even) <= count:
                return even
            count = len(even)
        return []

    def _filled(self, sums: Sequence[int], wanted_of: WantedOf, most: int) -> list[range]:
        batches: list[range] = []
        start = 0
        for stop in range(1, len(sums)):
            size = stop - start
            is_over = self._left(sums[stop] - sums[start], size, wanted_of(size)) < 0
            if size > 1 and (size > most or is_over):
                batches.append(range(start, stop - 1))
                start = stop - 1
        return [*batches, range(start, len(sums) - 1)] if len(sums) > 1 else []

    def _left(self, tokens: int, items: int, wanted: Wanted) -> int:
        """Tokens that such a call leaves free."""
        reply = group_reply_tokens(items, wanted.most)
        frame = _frame_tokens(self.language, self.of_groups)
        return self.window - frame - tokens - items - reply - ROOM_TO_ASK_AGAIN


@cache
def _frame_tokens(language: Language, of_groups: bool) -> int:
    """A grouping prompt without its items."""
    call = group_call(
        (),
        Wanted(least=1, most=99, members=99),
        language,
        parent_title=_LONGEST_TITLE,
        of_groups=of_groups,
        max_output_tokens=0,
    )
    return prompt_tokens(call)


def wanted_alone(limits: TreeLimits) -> WantedOf:
    """What to ask for over a list that one call sees whole: chapters as many as each has items."""

    def wanted(count: int) -> Wanted:
        if count < LEAST_ITEMS:
            return Wanted(least=1, most=max(count - 1, 1), members=limits.max_leaves)
        ideal = math.sqrt(count)
        most = min(limits.max_children, math.ceil(1.4 * ideal))
        least = min(max(math.ceil(0.7 * ideal), math.ceil(count / limits.max_leaves)), most)
        is_limit = most == limits.max_children
        return Wanted(least=least, most=most, members=limits.max_leaves, is_limit=is_limit)

    return wanted


def wanted_leaf_groups(total: int, limits: TreeLimits) -> WantedOf:
    """What to ask for over one batch of many: groups so large that the levels above them can be narrow."""
    above = _COMFORTABLE * limits.max_children
    comfortable = limits.max_children * above ** (limits.max_group_depth - 1)
    least, most = 0.4 * limits.max_leaves, _GOOD_FILL * limits.max_leaves
    size = max(min(max(total / comfortable, least), most), 1.0)
    return _about(size, limits.max_leaves, is_tight=total / comfortable > least, at_least=_LEAST_PARTS)


def wanted_merged(held: float, limits: TreeLimits) -> WantedOf:
    """What to ask for over groups of `held` leaves on average, so that several become one of a good size."""
    return _about(_GOOD_FILL * limits.max_leaves / held, limits.max_leaves)


def are_to_be_merged(total: int, held: float, limits: TreeLimits) -> bool:
    """True for many groups of so few leaves that the levels above them would be wasted on them."""
    return total > limits.max_children and held < _SMALL_FILL * limits.max_leaves


def wanted_chapters(total: int, levels: int, limits: TreeLimits) -> WantedOf:
    """What to ask for over groups, `total` on their level, with so many levels of chapters left above them."""
    if total <= limits.max_children:
        return lambda count: Wanted(
            least=max(math.ceil(count / 2), 1), most=count, members=limits.max_children
        )
    ratio = total / max(0.8 * limits.max_children, 1.0)
    needed = math.ceil(math.log(ratio) / math.log(max(_FULL * limits.max_children, 1.5)) - 0.1)
    steps = min(max(needed, 1), max(levels, 1))
    size = min(max(ratio ** (1 / steps), 1.5), limits.max_children)
    is_tight = size > _COMFORTABLE * limits.max_children
    on_top = limits.max_children / total if steps == 1 else 1.0
    return _about(size, limits.max_children, is_tight=is_tight, most_of_all=on_top)


def _about(
    size: float, members: int, *, is_tight: bool = False, most_of_all: float = 1.0, at_least: int = 0
) -> WantedOf:
    """Groups of about `size`, none over `members`; at most `most_of_all` times as many as there are items.

    Where levels are `is_tight`, more groups than needed could not be brought under them. Over `at_least`
    items there is always something to part.
    """

    def wanted(count: int) -> Wanted:
        ideal = count / size
        has_parts = count > 1.5 * size or count >= at_least > 0
        most = round(1.1 * ideal) if is_tight else math.ceil(1.3 * ideal)
        most = max(
            min(most, math.floor(most_of_all * count)), math.ceil(count / members), 2 if has_parts else 1
        )
        least = max(math.ceil(0.75 * ideal), math.ceil(count / members), 2 if has_parts else 1)
        return Wanted(least=min(least, most), most=most, members=members)

    return wanted
