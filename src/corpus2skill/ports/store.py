"""Where versions and records are kept."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, Protocol

from corpus2skill.domain.chunk import ChunkSizes
from corpus2skill.domain.corpus import SourceReport, SourceText
from corpus2skill.domain.feedback import Feedback
from corpus2skill.domain.language import Language
from corpus2skill.domain.money import Spending
from corpus2skill.domain.run import Outcome, RunIds, RunRecord
from corpus2skill.domain.session import Channel, Door, Session
from corpus2skill.domain.trail import Visit
from corpus2skill.domain.tree import TreeLimits
from corpus2skill.domain.usage import UsageLine
from corpus2skill.domain.version import ChunkRow, Manifest, VersionContent

Seen = int | None | Literal["any"]
"""The active version as it was when somebody decided to switch; `any`: they did not look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something wrong with a written version. `code` is a key of `messages/` under `fault.`."""

    code: str
    file: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionStamp:
    """What a version gets when it is written, beside its content."""

    version: int
    predecessor: int | None
    created_at: str
    product: str
    title: str
    spending: tuple[Spending, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusConfig:
    """What a corpus remembers between compiles."""

    paths: tuple[str, ...] = ()
    """Absolute paths of the last `compile PATH...`."""
    title: str | None = None
    language: Language | None = None
    """None: found anew by each compile."""
    sizes: ChunkSizes | None = None
    """None, here and below: the workspace's settings."""
    limits: TreeLimits | None = None
    excluded: tuple[str, ...] = ()
    """Sources that were taken out: they stay out, with all beneath them, even while their files are there."""
    approved_calls: int = 0
    """Paid calls that the largest compile so far was confirmed for: as many again are not asked about."""


