"""Documents that were handed in to the server, and what it found in them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

from corpus2skill.domain.corpus import SourceReport
from corpus2skill.domain.language import Language
from corpus2skill.domain.source_names import holding

UploadState = Literal["received", "accepted", "refused", "duplicate", "removed", "purging", "purged"]
"""`received`: its bytes are here, nobody has looked into them yet. `accepted`: something in it can be compiled.
`refused`: nothing can. `duplicate`: another document of the corpus has the same bytes. `removed`: taken out of
the next version. `purging`: also to go from all that was ever made of it, as soon as the active version is
without it; `purged`: it is gone."""
UPLOAD_STATES: tuple[UploadState, ...] = get_args(UploadState)
PRESENT: tuple[UploadState, ...] = ("received", "accepted", "refused", "duplicate")
"""States of documents that the next version is made from, or that are refused when it is made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What looking into an upload found."""

    report: SourceReport
    """Of the document itself."""
    pages: int = 0
    """Pages, sheets or slides."""
    members: tuple[SourceReport, ...] = ()
    """The documents within an archive or a mail; each is a source of its own."""

    @property
    def is_usable(self) -> bool:
        """True where it, or a document within it, has a text that can be compiled."""
        return any(report.verdict == "accepted" for report in (self.report, *self.members))


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A document of a corpus as it was last handed in under its name."""

    document: str
    """Its id, `document_...`; it stays when other bytes come under the same name."""
    tenant: str
    corpus: str
    name: str
    """Name of the source in the corpus, unique in it."""
    revision: int
    """From 1; one higher whenever other bytes came."""
    bytes: int
    sha256: str | None
    """None where the bytes were not kept: there were too many."""
    state: UploadState
    created_at: str
    """RFC 3339 in UTC with milliseconds; so the next two."""
    received_at: str
    """When these bytes came."""
    received_by: str
    changed_at: str
    """When `state` was last set."""
    tries: int = 0
    """How often somebody began to look into these bytes and has not said what is in them."""
    judgement: Judgement | None = None
    """None in state `received`."""

    @property
    def is_present(self) -> bool:
        return self.state in PRESENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A file that has just come, whole and on the disk, or refused for its size."""

    name: str
    bytes: int
    sha256: str | None
    refusal: SourceReport | None = None
    """Set where the bytes were not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadChange:
    """What a change of some uploads came to."""

    uploads: tuple[Upload, ...]
    """Those that were meant, in the order in which they were named, as they are now."""
    others: tuple[Upload, ...] = ()
    """Those whose state changed because of it: they are, or are no longer, duplicates."""
    is_new: tuple[bool, ...] = ()
    """Beside `uploads`: False where these bytes were here under this name before."""
    dropped: tuple[str, ...] = ()
    """SHA-256 of bytes that a document no longer stands for; another document may have the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadFilter:
    """Which uploads of a corpus."""

    states: Collection[UploadState] = PRESENT
    name_part: str | None = None
    """A part of the name, whatever its width and case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusSettings:
    """What the owner of a corpus sets; None leaves it to the workspace's settings."""

    title: str | None = None
    language: Language | None = None
    """None: what most of the texts are in."""
    chunk_limit: int | None = None
    chunk_minimum: int | None = None
    tests_required: bool = False
    """A version is switched to only after its test questions went well."""
    tests_percent: int = 100
    """So many of a hundred of them must."""
    hand_off: str | None = None
    """Where an asker is sent whom no document answers: a mail address or a page's address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusEntry:
    """A corpus that was made, or whose settings were changed, through the server."""

    tenant: str
    corpus: str
    created_at: str
    created_by: str
    settings: CorpusSettings


def compile_order(name: str) -> tuple[int, tuple[str, ...]]:
    """Key that puts names as a compile of a folder of them takes them: of equal documents the first is kept."""
    return holding(name), tuple(name.split("/"))
