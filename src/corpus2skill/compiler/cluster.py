"""Step 4: groups over the chunks, the bones of the tree.

A first compile groups everything. A later one keeps the groups there are: unchanged members stay, changed
and new chunks go to the best group, only groups over their limit are split, and only groups whose members
changed are described again. Whatever the engine answers, the leaves are exactly the chunks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from corpus2skill.compiler.cluster_afresh import Clustering
from corpus2skill.compiler.cluster_onward import Predecessor, go_on
from corpus2skill.domain.chunk import SummarizedChunk
from corpus2skill.domain.grouping import Repairs
from corpus2skill.domain.language import Language
from corpus2skill.domain.tree import Tree, TreeLimits
from corpus2skill.errors import UnusableSettings
from corpus2skill.ports.grouper import Grouper

__all__ = ["Clustered", "Predecessor", "check_capacity", "cluster_chunks", "twin_families"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustered:
    tree: Tree
    twins: tuple[tuple[str, ...], ...]
    repairs: Repairs


async def cluster_chunks(
    chunks: Sequence[SummarizedChunk],
    grouper: Grouper,
    *,
    title: str,
    limits: TreeLimits,
    language: Language,
    predecessor: Predecessor | None,
) -> Clustered:
    """Return a tree whose leaves are exactly `chunks`, within `limits`.

    Raises:
        ModelError: a grouping call failed for good.
    """
    twins = twin_families(chunks)
    work = Clustering(chunks, grouper, title=title, limits=limits, language=language, twins=twins)
    tree = await (work.afresh() if predecessor is None else go_on(work, predecessor))
    return Clustered(tree=tree, twins=twins, repairs=work.repairs)


def check_capacity(chunks: int, limits: TreeLimits) -> None:
    """Refuse, before anything is paid, limits under which so many chunks cannot be a tree.

    Raises:
        UnusableSettings: naming the smallest fetch limit that would do with the same widths.
    """
    narrowest = min(limits.max_children, limits.max_leaves)
    if narrowest < 2 or limits.max_group_depth < 1:
        raise UnusableSettings(
            "limits_too_small",
            max_children=limits.max_children,
            max_leaves=limits.max_leaves,
            fetch_limit=limits.fetch_limit,
        )
    if chunks > limits.capacity:
        enough = limits
        while enough.capacity < chunks:
            enough = replace(enough, fetch_limit=enough.fetch_limit + 1)
        raise UnusableSettings(
            "tree_too_small", chunks=chunks, capacity=limits.capacity, fetch_limit=enough.fetch_limit
        )


def twin_families(chunks: Sequence[SummarizedChunk]) -> tuple[tuple[str, ...], ...]:
    """Sets of chunks whose texts are equal after folding, in chunk order."""
    families: dict[bytes, list[str]] = {}
    for item in chunks:
        # The digest stands for the text: folded copies of all texts would take as much as the corpus again.
        folded = item.chunk.folded.encode("utf-8", "surrogatepass")
        families.setdefault(hashlib.sha256(folded).digest(), []).append(item.chunk.chunk_id)
    return tuple(tuple(family) for family in families.values() if len(family) > 1)