class VersionStore(Protocol):
    """Immutable versions of corpora and the one pointer to the active one."""

    def corpora(self) -> tuple[str, ...]:
        """Names of all corpora, sorted."""
        ...

    def config(self, corpus: str) -> CorpusConfig:
        """What the corpus remembers; an empty one for a new corpus."""
        ...

    def save_config(self, corpus: str, config: CorpusConfig) -> None: ...

    def versions(self, corpus: str) -> tuple[int, ...]:
        """Complete versions, ascending. What a killed compile left half written is not among them."""
        ...

    def next_version(self, corpus: str) -> int:
        """A number above every version that ever was complete here, removed ones counted."""
        ...

    def next_chunk_number(self, corpus: str) -> int:
        """A number above every chunk's of every version that ever was complete here, removed ones counted."""
        ...

    def active(self, corpus: str) -> int | None:
        """The active version's number, None for a corpus that never had one.

        Raises:
            Damaged: the pointer cannot be read.
        """
        ...

    def exclusive(self, corpus: str) -> AbstractContextManager[None]:
        """Hold the corpus for one compile; freed however the holder dies. Clears what a killed one left.

        Raises:
            Busy: another process or thread holds it.
        """
        ...

    def write(
        self, content: VersionContent, stamp: VersionStamp, files: Iterable[tuple[str, bytes]]
    ) -> Manifest:
        """Write a whole version beside the others; it appears at once, complete and synced, or not at all.

        `files` are `(path, content)` below the version: `tree/<corpus>/...` and `lexical/...`. Manifest,
        hashes, sources, chunks and texts are written from `content`.

        Raises:
            Busy: there is a version of this number already; it stays as it is.
            WorkspaceUnusable: the disk is full or read-only.
        """
        ...

    def manifest(self, corpus: str, version: int) -> Manifest:
        """Raises: VersionNotFound, Damaged, WorkspaceUnusable (a newer release wrote it)."""
        ...

    def node_text(self, corpus: str, version: int, path: str) -> str | None:
        """Return a node file's text, None where there is no such file. `path` must be canonical.

        Reads that one file and nothing else.

        Raises:
            Damaged: the file is there and cannot be read as text.
            VersionNotFound: the version is gone.
        """
        ...

    def chunk_row(self, corpus: str, version: int, chunk_id: str) -> ChunkRow | None:
        """Return what is known of one chunk; cost does not grow with the tree."""
        ...

    def chunk_rows(self, corpus: str, version: int) -> Iterator[ChunkRow]: ...

    def source_reports(self, corpus: str, version: int) -> tuple[SourceReport, ...]: ...

    def source_texts(self, corpus: str, version: int) -> Iterator[SourceText]: ...

    def source_text(self, corpus: str, version: int, source: str) -> SourceText | None: ...

    def file_faults(self, corpus: str, version: int) -> Iterator[Fault]:
        """Yield what differs from the hashes: changed, missing, unknown files."""
        ...

    def activate(self, corpus: str, version: int, *, seen: Seen = "any") -> int | None:
        """Move the pointer in one step and return what it pointed to; readers see the old or the new version.

        Raises:
            VersionNotFound: there is no such complete version.
            Outrun: the active version is not the one that was `seen`.
        """
        ...

    def previous(self, corpus: str) -> int | None:
        """The version that was active before the present one and still exists: where `rollback` goes."""
        ...

    def rollback(self, corpus: str, *, seen: Seen = "any") -> int:
        """Activate `previous` and return it; repeated, it goes further back.

        Raises:
            VersionNotFound: there is none.
            Outrun: the active version is not the one that was `seen`.
        """
        ...

    def remove(self, corpus: str, version: int) -> None:
        """Remove a version; its number is not given again.

        Raises:
            InvalidInput: it is the active one.
            VersionNotFound: there is no such version.
        """
        ...

    def size(self, corpus: str, version: int) -> int:
        """Bytes on disk."""
        ...

    def forget(self, corpus: str) -> None:
        """Remove a corpus with all its versions and what it remembers; nothing where there is none.

        The numbers of its versions and chunks are not given again.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFilter:
    """Which records; None means any."""

    corpus: str | None = None
    session: str | None = None
    outcome: Outcome | None = None
    version: int | None = None
    user: str | None = None
    channel: Channel | None = None
    door: Door | None = None
    model: str | None = None
    since: str | None = None
    """Begun then or later: RFC 3339 in UTC with milliseconds, as in records."""
    until: str | None = None
    """Begun before then."""
    is_doubtful: bool | None = None
    is_helpful: bool | None = None
    """Judged so; an answer that nobody judged is neither."""
    has_comment: bool | None = None
    visited: str | None = None
    """The path of a node: runs that came to it, or to one below it."""
    cited: str | None = None
    """A doc id: runs whose answer cites that leaf."""
    before: str | None = None
    """A run: only records that were appended before its own, deleted or not. Where a list goes on."""
    limit: int | None = None

    def page(self, before: str | None, limit: int | None) -> RecordFilter:
        """The same records, as far as a list goes on `before` that one and has no more than `limit`."""
        return replace(self, before=before, limit=limit)

    def takes(self, record: RunRecord) -> bool:
        """True where `record` is one of those meant.

        `before`, `limit` and what people said of it are no matter of the record alone.
        """
        wanted_and_held = (
            (self.corpus, record.ids.corpus),
            (self.session, record.ids.session),
            (self.outcome, record.outcome),
            (self.version, record.ids.version),
            (self.user, record.user),
            (self.channel, record.channel),
            (self.door, record.door),
            (self.model, record.model),
            (self.is_doubtful, record.is_doubtful),
        )
        is_in_time = (self.since or "") <= record.started_at and (
            self.until is None or record.started_at < self.until
        )
        return (
            is_in_time
            and all(wanted is None or wanted == held for wanted, held in wanted_and_held)
            and (self.visited is None or _has_visited(record, self.visited))
            and (self.cited is None or any(source.doc_id == self.cited for source in record.citations))
        )

    @property
    def is_of_headers(self) -> bool:
        """True where what is kept beside a record decides, so that none need be read that is not meant."""
        return self.is_doubtful is None and self.visited is None and self.cited is None


def _has_visited(record: RunRecord, path: str) -> bool:
    folder = path.removesuffix("SKILL.md")
    return any(
        visit.path == path or (folder != path and visit.path.startswith(folder)) for visit in record.visits
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainVerdict:
    """What checking a tenant's chain of records found."""

    records: int
    head: str
    """Hash of the newest record; a cut tail shows against a head that was kept elsewhere."""
    faults: tuple[Fault, ...]
    kept_head_at: int | None = None
    """Number of the record that a kept head is the hash of; 0 for that of an empty chain. None where no head
    was given, or it stands nowhere: then there is a fault, too."""


