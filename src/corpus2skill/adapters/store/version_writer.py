"""Writing a version into a folder that nobody reads yet."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from corpus2skill.adapters.store import chunk_index, durable
from corpus2skill.adapters.store.encoding import encode, sha256
from corpus2skill.adapters.store.rows import (
    CHUNK_INDEX,
    CHUNKS,
    FILES,
    MANIFEST,
    SOURCES,
    TEXTS,
    FileLine,
    SourceLine,
    Span,
    chunk_rows,
    manifest_of,
    seal,
)
from corpus2skill.domain.corpus import SourceText
from corpus2skill.domain.ids import chunk_number, is_node_path
from corpus2skill.domain.version import Manifest, VersionContent
from corpus2skill.ports.store import VersionStamp

_LARGE = 1_000_000
"""Bytes of a file that is not kept waiting in memory."""
_LEXICAL_FILE = re.compile(r"lexical(/[A-Za-z0-9_][A-Za-z0-9_.-]*)+")


def write_version(
    folder: Path, content: VersionContent, stamp: VersionStamp, files: Iterable[tuple[str, bytes]]
) -> Manifest:
    """Write every file of the version into the new `folder`, the manifest last, and wait for the disk."""
    return _VersionWriter(folder).write(content, stamp, files)


class _VersionWriter:
    """Files below one folder, each written and hashed in one pass."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines: list[FileLine] = []
        self._folders: set[Path] = set()
        self._unsynced: list[Path] = []

    def write(
        self, content: VersionContent, stamp: VersionStamp, files: Iterable[tuple[str, bytes]]
    ) -> Manifest:
        self._make_folder(self._folder)
        self._add_files(files, content.corpus)
        self._add_sources(content)
        self._add_chunks(content)
        listing = b"".join(encode(line) + b"\n" for line in sorted(self._lines, key=lambda line: line.path))
        self._add(FILES, (listing,))
        manifest = manifest_of(content, stamp, sha256(listing))
        self._add(MANIFEST, (seal(manifest),))
        self._sync()
        return manifest

    def _add_files(self, files: Iterable[tuple[str, bytes]], corpus: str) -> None:
        """Add files whose content is there; small ones are written and synced while the next are made."""
        with durable.NewFiles() as new:
            for path, data in files:
                _check_path(path, corpus)
                if len(data) > _LARGE:
                    self._add(path, (data,))
                    continue
                place = self._folder / path
                self._make_folder(place.parent)
                new.add(place, data)
                self._lines.append(FileLine(path=path, bytes=len(data), sha256=sha256(data)))

    def _add_sources(self, content: VersionContent) -> None:
        texts: dict[str, Span] = {}
        lines = ((text.source, encode(_copied(text)) + b"\n") for text in content.texts)
        self._add(TEXTS, _noting_spans(lines, texts))
        reports = {report.source: report for report in content.reports}
        if unreported := texts.keys() - reports.keys():
            raise ValueError(f"texts without a report: {sorted(unreported)!r}")
        self._add(
            SOURCES,
            (
                encode(SourceLine(source=report.source, report=report, text=texts.get(report.source))) + b"\n"
                for report in content.reports
            ),
        )

    def _add_chunks(self, content: VersionContent) -> None:
        spans: dict[str, Span] = {}
        lines = ((row.chunk_id, encode(row) + b"\n") for row in chunk_rows(content))
        self._add(CHUNKS, _noting_spans(lines, spans))
        self._add(CHUNK_INDEX, (chunk_index.pack((_number(name), span) for name, span in spans.items()),))

    def _add(self, path: str, pieces: Iterable[bytes]) -> None:
        place = self._folder / path
        self._make_folder(place.parent)
        digest, size = hashlib.sha256(), 0
        with place.open("xb") as file:
            for piece in pieces:
                file.write(piece)
                digest.update(piece)
                size += len(piece)
        self._unsynced.append(place)
        self._lines.append(FileLine(path=path, bytes=size, sha256=digest.hexdigest()))

    def _make_folder(self, folder: Path) -> None:
        if folder not in self._folders:
            if folder != self._folder:
                self._make_folder(folder.parent)
            folder.mkdir()
            self._folders.add(folder)

    def _sync(self) -> None:
        durable.sync_all(self._unsynced)
        durable.sync_all(self._folders)


def _copied(text: SourceText) -> SourceText:
    """The same with a string of its own: one that was encoded keeps its UTF-8, half as much again, to its end."""
    whole = text.extracted.text
    return replace(text, extracted=replace(text.extracted, text=whole[:1] + whole[1:]))


def _noting_spans(lines: Iterable[tuple[str, bytes]], spans: dict[str, Span]) -> Iterator[bytes]:
    offset = 0
    for name, line in lines:
        spans[name] = Span(offset=offset, length=len(line))
        offset += len(line)
        yield line


def _check_path(path: str, corpus: str) -> None:
    tree = f"tree/{corpus}/"
    if not (path.startswith(tree) and is_node_path(path[len(tree) :])) and not _LEXICAL_FILE.fullmatch(path):
        raise ValueError(f"a version has no place for a file {path!r}")


def _number(chunk_id: str) -> int:
    number = chunk_number(chunk_id)
    if number is None:
        raise ValueError(f"not a chunk id: {chunk_id!r}")
    return number
