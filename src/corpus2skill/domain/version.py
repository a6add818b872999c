"""A version: an immutable written tree, and what is known about it beside the tree."""

from __future__ import annotations

from dataclasses import dataclass

from corpus2skill.domain.chunk import ChunkSizes, SummarizedChunk
from corpus2skill.domain.corpus import Notice, SourceReport, SourceText
from corpus2skill.domain.grouping import Repairs
from corpus2skill.domain.language import Language
from corpus2skill.domain.money import Spending
from corpus2skill.domain.tree import Tree, TreeLimits

FORMAT = 1
"""Of workspaces and versions on disk. A higher one was written by a newer release and is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engines:
    """Who summarised and grouped: names with versions, e.g. `offline-1`."""

    summarizer: str
    grouper: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """`manifest.json`: small, whatever the corpus's size."""

    format: int
    product: str
    """Version of the product that wrote it."""
    corpus: str
    version: int
    predecessor: int | None
    title: str
    language: Language
    sizes: ChunkSizes
    limits: TreeLimits
    engines: Engines
    next_chunk_number: int
    sources: int
    chunks: int
    nodes: int
    """Summary nodes, the root counted."""
    depth: int
    """Levels of groups below the root."""
    stand_ins: int
    refused: int
    repairs: Repairs
    warnings: tuple[Notice, ...]
    created_at: str
    """RFC 3339, UTC. This and `spending` alone differ between two writes of the same input."""
    spending: tuple[Spending, ...] = ()
    """What the compile's calls came to, by purpose and model."""
    files_sha256: str
    """SHA-256 of `files.jsonl`, which has that of every other file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionContent:
    """All that a version holds, before it is written and when a successor is made from it."""

    corpus: str
    language: Language
    sizes: ChunkSizes
    limits: TreeLimits
    engines: Engines
    tree: Tree
    chunks: tuple[SummarizedChunk, ...]
    """In the order of the sources and of their text."""
    twins: tuple[tuple[str, ...], ...]
    """Sets of chunk ids whose texts are equal after folding."""
    texts: tuple[SourceText, ...]
    reports: tuple[SourceReport, ...]
    next_chunk_number: int
    repairs: Repairs = Repairs()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRow:
    """A line of `chunks.jsonl`: enough to open a citation at its place in the original."""

    chunk_id: str
    path: str
    title: str
    summary: str
    source: str
    start: int
    end: int
    headings: tuple[str, ...]
    pages: tuple[str, str] | None
    page_kind: str | None
    fingerprint: str
    document_title: str | None = None
    table_header: str | None = None
    is_choices_only: bool = False
    is_stand_in: bool = False
    twins: tuple[str, ...] = ()
    """The other chunks whose text is equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What changed between two versions, in node paths, doc ids and source names."""

    before: int | None
    after: int
    sources_added: tuple[str, ...]
    sources_removed: tuple[str, ...]
    sources_changed: tuple[str, ...]
    leaves_added: tuple[str, ...]
    leaves_removed: tuple[str, ...]
    leaves_moved: tuple[str, ...]
    leaves_reworded: tuple[str, ...]
    """Same chunk id and text, another title or summary."""
    nodes_added: tuple[str, ...]
    nodes_removed: tuple[str, ...]
    nodes_reworded: tuple[str, ...]
    sources_renamed: tuple[tuple[str, str], ...] = ()
    """Old and new name of sources with the same content; they are neither added nor removed."""

    @property
    def is_empty(self) -> bool:
        return not any(
            (
                self.sources_added,
                self.sources_removed,
                self.sources_changed,
                self.sources_renamed,
                self.leaves_added,
                self.leaves_removed,
                self.leaves_moved,
                self.leaves_reworded,
                self.nodes_added,
                self.nodes_removed,
                self.nodes_reworded,
            )
        )
