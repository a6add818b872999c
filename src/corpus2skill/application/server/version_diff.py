"""What changed between two versions, for people who decide whether to switch."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from corpus2skill.application.server.versions import require_version
from corpus2skill.application.server_wiring import Server
from corpus2skill.compiler.difference import difference
from corpus2skill.compiler.load_version import load_version
from corpus2skill.domain.ids import SUMMARY_FILE
from corpus2skill.domain.tree import Group, Tree
from corpus2skill.domain.version import Difference, VersionContent
from corpus2skill.errors import ThingNotFound
from corpus2skill.navigator.tree_reader import TreeReader

_LINE_CONTEXT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeChange:
    """A branch that is new, is gone, or went elsewhere."""

    path: str
    title: str
    leaves: int
    path_before: str | None = None
    """Of one that went elsewhere."""
    title_before: str | None = None
    """Of one whose title is another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafChange:
    doc_id: str
    path: str
    title: str
    source: str
    path_before: str | None = None
    """Of one that went elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionDifference:
    """Two versions beside each other."""

    plain: Difference
    groups_added: tuple[NodeChange, ...]
    groups_removed: tuple[NodeChange, ...]
    groups_moved: tuple[NodeChange, ...]
    """The same leaves, or most of them, under another path."""
    groups_renamed: tuple[NodeChange, ...]
    """The same path with another title."""
    leaves_added: tuple[LeafChange, ...]
    leaves_removed: tuple[LeafChange, ...]
    leaves_moved: tuple[LeafChange, ...]
    leaves_reworded: tuple[LeafChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WordingChange:
    """How the text of a node changed."""

    path: str
    title_before: str | None
    title: str | None
    lines: tuple[str, ...]
    """A unified diff of the node's text; empty where it is the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """What is compared of one version."""

    groups: Mapping[str, Group | None]
    leaves: Mapping[str, LeafChange]
    members: Mapping[str, frozenset[str]]
    """Leaves below each group, by its path."""


def compare_versions(server: Server, tenant: str, corpus: str, before: int, after: int) -> VersionDifference:
    """Raises: CorpusNotFound, ThingNotFound, Damaged; TooMany, BrokenOff."""
    require_version(server, tenant, corpus, before)
    require_version(server, tenant, corpus, after)
    return server.apart.call("look", tenant, _compared, server, tenant, corpus, before, after)


def compare_wording(
    server: Server, tenant: str, corpus: str, before: int, after: int, path: str
) -> WordingChange:
    """How the text of one node changed; a leaf is found by its doc id, wherever it lies.

    Raises:
        CorpusNotFound.
        ThingNotFound: neither version has such a node. Damaged.
    """
    workspace = require_version(server, tenant, corpus, before)
    require_version(server, tenant, corpus, after)
    texts: list[tuple[str, str] | None] = []
    for version in (before, after):
        reader = TreeReader(store=workspace.versions, corpus=corpus, version=version)
        name = path.rpartition("/")[2].removesuffix(".md")
        node = reader.node(path) or (reader.leaf(name) if name.startswith("doc_") else None)
        texts.append(None if node is None else (node.title, node.content))
    if texts == [None, None]:
        raise ThingNotFound("node", path)
    was, is_ = texts
    return WordingChange(
        path=path,
        title_before=None if was is None else was[0],
        title=None if is_ is None else is_[0],
        lines=_lines(was, is_, (before, after)),
    )


def _compared(server: Server, tenant: str, corpus: str, before: int, after: int) -> VersionDifference:
    versions = server.workspace(tenant).versions
    old = load_version(versions, corpus, before)
    new = load_version(versions, corpus, after)
    plain = difference(old, new, numbers=(before, after))
    was, is_ = _side(old), _side(new)
    moved = _moved(plain, was, is_)
    came = {change.path for change in moved}
    went = {change.path_before for change in moved}
    return VersionDifference(
        plain=plain,
        groups_added=tuple(_node(is_, path) for path in plain.nodes_added if path not in came),
        groups_removed=tuple(_node(was, path) for path in plain.nodes_removed if path not in went),
        groups_moved=tuple(moved),
        groups_renamed=tuple(_renamed(was, is_, plain)),
        leaves_added=tuple(is_.leaves[name] for name in plain.leaves_added),
        leaves_removed=tuple(was.leaves[name] for name in plain.leaves_removed),
        leaves_moved=tuple(
            _with_path_before(is_.leaves[name], was.leaves[name]) for name in plain.leaves_moved
        ),
        leaves_reworded=tuple(is_.leaves[name] for name in plain.leaves_reworded),
    )


