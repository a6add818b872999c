"""What changed between two versions."""

from __future__ import annotations

from collections.abc import Mapping

from corpus2skill.domain.chunk import SummarizedChunk
from corpus2skill.domain.tree import Group, Tree
from corpus2skill.domain.version import Difference, VersionContent


def difference(
    before: VersionContent | None, after: VersionContent, *, numbers: tuple[int | None, int]
) -> Difference:
    """Compare two contents; with no `before`, everything is added. `numbers` are the versions' numbers."""
    old_sources = {} if before is None else {text.source: text.sha256 for text in before.texts}
    new_sources = {text.source: text.sha256 for text in after.texts}
    old_leaves = {} if before is None else _leaves(before)
    new_leaves = _leaves(after)
    old_nodes = {} if before is None else _nodes(before.tree)
    new_nodes = _nodes(after.tree)
    renamed = _renamed(old_sources, new_sources)
    both = old_leaves.keys() & new_leaves.keys()
    return Difference(
        before=numbers[0],
        after=numbers[1],
        sources_added=_sorted(new_sources.keys() - old_sources.keys() - set(renamed.values())),
        sources_removed=_sorted(old_sources.keys() - new_sources.keys() - renamed.keys()),
        sources_changed=_changed(old_sources, new_sources),
        leaves_added=_sorted_ids(new_leaves.keys() - old_leaves.keys()),
        leaves_removed=_sorted_ids(old_leaves.keys() - new_leaves.keys()),
        leaves_moved=_sorted_ids({name for name in both if old_leaves[name][0] != new_leaves[name][0]}),
        leaves_reworded=_sorted_ids({name for name in both if old_leaves[name][1] != new_leaves[name][1]}),
        nodes_added=_sorted(new_nodes.keys() - old_nodes.keys()),
        nodes_removed=_sorted(old_nodes.keys() - new_nodes.keys()),
        nodes_reworded=_changed(old_nodes, new_nodes),
        sources_renamed=tuple(sorted(renamed.items())),
    )


def _renamed(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Old to new name of sources that are there with the same bytes. Of equal ones, the first to the first."""
    gone, come = sorted(before.keys() - after.keys()), sorted(after.keys() - before.keys())
    names: dict[str, list[str]] = {}
    for name in come:
        names.setdefault(after[name], []).append(name)
    return {name: names[before[name]].pop(0) for name in gone if names.get(before[name])}


def _leaves(content: VersionContent) -> dict[str, tuple[str, tuple[str, str]]]:
    """Doc id to its path and its wording."""
    paths = content.tree.leaf_paths()
    return {item.chunk.doc_id: (paths[item.chunk.chunk_id], _wording(item)) for item in content.chunks}


def _wording(item: SummarizedChunk) -> tuple[str, str]:
    return item.summary.title, item.summary.summary


def _nodes(tree: Tree) -> dict[str, tuple[str, str]]:
    """Path to title and summary of every summary node."""
    return {path: _said(tree, group) for path, group in tree.paths()}


def _said(tree: Tree, group: Group | None) -> tuple[str, str]:
    return (tree.title, tree.summary) if group is None else (group.title, group.summary)


def _changed(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[str, ...]:
    return _sorted({name for name in before.keys() & after.keys() if before[name] != after[name]})


def _sorted(names: set[str]) -> tuple[str, ...]:
    return tuple(sorted(names))


def _sorted_ids(names: set[str]) -> tuple[str, ...]:
    """Doc ids by their number."""
    return tuple(sorted(names, key=lambda name: (len(name), name)))
