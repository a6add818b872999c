"""Versions held in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import get_args

from corpus2skill.domain.corpus import Refusal, SourceReport, SourceText
from corpus2skill.domain.ids import is_corpus_name, is_node_path
from corpus2skill.domain.version import FORMAT, ChunkRow, Manifest, VersionContent
from corpus2skill.errors import Busy, Damaged, InvalidInput, Outrun, VersionNotFound
from corpus2skill.ports.store import CorpusConfig, Fault, Seen, VersionStamp


@dataclass(slots=True, kw_only=True)
class _Version:
    content: VersionContent
    manifest: Manifest
    files: dict[str, bytes]
    hashes: dict[str, str]
    rows: dict[str, ChunkRow]


@dataclass(slots=True)
class _Corpus:
    config: CorpusConfig | None = None
    versions: dict[int, _Version] = field(default_factory=dict)
    history: list[int] = field(default_factory=list)
    """Versions that were active, oldest first; the last is the active one."""
    last_number: int = 0
    next_chunk: int = 1
    is_held: bool = False


class FakeVersionStore:
    """`ports.store.VersionStore` without a disk.

    `files(corpus, version)` may be changed by a test that wants a damaged version; `reads` lists the node
    paths that were read.
    """

    def __init__(self) -> None:
        self._corpora: dict[str, _Corpus] = {}
        self.reads: list[str] = []

    def files(self, corpus: str, version: int) -> dict[str, bytes]:
        return self._version(corpus, version).files

    def add_version(self, corpus: str, version: int, files: dict[str, bytes]) -> None:
        """Add a version like the newest one, but with these files."""
        held = self._corpus(corpus)
        newest = held.versions[max(held.versions)]
        stamp = VersionStamp(
            version=version,
            predecessor=newest.manifest.version,
            created_at=newest.manifest.created_at,
            product=newest.manifest.product,
            title=newest.manifest.title,
        )
        self.write(newest.content, stamp, files.items())

    def corpora(self) -> tuple[str, ...]:
        return tuple(sorted(name for name, held in self._corpora.items() if held.config or held.versions))

    def config(self, corpus: str) -> CorpusConfig:
        return self._corpus(corpus).config or CorpusConfig()

    def save_config(self, corpus: str, config: CorpusConfig) -> None:
        self._corpus(corpus).config = config

    def versions(self, corpus: str) -> tuple[int, ...]:
        return tuple(sorted(self._corpus(corpus).versions))

    def next_version(self, corpus: str) -> int:
        return self._corpus(corpus).last_number + 1

    def next_chunk_number(self, corpus: str) -> int:
        return self._corpus(corpus).next_chunk

    def active(self, corpus: str) -> int | None:
        history = self._corpus(corpus).history
        return history[-1] if history else None

    @contextmanager
    def exclusive(self, corpus: str) -> Generator[None]:
        held = self._corpus(corpus)
        if held.is_held:
            raise Busy("busy", corpus=corpus)
        held.is_held = True
        try:
            yield
        finally:
            held.is_held = False

    def write(
        self, content: VersionContent, stamp: VersionStamp, files: Iterable[tuple[str, bytes]]
    ) -> Manifest:
        held = self._corpus(content.corpus)
        written = dict(files)
        if stamp.version in held.versions:
            raise Busy("version_exists", corpus=content.corpus, version=stamp.version)
        hashes = {path: _sha256(data) for path, data in written.items()}
        manifest = _manifest(content, stamp, hashes)
        held.versions[stamp.version] = _Version(
            content=content,
            manifest=manifest,
            files=written,
            hashes=hashes,
            rows={row.chunk_id: row for row in _rows(content)},
        )
        held.last_number = max(held.last_number, stamp.version)
        held.next_chunk = max(held.next_chunk, content.next_chunk_number)
        return manifest

    def manifest(self, corpus: str, version: int) -> Manifest:
        return self._version(corpus, version).manifest

    def node_text(self, corpus: str, version: int, path: str) -> str | None:
        files = self._version(corpus, version).files
        if not is_node_path(path):
            return None
        self.reads.append(path)
        data = files.get(f"tree/{corpus}/{path}")
        if data is None:
            return None
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Damaged("file_damaged", corpus=corpus, version=version, file=path) from error

    def chunk_row(self, corpus: str, version: int, chunk_id: str) -> ChunkRow | None:
        return self._version(corpus, version).rows.get(chunk_id)

    def chunk_rows(self, corpus: str, version: int) -> Iterator[ChunkRow]:
        return iter(tuple(self._version(corpus, version).rows.values()))

    def source_reports(self, corpus: str, version: int) -> tuple[SourceReport, ...]:
        return self._version(corpus, version).content.reports

    def source_texts(self, corpus: str, version: int) -> Iterator[SourceText]:
        return iter(self._version(corpus, version).content.texts)

    def source_text(self, corpus: str, version: int, source: str) -> SourceText | None:
        texts = self._version(corpus, version).content.texts
        return next((text for text in texts if text.source == source), None)

    def file_faults(self, corpus: str, version: int) -> Iterator[Fault]:
        held = self._version(corpus, version)
        for path, wanted in sorted(held.hashes.items()):
            data = held.files.get(path)
            if data is None:
                yield Fault(code="file_missing", file=path)
            elif _sha256(data) != wanted:
                yield Fault(code="file_changed", file=path)
        for path in sorted(held.files.keys() - held.hashes.keys()):
            yield Fault(code="file_unknown", file=path)

    def activate(self, corpus: str, version: int, *, seen: Seen = "any") -> int | None:
        self._version(corpus, version)
        before = self.active(corpus)
        _require_seen(corpus, before, seen)
        if before != version:
            self._corpus(corpus).history.append(version)
        return before

    def previous(self, corpus: str) -> int | None:
        *earlier, active = self._corpus(corpus).history or [None]
        return next((version for version in reversed(earlier) if version != active), None)

    def rollback(self, corpus: str, *, seen: Seen = "any") -> int:
        _require_seen(corpus, self.active(corpus), seen)
        previous = self.previous(corpus)
        if previous is None:
            raise VersionNotFound("no_previous_version", corpus=corpus)
        history = self._corpus(corpus).history
        while history[-1] != previous:
            history.pop()
        return previous

    def remove(self, corpus: str, version: int) -> None:
        self._version(corpus, version)
        if self.active(corpus) == version:
            raise InvalidInput("version_is_active", corpus=corpus, version=version)
        held = self._corpus(corpus)
        del held.versions[version]
        held.history = [earlier for earlier in held.history if earlier != version]

    def size(self, corpus: str, version: int) -> int:
        return sum(map(len, self._version(corpus, version).files.values()))

    def forget(self, corpus: str) -> None:
        numbers = self.next_version(corpus) - 1, self.next_chunk_number(corpus)
        self._corpora[corpus] = _Corpus(last_number=numbers[0], next_chunk=numbers[1])

    def _corpus(self, corpus: str) -> _Corpus:
        if not is_corpus_name(corpus):
            raise InvalidInput("invalid_corpus_name", corpus=corpus)
        return self._corpora.setdefault(corpus, _Corpus())

    def _version(self, corpus: str, version: int) -> _Version:
        held = self._corpus(corpus).versions.get(version)
        if held is None:
            raise VersionNotFound(corpus=corpus, version=version)
        return held


def _manifest(content: VersionContent, stamp: VersionStamp, hashes: dict[str, str]) -> Manifest:
    refused = {*get_args(Refusal), "kept"}
    notices = dict.fromkeys(notice for report in content.reports for notice in report.notices)
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
        nodes=len(list(content.tree.paths())),
        depth=content.tree.depth(),
        stand_ins=sum(chunk.summary.is_stand_in for chunk in content.chunks),
        refused=sum(report.verdict in refused for report in content.reports),
        repairs=content.repairs,
        warnings=tuple(notices),
        created_at=stamp.created_at,
        files_sha256=_sha256(repr(sorted(hashes.items())).encode()),
    )


def _rows(content: VersionContent) -> Iterator[ChunkRow]:
    paths = content.tree.leaf_paths()
    for item in content.chunks:
        chunk, summary = item.chunk, item.summary
        family = next((family for family in content.twins if chunk.chunk_id in family), ())
        row = ChunkRow(
            chunk_id=chunk.chunk_id,
            path=paths[chunk.chunk_id],
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
        )
        yield replace(row, twins=tuple(other for other in family if other != chunk.chunk_id))


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _require_seen(corpus: str, active: int | None, seen: Seen) -> None:
    if seen not in ("any", active):
        raise Outrun("version_outrun", corpus=corpus, seen=seen or 0, active=active or 0)
