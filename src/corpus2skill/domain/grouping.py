"""What a grouping call is given and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupItem:
    """One thing to be grouped: a chunk, or a group that is to get a parent."""

    item_id: str
    title: str
    summary: str
    outline: tuple[str, ...]
    """Where its author put it: folders, document, chapters, sections, outermost first."""
    folders: int = 0
    """How many of the outline's first entries are folders; the one after them is the document."""
    text: str
    """For engines that count words. A language model is shown titles and summaries only (the article, Step 4)."""
    is_group: bool = False
    """True for a group; the items of one call are of one kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupProposal:
    """A group as an engine proposes it; the core checks and repairs it before it is believed."""

    slug: str
    title: str
    summary: str
    members: tuple[str | GroupProposal, ...]
    """Item ids and, where the engine sees several levels at once, groups within."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCard:
    """An existing group, for placing items and for telling siblings apart."""

    group_id: str
    title: str
    summary: str
    members: tuple[GroupItem, ...]
    """The leaves beneath it."""
    above: tuple[str, ...] = ()
    """Where it is not seen among its siblings: the titles of the groups around it, outermost first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDescription:
    title: str
    summary: str
    is_stand_in: bool = False
    """True where the engine's answer could not be used and a rule's stands in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repairs:
    """What had to be put right by rule in the groupings."""

    unknown_ids: int = 0
    doubled_ids: int = 0
    missing_ids: int = 0
    rebalanced: int = 0
    fallbacks: int = 0
    """Answers that could not be used, asked again or not: a rule's stand in for them."""

    @property
    def total(self) -> int:
        return self.unknown_ids + self.doubled_ids + self.missing_ids + self.rebalanced + self.fallbacks

    def __add__(self, other: Repairs) -> Repairs:
        return Repairs(
            unknown_ids=self.unknown_ids + other.unknown_ids,
            doubled_ids=self.doubled_ids + other.doubled_ids,
            missing_ids=self.missing_ids + other.missing_ids,
            rebalanced=self.rebalanced + other.rebalanced,
            fallbacks=self.fallbacks + other.fallbacks,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """The answer to one grouping."""

    groups: tuple[GroupProposal, ...]
    repairs: Repairs = Repairs()
    """What the engine itself has put right; the core counts what it finds beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placing:
    """The answer to one placing."""

    homes: Mapping[str, str]
    """Item id to group id; what suits no group is left out."""
    repairs: Repairs = Repairs()


def common_outline(items: Sequence[GroupItem]) -> tuple[str, ...]:
    """The folders, document and headings that all of `items` lie under."""
    first, last = min(leaf.outline for leaf in items), max(leaf.outline for leaf in items)
    common = 0
    while common < min(len(first), len(last)) and first[common] == last[common]:
        common += 1
    return first[:common]
