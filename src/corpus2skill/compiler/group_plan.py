"""How many calls a grouping will make, told without a model, before any summary is written."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass

from corpus2skill.compiler.group_batches import (
    GroupRoom,
    WantedOf,
    are_to_be_merged,
    wanted_alone,
    wanted_chapters,
    wanted_leaf_groups,
    wanted_merged,
)
from corpus2skill.compiler.group_places import CARD_SUMMARY, MOST_GROUPS, MOST_PLACED, SHORTLIST
from corpus2skill.compiler.group_prompts import Wanted, describe_call, group_call, item_line, place_call
from corpus2skill.domain.grouping import GroupItem
from corpus2skill.domain.language import Language
from corpus2skill.domain.message import Text
from corpus2skill.domain.model_call import Purpose, TextCall
from corpus2skill.domain.money import PlannedCalls, Span
from corpus2skill.domain.tokens import likely_tokens, upper_tokens
from corpus2skill.domain.tree import TreeLimits

_SHORT = (14, 70)
_LONG = (24, 130)
"""Characters of title and summary: few and many, on average."""
_LETTER: dict[Language, str] = {"ja": "約", "en": "e"}
_GROUP_REPLY = (80, 220)
"""Tokens of a group in a reply."""
_ID_REPLY = (5, 9)
_PLACE_REPLY = (14, 26)
_DESCRIBE_REPLY = (70, 200)
_ASKED_AGAIN = 1.25
"""So many times the calls at most, where replies have faults."""
_MISSING = 4
"""Items that a reply forgets, where it forgets any."""


@dataclass(frozen=True, slots=True)
class _Planned:
    """One call: what it sends and what comes back."""

    purpose: Purpose
    characters: int
    tokens: Span
    reply_tokens: float
    times: float = 1.0

    @classmethod
    def of(cls, call: TextCall, reply_tokens: float, times: float = 1.0) -> _Planned:
        shown = (part.text for message in call.messages for part in message.parts if isinstance(part, Text))
        texts = "".join((call.system, *shown, call.schema))
        return cls(call.purpose, len(texts), likely_tokens(texts), reply_tokens, times)


def planned_grouping(
    items: int, limits: TreeLimits, window: int, language: Language
) -> tuple[PlannedCalls, ...]:
    """Return the calls of a first grouping of so many items.

    Raises:
        UnusableSettings: the window is too small for any grouping.
    """
    GroupRoom(window=window, language=language).check()
    low = list(_Plan(limits, window, language, _SHORT, 0).first(items))
    high = list(_Plan(limits, window, language, _LONG, 1).first(items))
    return _summed(low, high)


def planned_update(
    changed: int, groups: int, depth: int, limits: TreeLimits, window: int, language: Language
) -> tuple[PlannedCalls, ...]:
    """Return the calls of a grouping that goes on: `changed` new or changed items, into so many leaf groups.

    `depth` is the number of levels of groups that there are.
    """
    low = list(_Plan(limits, window, language, _SHORT, 0).onward(changed, groups, depth))
    high = list(_Plan(limits, window, language, _LONG, 1).onward(changed, groups, depth))
    return _summed(low, high)


class _Plan:
    """The calls for items of one length; `at` is 0 for the low end of all figures and 1 for the high."""

    def __init__(
        self, limits: TreeLimits, window: int, language: Language, sizes: tuple[int, int], at: int
    ) -> None:
        self.limits, self.window, self.at = limits, window, at
        self.language: Language = language
        letter = _LETTER[language]
        self.known: dict[tuple[int, Wanted, float, bool], _Planned] = {}
        self.item = GroupItem(
            item_id="", title=letter * sizes[0], summary=letter * sizes[1], outline=(), text=""
        )

    def first(self, items: int) -> Iterator[_Planned]:
        if items == 0:
            return
        wanted_of = wanted_alone(self.limits)
        if len(self.batches(items, wanted_of, of_groups=False)) > 1:
            wanted_of = wanted_leaf_groups(items, self.limits)
            groups = yield from self.level(items, wanted_of, of_groups=False)
            yield from self.above(items, groups)
        else:
            yield from self.level(items, wanted_of, of_groups=False)
        yield self.description(self.limits.max_children)

    def above(self, items: int, groups: int) -> Iterator[_Planned]:
        """The rounds that bring the groups of batches together."""
        levels = self.limits.max_group_depth - 1
        is_first = True
        while groups > self.limits.max_children or is_first:
            if are_to_be_merged(groups, items / groups, self.limits):
                fewer = yield from self.level(
                    groups, wanted_merged(items / groups, self.limits), of_groups=True
                )
            else:
                is_first = False
                fewer = yield from self.level(
                    groups, wanted_chapters(groups, levels, self.limits), of_groups=True
                )
                levels -= 1
            if fewer >= groups or levels < 1:
                return
            groups = fewer

    def onward(self, changed: int, groups: int, depth: int) -> Iterator[_Planned]:
        if changed == 0:
            return
        shown = min(groups, MOST_GROUPS) if groups <= MOST_GROUPS else min(groups, SHORTLIST * changed)
        for start in range(0, changed, MOST_PLACED):
            yield self.placing(min(MOST_PLACED, changed - start), min(shown, MOST_GROUPS))
        touched = min(groups, changed) if self.at else max(min(groups, changed) // 4, 1)
        yield self.description(self.limits.max_leaves // 2, touched * (depth if self.at else 1) + 1)
        if self.at:
            crowded = max(changed // self.limits.max_leaves, 1)
            yield self.grouping(self.limits.max_leaves, wanted_alone(self.limits), crowded, of_groups=False)

    def level(self, count: int, wanted_of: WantedOf, *, of_groups: bool) -> Generator[_Planned, None, int]:
        """Calls over one level; returns how many groups come of it."""
        groups = 0
        for batch in self.batches(count, wanted_of, of_groups=of_groups):
            wanted = wanted_of(len(batch))
            groups += round((wanted.least + wanted.most) / 2)
            yield self.grouping(len(batch), wanted_of, 1, of_groups=of_groups)
            if self.at:
                yield self.placing(min(_MISSING, len(batch)), wanted.most)
        return groups

    def batches(self, count: int, wanted_of: WantedOf, *, of_groups: bool) -> Sequence[range]:
        room = GroupRoom(window=self.window, language=self.language, of_groups=of_groups)
        return room.batches([upper_tokens(self.line())] * count, wanted_of)

    def line(self, summary_limit: int | None = None) -> str:
        return item_line("chunk_12345", self.item, summary_limit)

    def grouping(self, items: int, wanted_of: WantedOf, times: float, *, of_groups: bool) -> _Planned:
        wanted = wanted_of(items)
        key = (items, wanted, times, of_groups)
        if key not in self.known:
            self.known[key] = self.new_grouping(*key)
        return self.known[key]

    def new_grouping(self, items: int, wanted: Wanted, times: float, of_groups: bool) -> _Planned:
        call = group_call(
            [self.line()] * items,
            wanted,
            self.language,
            parent_title="",
            of_groups=of_groups,
            max_output_tokens=0,
        )
        groups = wanted.most if self.at else wanted.least
        reply = groups * _GROUP_REPLY[self.at] + items * _ID_REPLY[self.at]
        return _Planned.of(call, reply, times * (_ASKED_AGAIN if self.at else 1))

    def placing(self, items: int, groups: int) -> _Planned:
        cards = [self.line(CARD_SUMMARY)] * groups
        call = place_call(
            [self.line()] * items, cards, self.language, may_leave_out=True, max_output_tokens=0
        )
        return _Planned.of(call, items * _PLACE_REPLY[self.at])

    def description(self, members: int, times: float = 1) -> _Planned:
        lines = [self.line()] * members
        call = describe_call(
            self.item.title,
            lines,
            lines[:11],
            self.language,
            count=members,
            parent_title="",
            max_output_tokens=0,
        )
        return _Planned.of(call, _DESCRIBE_REPLY[self.at], times * (_ASKED_AGAIN if self.at else 1))


def _summed(low: Sequence[_Planned], high: Sequence[_Planned]) -> tuple[PlannedCalls, ...]:
    purposes: tuple[Purpose, ...] = ("group", "place", "describe")
    spans = (_span(purpose, _of(purpose, low), _of(purpose, high)) for purpose in purposes)
    return tuple(span for span in spans if span.calls.high)


def _of(purpose: Purpose, calls: Sequence[_Planned]) -> list[_Planned]:
    return [call for call in calls if call.purpose == purpose]


def _span(purpose: Purpose, low: Sequence[_Planned], high: Sequence[_Planned]) -> PlannedCalls:
    def span(figure: Callable[[_Planned], Span]) -> Span:
        ends = (
            sum(figure(each).low * each.times for each in low),
            sum(figure(each).high * each.times for each in high),
        )
        return Span(min(ends), max(ends))

    return PlannedCalls(
        purpose=purpose,
        calls=span(lambda each: Span(1, 1)),
        prompt_characters=span(lambda each: Span(each.characters, each.characters)),
        input_tokens=span(lambda each: each.tokens),
        output_tokens=span(lambda each: Span(each.reply_tokens, each.reply_tokens)),
    )