def _lines(
    was: tuple[str, str] | None, is_: tuple[str, str] | None, numbers: tuple[int, int]
) -> tuple[str, ...]:
    old, new = ("" if text is None else text[1] for text in (was, is_))
    names = (f"v{number}" for number in numbers)
    found = difflib.unified_diff(old.split("\n"), new.split("\n"), *names, n=_LINE_CONTEXT, lineterm="")
    return tuple(found)


def _side(content: VersionContent) -> _Side:
    paths = content.tree.leaf_paths()
    leaves = {
        item.chunk.doc_id: LeafChange(
            doc_id=item.chunk.doc_id,
            path=paths[item.chunk.chunk_id],
            title=item.summary.title,
            source=item.chunk.source,
        )
        for item in content.chunks
    }
    groups = dict(content.tree.paths())
    return _Side(groups=groups, leaves=leaves, members=_members(content.tree))


def _members(tree: Tree) -> dict[str, frozenset[str]]:
    return {path: frozenset((tree if group is None else group).chunk_ids()) for path, group in tree.paths()}


def _node(side: _Side, path: str) -> NodeChange:
    group = side.groups[path]
    title = "" if group is None else group.title
    return NodeChange(path=path, title=title, leaves=len(side.members[path]))


def _moved(plain: Difference, was: _Side, is_: _Side) -> list[NodeChange]:
    """Groups that are gone, beside new ones that have most of their leaves, and of which they are most."""
    homes: dict[str, list[str]] = {}
    for path in plain.nodes_added:
        for name in is_.members[path]:
            homes.setdefault(name, []).append(path)
    taken, found = set[str](), list[NodeChange]()
    for path in plain.nodes_removed:
        shared: dict[str, int] = {}
        for name in was.members[path]:
            for home in homes.get(name, ()):
                shared[home] = shared.get(home, 0) + 1
        fitting = sorted(
            (home for home, count in shared.items() if _is_same_group(was, path, is_, home, count)),
            key=lambda home: (-shared[home], len(is_.members[home]), home),
        )
        home = next((home for home in fitting if home not in taken), None)
        if home is not None:
            taken.add(home)
            found.append(_moved_group(was, path, is_, home))
    return found


def _is_same_group(was: _Side, path: str, is_: _Side, home: str, shared: int) -> bool:
    return shared * 2 > len(was.members[path]) and shared * 2 > len(is_.members[home])


def _moved_group(was: _Side, path: str, is_: _Side, home: str) -> NodeChange:
    old, new = _node(was, path), _node(is_, home)
    return NodeChange(
        path=home,
        title=new.title,
        leaves=new.leaves,
        path_before=path,
        title_before=None if old.title == new.title else old.title,
    )


def _renamed(was: _Side, is_: _Side, plain: Difference) -> list[NodeChange]:
    """Of the reworded nodes those with another title."""
    found = list[NodeChange]()
    for path in plain.nodes_reworded:
        old, new = was.groups[path], is_.groups[path]
        if path != SUMMARY_FILE and old is not None and new is not None and old.title != new.title:
            found.append(
                NodeChange(path=path, title=new.title, leaves=len(is_.members[path]), title_before=old.title)
            )
    return found


def _with_path_before(leaf: LeafChange, before: LeafChange) -> LeafChange:
    return LeafChange(
        doc_id=leaf.doc_id,
        path=leaf.path,
        title=leaf.title,
        source=leaf.source,
        path_before=before.path,
    )
