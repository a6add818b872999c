"""Makes chapters with a language model (the article, Step 4).

It sees titles and summaries, never a text. A list that fits into one prompt is grouped in one call; a longer
one in batches of neighbours, whose groups are grouped in turn. The core repairs and measures what comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corpus2skill.compiler.group_asking import AskedGroup, GroupAsking, Tally
from corpus2skill.compiler.group_batches import GroupRoom, wanted_alone, wanted_chapters
from corpus2skill.compiler.group_describing import DescribeTask, describe_group
from corpus2skill.compiler.group_levels import GroupLevels
from corpus2skill.compiler.group_places import place_all
from corpus2skill.compiler.group_prompts import DESCRIBE_VERSION, GROUP_VERSION
from corpus2skill.compiler.together import MOST
from corpus2skill.domain.grouping import (
    GroupCard,
    GroupDescription,
    Grouping,
    GroupItem,
    GroupProposal,
    Placing,
)
from corpus2skill.domain.language import Language
from corpus2skill.domain.tree import Group, TreeLimits
from corpus2skill.ports.grouper import Neighbours
from corpus2skill.ports.language_model import LanguageModel


def as_they_come(items: Sequence[GroupItem]) -> Sequence[GroupItem]:
    """The documents' own order as the order of neighbours."""
    return items


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelGrouper:
    """A `Grouper` over a language model. The same items in the same order make the same calls."""

    model: LanguageModel
    neighbours: Neighbours = as_they_come
    at_once: int = MOST
    """Calls in flight at once."""

    @property
    def identity(self) -> str:
        return f"{self.model.name}/{GROUP_VERSION} {DESCRIBE_VERSION}"

    async def group(
        self, items: Sequence[GroupItem], limits: TreeLimits, language: Language, parent_title: str = ""
    ) -> Grouping:
        """Part `items` into groups: one level of them where one call sees all, else as many as it takes.

        Raises:
            UnusableSettings: the model's window is too small for any grouping.
        """
        if not items:
            return Grouping(groups=())
        GroupRoom(window=self.model.window, language=language).check()
        tally = Tally()
        asking = GroupAsking(model=self.model, language=language, tally=tally, at_once=self.at_once)
        groups = await self._groups(asking, items, limits, parent_title)
        return Grouping(groups=groups, repairs=tally.repairs)

    async def _groups(
        self, asking: GroupAsking, items: Sequence[GroupItem], limits: TreeLimits, parent_title: str
    ) -> tuple[GroupProposal, ...]:
        of_groups = items[0].is_group
        wanted_of = wanted_chapters(len(items), 1, limits) if of_groups else wanted_alone(limits)
        batches = asking.batches(items, wanted_of, of_groups=of_groups)
        if len(batches) == 1 or of_groups:
            asked = await asking.of_batches(batches, wanted_of, parent_title, of_groups=of_groups)
            return tuple(map(_proposal_of_asked, asked))
        levels = GroupLevels(
            asking=asking, neighbours=self.neighbours, limits=limits, parent_title=parent_title
        )
        return tuple(map(_proposal, await levels.of(items)))

    async def place(
        self, items: Sequence[GroupItem], groups: Sequence[GroupCard], language: Language
    ) -> Placing:
        """Find a home for each item by the groups' titles; the model may say that none suits it."""
        return await place_all(self.model, items, groups, language, may_leave_out=True, at_once=self.at_once)

    async def describe(
        self,
        title: str,
        members: Sequence[GroupItem],
        siblings: Sequence[GroupCard],
        language: Language,
        parent_title: str = "",
    ) -> GroupDescription:
        """Say again what a group holds; its title stays where it still fits."""
        task = DescribeTask(
            title=title, members=members, siblings=siblings, parent_title=parent_title, language=language
        )
        return await describe_group(self.model, task)


def _proposal_of_asked(asked: AskedGroup) -> GroupProposal:
    return GroupProposal(
        slug=asked.slug,
        title=asked.title,
        summary=asked.summary,
        members=tuple(item.item_id for item in asked.items),
    )


def _proposal(group: Group) -> GroupProposal:
    return GroupProposal(
        slug=group.slug,
        title=group.title,
        summary=group.summary,
        members=(*map(_proposal, group.groups), *group.member_ids),
    )
