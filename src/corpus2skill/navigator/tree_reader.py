"""The nodes of one pinned version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corpus2skill.domain.ids import ROOT_PATH, SUMMARY_FILE, is_node_path
from corpus2skill.domain.node_file import parse_leaf, parse_summary_node
from corpus2skill.domain.tree import Node
from corpus2skill.errors import Damaged
from corpus2skill.navigator.node_path import find_node
from corpus2skill.ports.store import VersionStore


@dataclass(frozen=True, slots=True)
class TreeReader:
    """Reads nodes of the version it was made for; it has no way to name another."""

    store: VersionStore
    corpus: str
    version: int

    def fetch(self, path: str, just_read: Sequence[Node] = ()) -> Node:
        """Return the node that `path` names, in any of the spellings that `get_document` takes.

        `just_read` are the nodes that a relative path may start from.

        Raises:
            NodeNotFound: it names none; the error has the valid children.
            Damaged: the file is there and is not a node file.
        """
        return find_node(self, path, just_read)

    def root(self) -> Node:
        """Raises: Damaged (a tree without a root too), VersionNotFound, WorkspaceUnusable."""
        node = self.node(ROOT_PATH)
        if node is None:
            raise self._damaged(ROOT_PATH)
        return node

    def node(self, path: str) -> Node | None:
        """Return the node at a canonical path, None where there is none or the path is not canonical.

        Raises:
            Damaged: the file is there and is not a node file.
        """
        if not is_node_path(path):
            return None
        text = self.store.node_text(self.corpus, self.version, path)
        if text is None:
            return None
        try:
            return parse_node(path, text)
        except ValueError as error:
            raise self._damaged(path) from error

    def leaf(self, doc_id: str) -> Node | None:
        """Return the leaf `doc_id`, wherever it lies, None where the version has no such leaf.

        Raises:
            Damaged: it is known and its file is not there.
        """
        row = self.store.chunk_row(self.corpus, self.version, doc_id.removeprefix("doc_"))
        if row is None:
            return None
        node = self.node(row.path)
        if node is None:
            raise self._damaged(row.path)
        return node

    def _damaged(self, path: str) -> Damaged:
        return Damaged("damaged_node", corpus=self.corpus, version=self.version, path=path)


def parse_node(path: str, text: str) -> Node:
    """Return the node that the file `text` at the canonical `path` is.

    Raises:
        ValueError: it is no node file.
    """
    name = path.rpartition("/")[2]
    return _summary_node(path, text) if name == SUMMARY_FILE else _leaf(path, name.removesuffix(".md"), text)


def _summary_node(path: str, text: str) -> Node:
    file = parse_summary_node(text)
    return Node(
        path=path,
        content=file.content,
        node_type="skill_summary",
        children=tuple(child.name for child in file.children),
        doc_id=None,
        title=file.title,
        offered=file.children,
    )


def _leaf(path: str, doc_id: str, text: str) -> Node:
    file = parse_leaf(text)
    return Node(
        path=path,
        content=file.content,
        node_type="document",
        children=(),
        doc_id=doc_id,
        title=file.title,
        source=file.source,
        place=file.place,
        body=file.body,
    )
