"""The trail as it grows: which node, why, and how long since the one before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from corpus2skill.domain.ids import ROOT_PATH
from corpus2skill.domain.language import Language
from corpus2skill.domain.message import Usage
from corpus2skill.domain.run import Source
from corpus2skill.domain.trail import Visit
from corpus2skill.domain.tree import Node
from corpus2skill.errors import NodeNotFound
from corpus2skill.messages import message
from corpus2skill.ports.clock import Clock

_PLACE_SEPARATOR = " › "
"""Between the headings of a place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a node was chosen: the model's words before the call."""

    text: str
    is_written: bool
    """False where the model wrote none and `text` says so."""
    is_shared: bool = False
    """True for the later calls of one reply."""
    is_prefetched: bool = False


def start_reason(language: Language) -> Reason:
    """Return the fixed reason of the prefetched root."""
    return Reason(text=message(language, "reason.start"), is_written=True, is_prefetched=True)


def reason_of(words: str, language: Language, *, is_shared: bool) -> Reason:
    """Return the reason that `words` are. None is made up where there are none."""
    text = words or message(language, "reason.none")
    return Reason(text=text, is_written=bool(words), is_shared=is_shared)


@dataclass(slots=True, kw_only=True)
class Trail:
    """Visits so far, and the time and tokens that the next one will carry."""

    clock: Clock
    last: float
    """When the visit before was made, or the run began: seconds of `Clock.monotonic`."""
    visits: list[Visit] = field(default_factory=list["Visit"])
    evidence: dict[str, Source] = field(default_factory=dict[str, Source])
    """Leaves read, by doc id, in the order of their first reading."""
    texts: dict[str, str] = field(default_factory=dict[str, str])
    """Original texts of the leaves read, by doc id."""
    model_ms: int = 0
    """Of the rounds since the visit before."""
    usage: Usage = Usage()
    """Of the rounds since the visit before."""

    def add_round(self, began: float, usage: Usage) -> None:
        self.model_ms += milliseconds(self.clock.monotonic() - began)
        self.usage += usage

    def add_node(self, node: Node, reason: Reason, began: float, *, is_cut: bool = False) -> Visit:
        """Note that `node` was read, or its first part; reading it `began` then."""
        if node.doc_id is not None:
            self.evidence.setdefault(node.doc_id, _source(node.doc_id, node))
            self.texts.setdefault(node.doc_id, node.body or "")
        return self._add(
            node=_name(node),
            path=node.path,
            title=node.title,
            found=node,
            reason=reason,
            began=began,
            is_cut=is_cut,
        )

    def add_too_large(self, node: Node, reason: Reason, began: float) -> Visit:
        """Note that `node` was asked for and that the model was shown none of it: it is no evidence."""
        return self._add(
            node=_name(node),
            path=node.path,
            title=node.title,
            found=node,
            reason=reason,
            began=began,
            is_shown=False,
        )

    def add_wrong_path(self, error: NodeNotFound, reason: Reason, began: float) -> Visit:
        """Note that there was no node where one was asked for."""
        return self._add(node=error.path, path=error.path, title="", found=None, reason=reason, began=began)

    @property
    def titles(self) -> tuple[str, ...]:
        """Titles of the nodes read, the root's left out."""
        return tuple(
            visit.title for visit in self.visits if visit.status == "found" and visit.path != ROOT_PATH
        )

    @property
    def names(self) -> Iterator[str]:
        """What the model was shown as names: of nodes read and offered, of documents and their places."""
        for visit in self.visits:
            yield visit.title
            yield from (child.title for child in visit.offered)
        for source in self.evidence.values():
            yield from (source.source, source.place, *source.place.split(_PLACE_SEPARATOR))

    def _add(
        self,
        *,
        node: str,
        path: str,
        title: str,
        found: Node | None,
        reason: Reason,
        began: float,
        is_cut: bool = False,
        is_shown: bool = True,
    ) -> Visit:
        now = self.clock.monotonic()
        visit = Visit(
            number=len(self.visits) + 1,
            node=node,
            path=path,
            title=title,
            node_type=found.node_type if found else None,
            status="not_found" if found is None else "found" if is_shown else "too_large",
            reason=reason.text,
            has_reason=reason.is_written,
            is_shared_reason=reason.is_shared,
            is_prefetched=reason.is_prefetched,
            offered=found.offered if found else (),
            doc_id=found.doc_id if found else None,
            model_ms=self.model_ms,
            fetch_ms=milliseconds(now - began),
            elapsed_ms=milliseconds(now - self.last),
            usage=self.usage,
            is_cut=is_cut,
            source=found.source if found else None,
            place=found.place if found else None,
        )
        self.visits.append(visit)
        self.last, self.model_ms, self.usage = now, 0, Usage()
        return visit


def milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def _name(node: Node) -> str:
    if node.path == ROOT_PATH:
        return "root"
    return node.doc_id or node.path.split("/")[-2]


def _source(doc_id: str, node: Node) -> Source:
    return Source(
        doc_id=doc_id,
        title=node.title,
        source=node.source or "",
        place=node.place or "",
        path=node.path,
    )
