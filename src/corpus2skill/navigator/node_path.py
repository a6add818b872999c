"""From a path as a model or a person writes it to the node it names, or to a helpful refusal.

A path is never searched for and never completed: it spells a node of the version in one of the ways
below, or there is no such node.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import takewhile
from typing import Protocol

from corpus2skill.domain.ids import SUMMARY_FILE, is_doc_id, is_node_path, is_slug
from corpus2skill.domain.tree import Node
from corpus2skill.errors import NodeNotFound

PATH_LIMIT = 512
"""Characters. The longest path of the deepest tree is well below."""
_SHOWN_LIMIT = 200
"""Characters of a wrong path that are shown and recorded."""


class Nodes(Protocol):
    """The nodes of one version."""

    def root(self) -> Node: ...

    def node(self, path: str) -> Node | None:
        """The node at a canonical path."""
        ...

    def leaf(self, doc_id: str) -> Node | None: ...


def find_node(tree: Nodes, asked: str, just_read: Sequence[Node] = ()) -> Node:
    """Return the node that `asked` names.

    `asked` is a path from the root; or one relative to a node just read; either may lack `SKILL.md` or
    `.md` and may begin with `/` (from the root only) or `./`; or it is a bare doc id. A bare name is first
    looked for among the children of the nodes just read, for these are the names they offered.

    Raises:
        NodeNotFound: it names none, or two of the nodes just read have one; the error has the children of
            the nearest node that exists.
        Damaged: the file is there and is not a node file.
    """
    path = _spelled(asked)
    node = None if path is None else _spelled_node(tree, asked, path, just_read)
    if node is None:
        raise _not_found(tree, asked, just_read)
    return node


def shown(asked: str) -> str:
    """Return `asked` as it may be stored and shown: cut, without control characters or lone surrogates."""
    cut = asked if len(asked) <= _SHOWN_LIMIT else asked[:_SHOWN_LIMIT] + "…"
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in cut)


def normal_form(asked: str) -> str:
    """Return what all spellings of one path have in common, for telling wrong ones from each other."""
    path = " ".join(unicodedata.normalize("NFKC", asked[:PATH_LIMIT]).casefold().split())
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    name = "/".join(parts)
    return name.removesuffix(SUMMARY_FILE.casefold()).removesuffix(".md").removesuffix("/")


def _spelled(asked: str) -> str | None:
    """Return the canonical path that `asked` stands for when read from some folder, None for no path."""
    if len(asked) > PATH_LIMIT:
        return None
    path = asked.removeprefix("./") if asked.startswith("./") else asked.removeprefix("/")
    path = path.removesuffix("/")
    spellings = (path, f"{path}.md", f"{path}/{SUMMARY_FILE}" if path else SUMMARY_FILE)
    return next((spelling for spelling in spellings if is_node_path(spelling)), None)


def _spelled_node(tree: Nodes, asked: str, path: str, just_read: Sequence[Node]) -> Node | None:
    if is_doc_id(doc_id := path.removesuffix(".md")):
        return tree.leaf(doc_id)
    if asked.startswith("/"):
        return tree.node(path)
    if is_slug(asked.removeprefix("./").removesuffix("/")):
        near = _relative(tree, path, just_read)
        return _only(near) if near else tree.node(path)
    return tree.node(path) or _only(_relative(tree, path, just_read))


def _relative(tree: Nodes, path: str, just_read: Sequence[Node]) -> list[Node]:
    folders = dict.fromkeys(_folder(node.path) for node in just_read)
    nodes = (tree.node(f"{folder}{path}") for folder in folders)
    return [node for node in nodes if node is not None]


def _only(nodes: Sequence[Node]) -> Node | None:
    return nodes[0] if len(nodes) == 1 else None


def _not_found(tree: Nodes, asked: str, just_read: Sequence[Node]) -> NodeNotFound:
    nearest = _nearest(tree, asked, just_read)
    return NodeNotFound(shown(asked), at=nearest.path, children=nearest.children)


def _nearest(tree: Nodes, asked: str, just_read: Sequence[Node]) -> Node:
    """Return the deepest summary node on the way to `asked`, else the one last stood on, else the root."""
    parts = asked[:PATH_LIMIT].removeprefix(".").removeprefix("/").split("/")
    folders = list(takewhile(is_slug, parts))
    ways = ["/".join(folders[:depth]) + "/" for depth in range(len(folders), 0, -1)]
    if just_read:
        ways.append(_folder(just_read[-1].path))
    nodes = (tree.node(f"{way}{SUMMARY_FILE}") for way in ways)
    return next((node for node in nodes if node is not None), None) or tree.root()


def _folder(path: str) -> str:
    return path[: path.rfind("/") + 1]
