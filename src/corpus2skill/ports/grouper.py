"""Grouping (the article, Step 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from corpus2skill.domain.grouping import GroupCard, GroupDescription, Grouping, GroupItem, Placing
from corpus2skill.domain.language import Language
from corpus2skill.domain.tree import TreeLimits


class Grouper(Protocol):
    """Makes chapters. Its answers are proposals: the core checks every id and every limit."""

    @property
    def identity(self) -> str:
        """Engine, model and prompt version."""
        ...

    async def group(
        self, items: Sequence[GroupItem], limits: TreeLimits, language: Language, parent_title: str = ""
    ) -> Grouping:
        """Part `items` into groups, at most `limits.max_children` of them on each level it answers.

        `parent_title` is that of the group that they all lie in. A group over `limits.max_leaves` is grouped
        again by the caller. The same items in the same order give the same answer.

        Raises:
            ModelError: a call failed for good.
        """
        ...

    async def place(
        self, items: Sequence[GroupItem], groups: Sequence[GroupCard], language: Language
    ) -> Placing:
        """Find a home for each item that suits one of `groups`; others may be left out.

        Raises:
            ModelError: a call failed for good.
        """
        ...

    async def describe(
        self,
        title: str,
        members: Sequence[GroupItem],
        siblings: Sequence[GroupCard],
        language: Language,
        parent_title: str = "",
    ) -> GroupDescription:
        """Say again what a group holds and what tells it from its siblings, after its members changed.

        `title` is the present one ("" for none); an engine keeps it where it still fits. `members` are what
        lies directly in it, groups or chunks. No sibling's title is answered, nor `parent_title`.

        Raises:
            ModelError: a call failed for good.
        """
        ...


class Neighbours(Protocol):
    """Puts items into an order in which like ones are near each other."""

    def __call__(self, items: Sequence[GroupItem], /) -> Sequence[GroupItem]:
        """Return exactly `items`, in such an order. The same items in the same order give the same answer."""
        ...
