"""Placing calls: which of the groups there are is home to an item. The prompt stays small for any number of groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from corpus2skill.compiler.asking import ROOM_TO_ASK_AGAIN, CutShort, ask, prompt_tokens
from corpus2skill.compiler.group_prompts import item_line, place_call
from corpus2skill.compiler.group_replies import PlaceReader, ReadPlaces
from corpus2skill.compiler.likeness import Likeness
from corpus2skill.compiler.together import together
from corpus2skill.domain.grouping import GroupCard, GroupItem, Placing, Repairs
from corpus2skill.domain.language import Language
from corpus2skill.domain.model_call import TextCall
from corpus2skill.domain.tokens import upper_tokens
from corpus2skill.ports.language_model import LanguageModel

MOST_GROUPS = 120
"""Shown in one call."""
MOST_PLACED = 50
"""Items in one call."""
SHORTLIST = 10
"""Groups shown for an item where there are too many to show all: the likest by their words."""
CARD_SUMMARY = 80
"""Characters of a group's summary that are shown."""
_REPLY_TOKENS = 200
_PLACE_TOKENS = 30
"""Of one item and its group in a reply."""
_NAME_TOKENS = 12
"""Of what a group is called in a prompt."""
_MEMBERS = 40
"""Members of a group whose titles its likeness goes by."""


def place_reply_tokens(items: int) -> int:
    """The most that a sound reply to a placing call has."""
    return _REPLY_TOKENS + items * _PLACE_TOKENS


async def place_all(
    model: LanguageModel,
    items: Sequence[GroupItem],
    groups: Sequence[GroupCard],
    language: Language,
    *,
    may_leave_out: bool,
    at_once: int,
) -> Placing:
    """Find a home for each item; with `may_leave_out` the model may say that none of `groups` suits it.

    Raises:
        ModelError: a call failed for good.
    """
    if not groups or not items:
        return Placing(homes={})
    work = _Placing(
        model=model,
        cards=[_Card.of(group) for group in groups],
        likeness=Likeness([_words(group) for group in groups]),
        language=language,
        may_leave_out=may_leave_out,
    )
    answers = await together([partial(work.placed, *batch) for batch in work.batches(items)], at_once)
    return _joined(answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Card:
    """A group as it is shown."""

    group_id: str
    line: str
    tokens: int

    @classmethod
    def of(cls, group: GroupCard) -> _Card:
        titles = " › ".join((*group.above, group.title))
        line = item_line("", replace(group, title=titles), CARD_SUMMARY)
        return cls(group_id=group.group_id, line=line, tokens=upper_tokens(line) + _NAME_TOKENS)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placing:
    model: LanguageModel
    cards: Sequence[_Card]
    likeness: Likeness
    language: Language
    may_leave_out: bool

    def batches(self, items: Sequence[GroupItem]) -> Iterator[tuple[list[GroupItem], list[int]]]:
        """Items that can be asked about in one call, with the numbers of the groups that are shown for them."""
        batch: list[GroupItem] = []
        shown: set[int] = set()
        for item in items:
            wanted = self._shortlist(item)
            if batch and not self._fits([*batch, item], shown | wanted):
                yield batch, sorted(shown)
                batch, shown = [], set()
            batch.append(item)
            shown |= wanted
        yield batch, sorted(shown)

    def _shortlist(self, item: GroupItem) -> set[int]:
        """All groups where they can be shown, else the likest; fewer in a small window."""
        everything = set(range(len(self.cards)))
        if len(everything) <= MOST_GROUPS and self._fits([item], everything):
            return everything
        ranked = self.likeness.nearest(_item_words(item), SHORTLIST)
        count = len(ranked)
        while count > 2 and not self._fits([item], set(ranked[:count])):
            count -= 1
        return set(ranked[:count])

    def _fits(self, items: Sequence[GroupItem], shown: set[int]) -> bool:
        if len(items) > 1 and (len(items) > MOST_PLACED or len(shown) > MOST_GROUPS):
            return False
        tokens = sum(self.cards[number].tokens for number in shown)
        tokens += sum(upper_tokens(item_line(item.item_id, item)) + 1 for item in items)
        frame = prompt_tokens(self._call([], []))
        reply = place_reply_tokens(len(items))
        return frame + tokens + reply + ROOM_TO_ASK_AGAIN <= self.model.window

    def _call(self, items: Sequence[GroupItem], shown: Sequence[int]) -> TextCall:
        return place_call(
            [item_line(item.item_id, item) for item in items],
            [f"group_{at} | {self.cards[number].line}" for at, number in enumerate(shown, start=1)],
            self.language,
            may_leave_out=self.may_leave_out,
            max_output_tokens=place_reply_tokens(len(items)),
        )

    async def placed(self, items: Sequence[GroupItem], shown: Sequence[int]) -> Placing:
        """Ask about one batch; what the reply forgets goes to the likest group."""
        groups = {f"group_{at}": number for at, number in enumerate(shown, start=1)}
        names = [item.item_id for item in items]
        reader = PlaceReader(names=names, groups=groups, may_leave_out=self.may_leave_out)
        try:
            read = await ask(self.model, self._call(items, shown), reader, self.language)
        except CutShort:
            if len(items) > 1:
                half = len(items) // 2
                halves = [partial(self.placed, part, shown) for part in (items[:half], items[half:])]
                return _joined(await together(halves))
            read = None
        if read is None:
            read = ReadPlaces(homes={}, left_out=frozenset(), repairs=Repairs(fallbacks=1))
        homes = {name: self.cards[groups[group]].group_id for name, group in read.homes.items()}
        for item in items:
            if item.item_id not in homes and item.item_id not in read.left_out:
                homes[item.item_id] = self._likest(item, shown).group_id
        return Placing(homes=homes, repairs=read.repairs)

    def _likest(self, item: GroupItem, shown: Sequence[int]) -> _Card:
        ranked = self.likeness.nearest(_item_words(item), SHORTLIST)
        return self.cards[next((number for number in ranked if number in shown), shown[0])]


def _joined(answers: Sequence[Placing]) -> Placing:
    homes = {name: group for answer in answers for name, group in answer.homes.items()}
    repairs = sum((answer.repairs for answer in answers), Repairs())
    return Placing(homes=homes, repairs=repairs)


def _words(group: GroupCard) -> str:
    titles = "\n".join(member.title for member in group.members[:_MEMBERS])
    return "\n".join((*group.above, group.title, group.summary, titles))


def _item_words(item: GroupItem) -> str:
    return f"{item.title}\n{item.summary}"
