"""The trail: one visit for each fetch on the way down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from corpus2skill.domain.message import Usage
from corpus2skill.domain.tree import Child, NodeType

VisitStatus = Literal["found", "not_found", "too_large"]
"""`too_large`: the node is there, and what was left of the model's window had no room for any of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One fetched node: which, why, how long (the article's four items and what an audit asks beside)."""

    number: int
    """From 1 in its run."""
    node: str
    """Slug or doc id, `root` for the root; for a wrong path the path as asked."""
    path: str
    title: str
    node_type: NodeType | None
    status: VisitStatus
    reason: str
    """The model's words before the call; the fixed sentence where it wrote none."""
    has_reason: bool
    is_shared_reason: bool
    """True for the later calls of one reply: they share its words."""
    is_prefetched: bool
    offered: tuple[Child, ...]
    doc_id: str | None
    model_ms: int
    fetch_ms: int
    elapsed_ms: int
    """Since the visit before, as in the article."""
    usage: Usage = Usage()
    is_cut: bool = False
    """Only the first part was shown to the model: the rest did not fit into its window."""
    source: str | None = None
    """A leaf's source document."""
    place: str | None = None
    """Where in it the leaf's text stands."""

    @property
    def position(self) -> str:
        """The article's 位置: the folder of the node, empty at the root."""
        if self.status == "not_found":
            return self.path
        return self.path.rpartition("/")[0]
