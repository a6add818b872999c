"""What a grouping call is given and what it answers."""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDescription:
    title: str
    summary: str
