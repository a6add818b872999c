"""The tree of one version as people look at it: a node, an outline of a branch, a search."""

from __future__ import annotations

import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from corpus2skill.application.read_tree import child_path
from corpus2skill.application.server.versions import require_version
from corpus2skill.application.server_wiring import Server
from corpus2skill.application.wiring import Workspace
from corpus2skill.domain.ids import ROOT_PATH
from corpus2skill.domain.tree import Child, Node, NodeType
from corpus2skill.domain.version import ChunkRow
from corpus2skill.navigator.tree_reader import TreeReader

MOST_NODES = 1_000
"""Of an outline."""
_HINT_CHARACTERS = 120
_EXCERPT_AROUND = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildView:
    """A branch or a leaf that a node offers."""

    name: str
    path: str
    title: str
    hint: str
    """The beginning of its summary, in one line."""
    node_type: NodeType
    leaves: int
    """Below it; 1 for a leaf."""
    visits: int
    """How often runs on this version came to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeView:
    """A node as `get_document` gives it, with what a reader wants to know beside it."""

    node: Node
    parents: tuple[tuple[str, str], ...]
    """Path and title of the nodes above, the root first."""
    children: tuple[ChildView, ...]
    leaves: int
    visits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineNode:
    """A node of an outline."""

    depth: int
    """0: the node that was asked for."""
    path: str
    title: str
    node_type: NodeType
    leaves: int
    has_children: bool
    """True where there is more below it than the outline shows or than it has room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    nodes: tuple[OutlineNode, ...]
    is_cut: bool
    """There were more than `MOST_NODES`: look at a branch by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A node that a search found."""

    path: str
    title: str
    node_type: NodeType
    doc_id: str | None
    field: Literal["title", "summary", "text"]
    """Where it was found."""
    excerpt: str


@dataclass(slots=True)
class LeafCounts:
    """How many leaves lie below each node, of the versions looked at last. A version never changes."""

    most: int = 16
    _counts: OrderedDict[tuple[str, str, int], Mapping[str, int]] = field(
        default_factory=OrderedDict[tuple[str, str, int], Mapping[str, int]]
    )
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, workspace: Workspace, corpus: str, version: int) -> Mapping[str, int]:
        """By folder: `""` is the root, `a/b/` a branch."""
        key = str(workspace.path), corpus, version
        with self._lock:
            held = self._counts.get(key)
        if held is None:
            held = _counted(workspace, corpus, version)
        with self._lock:
            self._counts[key] = held
            self._counts.move_to_end(key)
            while len(self._counts) > self.most:
                self._counts.popitem(last=False)
        return held


_COUNTS = LeafCounts()
"""Of this process."""


def show_node(server: Server, tenant: str, corpus: str, version: int, path: str) -> NodeView:
    """Fetch one node exactly as the navigator's tool does.

    Raises:
        CorpusNotFound, ThingNotFound.
        NodeNotFound: with the valid children. Damaged.
    """
    workspace = require_version(server, tenant, corpus, version)
    reader = _reader(workspace, corpus, version)
    node = reader.fetch(path or ROOT_PATH)
    counts = _COUNTS.of(workspace, corpus, version)
    paths = [child_path(_folder(node.path), child) for child in node.offered]
    visits = server.branch_visits.visits(tenant, corpus, version, [node.path, *paths])
    return NodeView(
        node=node,
        parents=_parents(reader, node.path),
        children=tuple(
            ChildView(
                name=child.name,
                path=below,
                title=child.title,
                hint=_hint(child.summary),
                node_type=child.node_type,
                leaves=_leaves(counts, below, child.node_type),
                visits=visits.get(below, 0),
            )
            for child, below in zip(node.offered, paths, strict=True)
        ),
        leaves=_leaves(counts, node.path, node.node_type),
        visits=visits.get(node.path, 0),
    )


def show_outline(server: Server, tenant: str, corpus: str, version: int, path: str, depth: int) -> Outline:
    """The node at `path` and what lies below it, `depth` levels deep, depth first, at most `MOST_NODES`.

    Raises:
        CorpusNotFound, ThingNotFound, NodeNotFound, Damaged.
    """
    workspace = require_version(server, tenant, corpus, version)
    reader = _reader(workspace, corpus, version)
    node = reader.fetch(path or ROOT_PATH)
    counts = _COUNTS.of(workspace, corpus, version)
    nodes = tuple(islice(_outlined(reader, counts, node, 0, depth), MOST_NODES + 1))
    return Outline(nodes=nodes[:MOST_NODES], is_cut=len(nodes) > MOST_NODES)


def search(
    server: Server, tenant: str, corpus: str, version: int, words: str, *, after: int, limit: int
) -> list[tuple[int, Found]]:
    """Nodes that have all the words, whatever their width and case: branches first, then leaves in order.

    Each with its place, which a list goes on `after`.

    Raises:
        CorpusNotFound, ThingNotFound, Damaged; TooMany, BrokenOff.
    """
    require_version(server, tenant, corpus, version)
    wanted = tuple(dict.fromkeys(_folded(words).split()))
    if not wanted:
        return []
    return server.apart.call("look", tenant, _search, server, tenant, corpus, version, wanted, after, limit)


