"""The lines of a version's JSON files, made from its content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

from corpus2skill.adapters.store.encoding import (
    canonical,
    decode,
    from_plain,
    pretty,
    sha256,
    to_plain,
)
from corpus2skill.adapters.store.workspace import check_format
from corpus2skill.domain.chunk import SummarizedChunk
from corpus2skill.domain.corpus import Notice, Refusal, SourceReport
from corpus2skill.domain.version import FORMAT, ChunkRow, Manifest, VersionContent
from corpus2skill.ports.store import VersionStamp

MANIFEST = "manifest.json"
FILES = "files.jsonl"
SOURCES = "sources.jsonl"
TEXTS = "texts.jsonl"
CHUNKS = "chunks.jsonl"
CHUNK_INDEX = "chunks.idx"

_REFUSED = frozenset((*get_args(Refusal), "kept"))
_KEPT_WARNINGS = 50
_SEAL = "sha256"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Bytes of a file."""

    offset: int
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLine:
    """A line of `sources.jsonl`. The name stands first, so that a line can be told without decoding it."""

    source: str
    report: SourceReport
    text: Span | None = None
    """Its line of `texts.jsonl`, where the version has a text of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLine:
    """A line of `files.jsonl`."""

    path: str
    bytes: int
    sha256: str


def chunk_rows(content: VersionContent) -> Iterator[ChunkRow]:
    """Yield the rows of `chunks.jsonl`, in the content's order."""
    paths = content.tree.leaf_paths()
    twins = {member: family for family in content.twins for member in family}
    for chunk in content.chunks:
        name = chunk.chunk.chunk_id
        equal = tuple(other for other in twins.get(name, ()) if other != name)
        yield _chunk_row(chunk, paths[name], equal)


def _chunk_row(summarized: SummarizedChunk, path: str, twins: tuple[str, ...]) -> ChunkRow:
    chunk, summary = summarized.chunk, summarized.summary
    return ChunkRow(
        chunk_id=chunk.chunk_id,
        path=path,
        title=summary.title,
        summary=summary.summary,
        source=chunk.source,
        start=chunk.start,
        end=chunk.end,
        headings=chunk.place.headings,
        pages=chunk.place.pages,
        page_kind=chunk.place.page_kind,
        fingerprint=chunk.fingerprint,
        document_title=chunk.document_title,
        table_header=chunk.table_header,
        is_choices_only=chunk.is_choices_only,
        is_stand_in=summary.is_stand_in,
        twins=twins,
    )


def manifest_of(content: VersionContent, stamp: VersionStamp, files_sha256: str) -> Manifest:
    """Return the manifest with its totals counted."""
    return Manifest(
        format=FORMAT,
        product=stamp.product,
        corpus=content.corpus,
        version=stamp.version,
        predecessor=stamp.predecessor,
        title=stamp.title,
        language=content.language,
        sizes=content.sizes,
        limits=content.limits,
        engines=content.engines,
        next_chunk_number=content.next_chunk_number,
        sources=len(content.texts),
        chunks=len(content.chunks),
        nodes=sum(1 for _ in content.tree.paths()),
        depth=content.tree.depth(),
        stand_ins=sum(chunk.summary.is_stand_in for chunk in content.chunks),
        refused=sum(report.verdict in _REFUSED for report in content.reports),
        repairs=content.repairs,
        warnings=_warnings(content.reports),
        created_at=stamp.created_at,
        spending=stamp.spending,
        files_sha256=files_sha256,
    )


def _warnings(reports: tuple[SourceReport, ...]) -> tuple[Notice, ...]:
    """Return the first different notices; all of them, with their sources, stand in `sources.jsonl`."""
    notices = dict.fromkeys(notice for report in reports for notice in report.notices)
    return tuple(notices)[:_KEPT_WARNINGS]


def seal(manifest: Manifest) -> bytes:
    """Return the text of `manifest.json`: the manifest and the hash of itself."""
    plain = to_plain(manifest)
    return pretty({**plain, _SEAL: sha256(canonical(plain))})


def unseal(data: bytes) -> Manifest:
    """Return the manifest in `data`.

    Raises:
        ValueError: it is none, or was changed after it was written.
        WorkspaceUnusable: a newer release wrote it.
    """
    plain = decode(data, dict[str, object])
    came = plain.get("format")
    if isinstance(came, int):
        check_format(came, MANIFEST)
    if plain.pop(_SEAL, None) != sha256(canonical(plain)):
        raise ValueError("the manifest's own hash does not fit")
    return from_plain(plain, Manifest)
