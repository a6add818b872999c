"""The tree: groups over leaves, the limits of its shape, and what one node says when fetched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from corpus2skill.domain.ids import ROOT_PATH, SUMMARY_FILE, leaf_file

NodeType = Literal["skill_summary", "document"]
"""The article's wire values: a summary node, a leaf node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeLimits:
    """How wide and how deep a tree may be."""

    max_children: int = 12
    """Groups in one node."""
    max_leaves: int = 30
    """Leaves in one group."""
    fetch_limit: int = 8
    """Fetches of one run."""

    @property
    def max_nodes_on_path(self) -> int:
        """Nodes from the root to a leaf, both counted: two fetches are left to turn back once."""
        return self.fetch_limit - 2

    @property
    def max_group_depth(self) -> int:
        """Levels of groups between the root and a leaf."""
        return self.max_nodes_on_path - 2

    @property
    def capacity(self) -> int:
        """The most leaves that a tree of this shape can hold."""
        return self.max_children**self.max_group_depth * self.max_leaves


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A summary node below the root: sub-groups, leaves, or both."""

    slug: str
    title: str
    summary: str
    groups: tuple[Group, ...] = ()
    member_ids: tuple[str, ...] = ()
    """Chunk ids of the leaves that lie directly in it."""

    def chunk_ids(self) -> Iterator[str]:
        """All chunk ids beneath, in tree order."""
        for group in self.groups:
            yield from group.chunk_ids()
        yield from self.member_ids

    def depth(self) -> int:
        """Levels of groups from this one down: 1 for a group without sub-groups."""
        return 1 + max((group.depth() for group in self.groups), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """The root: what the whole corpus is about, and its groups."""

    title: str
    summary: str
    groups: tuple[Group, ...]

    def chunk_ids(self) -> Iterator[str]:
        for group in self.groups:
            yield from group.chunk_ids()

    def depth(self) -> int:
        """Levels of groups below the root."""
        return max((group.depth() for group in self.groups), default=0)

    def paths(self) -> Iterator[tuple[str, Group | None]]:
        """Every summary node as `(path, group)`, the root with None first, then depth first."""
        yield ROOT_PATH, None
        for group in self.groups:
            yield from _group_paths(group, "")

    def leaf_paths(self) -> dict[str, str]:
        """Chunk id to the node path of its leaf."""
        return {
            member: path[: -len(SUMMARY_FILE)] + leaf_file(f"doc_{member}")
            for path, group in self.paths()
            if group is not None
            for member in group.member_ids
        }


def _group_paths(group: Group, above: str) -> Iterator[tuple[str, Group]]:
    folder = f"{above}{group.slug}/"
    yield folder + SUMMARY_FILE, group
    for child in group.groups:
        yield from _group_paths(child, folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """One branch offered by a summary node."""

    name: str
    """The slug or the doc id: what `get_document` takes."""
    title: str
    summary: str
    node_type: NodeType


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What `get_document` returns: the article's five fields, and what the trail needs beside them."""

    path: str
    content: str
    """The file without its front matter."""
    node_type: NodeType
    children: tuple[str, ...]
    doc_id: str | None
    title: str
    offered: tuple[Child, ...] = ()
    """The children with their titles and summaries, in the order of the file."""
    source: str | None = None
    place: str | None = None
    body: str | None = None
    """A leaf's original text."""