def _search(
    server: Server, tenant: str, corpus: str, version: int, wanted: tuple[str, ...], after: int, limit: int
) -> list[tuple[int, Found]]:
    found = enumerate(_found(server.workspace(tenant), corpus, version, wanted), start=1)
    return list(islice((item for item in found if item[0] > after), limit))


def _found(workspace: Workspace, corpus: str, version: int, wanted: tuple[str, ...]) -> Iterator[Found]:
    reader = _reader(workspace, corpus, version)
    root = reader.root()
    yield from _of_node(root.path, root.title, "", "skill_summary", None, wanted)
    for path, child in _branches(reader, root):
        yield from _of_node(path, child.title, child.summary, "skill_summary", None, wanted)
    source, text = "", ""
    for row in workspace.versions.chunk_rows(corpus, version):
        if row.source != source:
            kept = workspace.versions.source_text(corpus, version, row.source)
            source, text = row.source, "" if kept is None else kept.extracted.text
        yield from _of_leaf(row, text[row.start : row.end], wanted)


def _of_leaf(row: ChunkRow, body: str, wanted: tuple[str, ...]) -> Iterator[Found]:
    doc_id = f"doc_{row.chunk_id}"
    found = list(_of_node(row.path, row.title, row.summary, "document", doc_id, wanted))
    if found or not _has_all(body, wanted):
        yield from found
        return
    yield Found(
        path=row.path,
        title=row.title,
        node_type="document",
        doc_id=doc_id,
        field="text",
        excerpt=_excerpt(body, wanted[0]),
    )


def _of_node(
    path: str, title: str, summary: str, node_type: NodeType, doc_id: str | None, wanted: tuple[str, ...]
) -> Iterator[Found]:
    fields: tuple[tuple[Literal["title", "summary"], str], ...] = (("title", title), ("summary", summary))
    for name, text in fields:
        if _has_all(text, wanted):
            excerpt = _excerpt(text, wanted[0])
            yield Found(
                path=path, title=title, node_type=node_type, doc_id=doc_id, field=name, excerpt=excerpt
            )
            return


def _branches(reader: TreeReader, node: Node) -> Iterator[tuple[str, Child]]:
    """Every branch below a node, depth first."""
    for child in node.offered:
        if child.node_type == "skill_summary":
            path = child_path(_folder(node.path), child)
            yield path, child
            yield from _branches(reader, _child(reader, path))


def _outlined(
    reader: TreeReader, counts: Mapping[str, int], node: Node, level: int, depth: int
) -> Iterator[OutlineNode]:
    yield OutlineNode(
        depth=level,
        path=node.path,
        title=node.title,
        node_type=node.node_type,
        leaves=_leaves(counts, node.path, node.node_type),
        has_children=bool(node.children),
    )
    if level >= depth:
        return
    for child in node.offered:
        path = child_path(_folder(node.path), child)
        if child.node_type == "document":
            yield OutlineNode(
                depth=level + 1,
                path=path,
                title=child.title,
                node_type="document",
                leaves=1,
                has_children=False,
            )
        else:
            yield from _outlined(reader, counts, _child(reader, path), level + 1, depth)


def _child(reader: TreeReader, path: str) -> Node:
    """A node that a link leads to.

    Raises:
        Damaged, NodeNotFound: it leads to none.
    """
    return reader.fetch(path)


def _parents(reader: TreeReader, path: str) -> tuple[tuple[str, str], ...]:
    *above, _ = path.split("/")
    if path.endswith("SKILL.md") and above:
        above = above[:-1]
    elif not above:
        return ()
    folders = ["".join(f"{name}/" for name in above[:depth]) for depth in range(len(above) + 1)]
    nodes = (reader.node(f"{folder}SKILL.md") for folder in folders)
    return tuple((node.path, node.title) for node in nodes if node is not None)


def _reader(workspace: Workspace, corpus: str, version: int) -> TreeReader:
    return TreeReader(store=workspace.versions, corpus=corpus, version=version)


def _counted(workspace: Workspace, corpus: str, version: int) -> Mapping[str, int]:
    counts: dict[str, int] = {"": 0}
    for row in workspace.versions.chunk_rows(corpus, version):
        folder = ""
        counts[""] += 1
        for name in row.path.split("/")[:-1]:
            folder += f"{name}/"
            counts[folder] = counts.get(folder, 0) + 1
    return counts


def _leaves(counts: Mapping[str, int], path: str, node_type: NodeType) -> int:
    return 1 if node_type == "document" else counts.get(_folder(path), 0)


def _folder(path: str) -> str:
    return path[: path.rfind("/") + 1]


def _hint(summary: str) -> str:
    line = " ".join(summary.split())
    return line if len(line) <= _HINT_CHARACTERS else line[: _HINT_CHARACTERS - 1] + "…"


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _has_all(text: str, wanted: tuple[str, ...]) -> bool:
    folded = _folded(text)
    return all(word in folded for word in wanted)


def _excerpt(text: str, word: str) -> str:
    """The text around the first place of `word`, in one line. Folding may shift the place a little."""
    at = max(_folded(text).find(word), 0)
    first, last = max(0, at - _EXCERPT_AROUND), at + len(word) + _EXCERPT_AROUND
    line = " ".join(text[first:last].split())
    return ("…" if first else "") + line + ("…" if last < len(text) else "")
