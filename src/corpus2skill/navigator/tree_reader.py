"""The nodes of one pinned version."""

from __future__ import annotations

from dataclasses import dataclass

from corpus2skill.domain.ids import ROOT_PATH, SUMMARY_FILE, is_node_path
from corpus2skill.domain.node_file import parse_leaf, parse_summary_node
from corpus2skill.domain.tree import Node
from corpus2skill.errors import Damaged
from corpus2skill.ports.store import VersionStore


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeReader:
    """Reads nodes of the version it was made for; it has no way to name another."""

    store: VersionStore
    corpus: str
    version: int

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

    def leaf_path(self, doc_id: str) -> str | None:
        """Return where the leaf `doc_id` lies, None where the version has no such leaf."""
        row = self.store.chunk_row(self.corpus, self.version, doc_id.removeprefix("doc_"))
        return None if row is None else row.path

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
