"""Read a version's tree: one node, or the whole of it as an outline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from corpus2skill.application.choose import chosen_version
from corpus2skill.application.wiring import Workspace
from corpus2skill.domain.tree import Child, Node
from corpus2skill.navigator.node_path import find_node
from corpus2skill.navigator.tree_reader import TreeReader


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineLine:
    """A node in the outline of a tree, depth first; the root has depth 0."""

    depth: int
    path: str
    title: str
    summary: str
    is_leaf: bool


def get_node(workspace: Workspace, path: str, *, corpus: str | None, version: int | None) -> Node:
    """Fetch one node exactly as the navigator's tool does.

    Raises:
        NodeNotFound: with the valid children. VersionNotFound, CorpusNotFound, Damaged.
    """
    name, number = chosen_version(workspace, corpus, version)
    return find_node(_reader(workspace, name, number), path)


def outline(
    workspace: Workspace, *, corpus: str | None, version: int | None, depth: int | None = None
) -> Iterator[OutlineLine]:
    """Yield every node down to `depth` levels below the root, read as it is asked for."""
    name, number = chosen_version(workspace, corpus, version)
    reader = _reader(workspace, name, number)
    root = reader.root()
    yield OutlineLine(depth=0, path=root.path, title=root.title, summary="", is_leaf=False)
    yield from _below(reader, root, 1, depth)


def _reader(workspace: Workspace, corpus: str, version: int) -> TreeReader:
    return TreeReader(store=workspace.versions, corpus=corpus, version=version)


def _below(reader: TreeReader, node: Node, level: int, depth: int | None) -> Iterator[OutlineLine]:
    if depth is not None and level > depth:
        return
    folder = node.path.removesuffix("SKILL.md")
    for child in node.offered:
        path = child_path(folder, child)
        is_leaf = child.node_type == "document"
        yield OutlineLine(depth=level, path=path, title=child.title, summary=child.summary, is_leaf=is_leaf)
        if not is_leaf:
            yield from _below(reader, find_node(reader, path), level + 1, depth)


def child_path(folder: str, child: Child) -> str:
    """Path of a child of the node in `folder`, which is empty or ends in a slash."""
    return f"{folder}{child.name}" + (".md" if child.node_type == "document" else "/SKILL.md")
