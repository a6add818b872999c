"""Grouping calls over a list of any length: batches, what a reply left out, and a rule where none can be used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from corpus2skill.compiler import shape
from corpus2skill.compiler.asking import CutShort, ask
from corpus2skill.compiler.group_batches import GroupRoom, WantedOf, group_reply_tokens
from corpus2skill.compiler.group_places import place_all
from corpus2skill.compiler.group_prompts import Wanted, group_call, item_line
from corpus2skill.compiler.group_replies import GroupReader, ReadGroup, ReadGroups
from corpus2skill.compiler.together import together
from corpus2skill.domain.chunk import SUMMARY_LIMIT, TITLE_LIMIT
from corpus2skill.domain.grouping import GroupCard, GroupItem, Repairs, common_outline
from corpus2skill.domain.language import Language
from corpus2skill.domain.shortening import one_line, shortened
from corpus2skill.domain.tokens import upper_tokens
from corpus2skill.ports.language_model import LanguageModel

_FEWEST_ASKED = 8
"""A batch of so few items is not halved any more when its reply was cut off."""
_SMALL_WINDOW = 16_000
"""Tokens below which a prompt would show too few groups to find the chapters over them."""
_BRIEF = 60
"""Characters of a group's summary that are shown there."""


class Tally:
    """Repairs of one piece of work, as they come up in its calls."""

    def __init__(self) -> None:
        self.repairs = Repairs()

    def add(self, repairs: Repairs) -> None:
        self.repairs += repairs


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedGroup:
    """A group with the items that it is to have."""

    slug: str
    title: str
    summary: str
    items: tuple[GroupItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAsking:
    """Asks one model for groups, for one piece of work."""

    model: LanguageModel
    language: Language
    tally: Tally
    at_once: int

    def batches(
        self, items: Sequence[GroupItem], wanted_of: WantedOf, *, of_groups: bool
    ) -> list[Sequence[GroupItem]]:
        """Cut `items` into batches that one call each can hold."""
        tokens = [upper_tokens(line) for line in self._lines(items, of_groups=of_groups)]
        room = GroupRoom(window=self.model.window, language=self.language, of_groups=of_groups)
        return [items[part.start : part.stop] for part in room.batches(tokens, wanted_of)]

    async def of_batches(
        self,
        batches: Sequence[Sequence[GroupItem]],
        wanted_of: WantedOf,
        parent_title: str,
        *,
        of_groups: bool,
    ) -> list[AskedGroup]:
        """The groups of all batches, in their order; each item of each batch is in exactly one of them."""
        calls = [
            partial(self.of_batch, batch, wanted_of, parent_title, of_groups=of_groups) for batch in batches
        ]
        return [group for groups in await together(calls, self.at_once) for group in groups]

    async def of_batch(
        self, items: Sequence[GroupItem], wanted_of: WantedOf, parent_title: str, *, of_groups: bool
    ) -> list[AskedGroup]:
        """The groups of one batch; a reply that was cut off is asked for again in halves."""
        wanted = wanted_of(len(items))
        try:
            read = await self._read(items, wanted, parent_title, of_groups=of_groups)
        except CutShort:
            if len(items) >= _FEWEST_ASKED:
                half = len(items) // 2
                halves = [items[:half], items[half:]]
                return await self.of_batches(halves, wanted_of, parent_title, of_groups=of_groups)
            read = None
        if read is None:
            self.tally.add(Repairs(fallbacks=1))
            return by_rule(items, wanted.members, parent_title, least=wanted.least)
        return await self._completed(read, items, of_groups=of_groups)

    async def _read(
        self, items: Sequence[GroupItem], wanted: Wanted, parent_title: str, *, of_groups: bool
    ) -> ReadGroups | None:
        names = _names(items, of_groups=of_groups)
        call = group_call(
            self._lines(items, of_groups=of_groups),
            wanted,
            self.language,
            parent_title=parent_title,
            of_groups=of_groups,
            max_output_tokens=group_reply_tokens(len(items), wanted.most),
        )
        reader = GroupReader(
            titles={name: one_line(item.title) for name, item in zip(names, items, strict=True)},
            wanted=wanted,
            language=self.language,
            parent_title=parent_title,
            of_groups=of_groups,
        )
        return await ask(self.model, call, reader, self.language)

    def _lines(self, items: Sequence[GroupItem], *, of_groups: bool) -> list[str]:
        """The items as they are shown: groups with less of their summaries where the window is small."""
        limit = _BRIEF if of_groups and self.model.window < _SMALL_WINDOW else None
        names = _names(items, of_groups=of_groups)
        return [item_line(name, item, limit) for name, item in zip(names, items, strict=True)]

    async def _completed(
        self, read: ReadGroups, items: Sequence[GroupItem], *, of_groups: bool
    ) -> list[AskedGroup]:
        """The groups with the items that the reply forgot: asked for, then beside their nearest neighbour."""
        self.tally.add(read.repairs)
        names = _names(items, of_groups=of_groups)
        named = dict(zip(names, items, strict=True))
        homes = {name: number for number, group in enumerate(read.groups) for name in group.names}
        if read.missing:
            homes |= await self._homes_asked(read, named)
            _beside_neighbours(homes, names)
        members: list[list[GroupItem]] = [[] for _ in read.groups]
        for name, item in named.items():
            members[homes[name]].append(item)
        return [_with_items(group, held) for group, held in zip(read.groups, members, strict=True)]

    async def _homes_asked(self, read: ReadGroups, named: dict[str, GroupItem]) -> dict[str, int]:
        cards = [
            GroupCard(group_id=str(number), title=group.title, summary=group.summary, members=())
            for number, group in enumerate(read.groups)
        ]
        items = [replace(named[name], item_id=name) for name in read.missing]
        placing = await place_all(self.model, items, cards, self.language, may_leave_out=False, at_once=1)
        self.tally.add(replace(placing.repairs, missing_ids=0))
        return {name: int(number) for name, number in placing.homes.items()}


def by_rule(items: Sequence[GroupItem], most: int, parent_title: str, *, least: int = 1) -> list[AskedGroup]:
    """At least so many groups of neighbours, named by what they lie under or by their ends."""
    size = max(min(round(0.6 * most), len(items) // least), 1)
    groups: list[AskedGroup] = []
    taken = {parent_title}
    for run in shape.slices([str(number) for number in range(len(items))], size):
        held = tuple(items[int(number)] for number in run)
        title = next(title for title in _titles(held) if title not in taken)
        taken.add(title)
        contents = shortened(" / ".join(item.title for item in held), SUMMARY_LIMIT)
        groups.append(AskedGroup(slug="", title=title, summary=contents, items=held))
    return groups


def _titles(items: Sequence[GroupItem]) -> Sequence[str]:
    """Names for a run of items, the best first."""
    first, last = one_line(items[0].title), one_line(items[-1].title)
    half = TITLE_LIMIT // 2 - 2
    ends = f"{shortened(first, half)} – {shortened(last, half)}"
    named = [shortened(one_line(title), TITLE_LIMIT) for title in reversed(common_outline(items))][:1]
    plain = [] if len(items) > 1 and not named else [shortened(first, TITLE_LIMIT)]
    numbered = [f"{shortened(first, TITLE_LIMIT - 7)} ({number})" for number in range(2, 1000)]
    return [title for title in (*named, *([ends] if len(items) > 1 else plain), *numbered) if title.strip()]


def _names(items: Sequence[GroupItem], *, of_groups: bool) -> list[str]:
    """What the items are called in a prompt: chunks by their ids, groups by short numbers of their own."""
    if not of_groups:
        return [item.item_id for item in items]
    return [f"group_{number}" for number in range(1, len(items) + 1)]


def _beside_neighbours(homes: dict[str, int], names: Sequence[str]) -> None:
    """Give names without a home that of the one before them, the first ones that of the first with a home."""
    home = next(homes[name] for name in names if name in homes)
    for name in names:
        home = homes.setdefault(name, home)


def _with_items(group: ReadGroup, items: Sequence[GroupItem]) -> AskedGroup:
    return AskedGroup(slug=group.slug, title=group.title, summary=group.summary, items=tuple(items))
