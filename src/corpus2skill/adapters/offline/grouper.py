"""Groups chunks by the order their authors gave them, and by their words where there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from corpus2skill.adapters.offline.naming import distinct_title, group_summary, terms_title
from corpus2skill.adapters.offline.placing import place_items
from corpus2skill.adapters.offline.planting import TELLING_TERMS, Planting, item_terms
from corpus2skill.adapters.offline.telling_terms import contrasting
from corpus2skill.domain.grouping import GroupCard, GroupDescription, Grouping, GroupItem, Placing
from corpus2skill.domain.language import Language
from corpus2skill.domain.tree import TreeLimits


class OfflineGrouper:
    """A `Grouper` that needs no language model; the same items give the same answer on every machine."""

    @property
    def identity(self) -> str:
        return "offline-1"

    async def group(
        self, items: Sequence[GroupItem], limits: TreeLimits, language: Language, parent_title: str = ""
    ) -> Grouping:
        """Part `items` into groups, all levels at once."""
        return Grouping(groups=Planting(items, limits, language).proposals() if items else ())

    async def place(
        self, items: Sequence[GroupItem], groups: Sequence[GroupCard], language: Language
    ) -> Placing:
        """Return each item's home: the group of the same document and chapter, else of the same words."""
        return Placing(homes=place_items(items, groups))

    async def describe(
        self,
        title: str,
        members: Sequence[GroupItem],
        siblings: Sequence[GroupCard],
        language: Language,
        parent_title: str = "",
    ) -> GroupDescription:
        """Keep the title and say the summary again."""
        own = _counted(members)
        everywhere = sum((_counted(sibling.members) for sibling in siblings), own)
        telling = contrasting(own, everywhere, TELLING_TERMS)
        if not title:
            taken = {sibling.title for sibling in siblings}
            proposed = terms_title(telling, language) or members[0].title
            title = distinct_title(proposed, taken, telling, language)
        contents = [member.title for member in members]
        marks = telling if siblings else ()
        return GroupDescription(title=title, summary=group_summary(contents, marks, language))


def _counted(items: Sequence[GroupItem]) -> Counter[str]:
    return Counter(term for item in items for term in item_terms(item))