class RecordStore(Protocol):
    """Run records, one chain per tenant, appended when a run closes."""

    def open_run(self, ids: RunIds, opening: RunRecord, lease_seconds: float) -> int:
        """Note that a run began and return the number of its turn.

        That is the turn of `ids`, or the next free one where another run of the session has taken it
        meanwhile. `opening` is the record as it stands now; should its owner die, it is closed from this and
        the visits so far.
        """
        ...

    def add_visit(self, ids: RunIds, visit: Visit) -> None:
        """Write a visit as it happens; of a run that is not open any more there is nothing to add to."""
        ...

    def close_run(self, record: RunRecord) -> None:
        """Append the finished record to the chain and drop the open run, in one transaction.

        A run that has a record already, because it was found dead, keeps that one.
        """
        ...

    def close_dead(self) -> int:
        """Close runs whose lease has lapsed as `stopped`, with the visits so far; return how many.

        The asker's language and channel are the opening's: its answer stays the record's.
        """
        ...

    def close_abandoned(self, tenant: str, run: str) -> bool:
        """Close a run whose owner is known to be dead, as `close_dead` does, whatever its lease says.

        False where it is not open.
        """
        ...

    def session(self, tenant: str, session: str, corpus: str) -> Session:
        """The turns of a session, oldest first, from closed records; an empty session for a new id.

        Turns that ended without an answer (failed, refused, cancelled, ...) only count for `last_turn`, and
        so do those that were asked of another corpus: what one corpus said is not told to another's askers.
        An answer that was spoken over counts as far as it was heard (`domain.turns`).
        """
        ...

    def record(self, tenant: str, run: str) -> RunRecord:
        """Raises: RecordNotFound. A unique beginning of a run id is enough."""
        ...

    def records(self, tenant: str, which: RecordFilter) -> Iterator[RunRecord]:
        """Newest first."""
        ...

    def under_way(self, tenant: str, which: RecordFilter) -> int:
        """How many of the runs that are meant have not been closed: nothing of them can be deleted yet."""
        ...

    def spent(self, tenant: str, *, session: str | None = None, since: datetime | None = None) -> float:
        """US dollars that recorded runs came to: of one session, of those begun since then, or all.

        Deleted records count: deleting what was said gives no money back. Unknown money counts as none.
        """
        ...

    def usage(self, tenant: str, since: str, until: str) -> tuple[UsageLine, ...]:
        """What the runs came to that were begun from the day `since` on and before the day `until`, in UTC.

        Deleted records count. Each run is one call.
        """
        ...

    def tombstone(self, tenant: str, runs: Collection[str]) -> None:
        """Replace what these runs' records say by a dated tombstone; the chain still verifies.

        What was said of the answers goes with them.

        Nothing of it can be read from the database's files afterwards. Unknown runs, and those that are
        tombstones already, are passed over.
        """
        ...

    def put_feedback(self, tenant: str, run: str, feedback: Feedback) -> None:
        """Keep what somebody says of an answer, in the place of what was said before.

        Raises:
            RecordNotFound: no kept record is of that run. Its whole id is wanted.
        """
        ...

    def feedback(self, tenant: str, runs: Collection[str]) -> Mapping[str, Feedback]:
        """What was said of these runs; those that nobody judged are left out."""
        ...

    def cited_versions(self, tenant: str, corpus: str) -> frozenset[int]:
        """Versions that a kept record ran on, and those that an open run is on."""
        ...

    def verify(self, tenant: str, kept_head: str | None = None) -> ChainVerdict:
        """Recompute the chain from the first record.

        `kept_head` is a head that was kept elsewhere: the chain must have it, and may have grown since.
        """
        ...

    def close(self) -> None:
        """Give back what is held open; the store may be used again."""
        ...
