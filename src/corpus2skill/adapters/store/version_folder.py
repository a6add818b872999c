"""One written version, read from its folder."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import TypeVar

from corpus2skill.adapters.store import chunk_index, durable
from corpus2skill.adapters.store.encoding import decode, spellings
from corpus2skill.adapters.store.rows import (
    CHUNK_INDEX,
    CHUNKS,
    MANIFEST,
    SOURCES,
    TEXTS,
    SourceLine,
    Span,
    unseal,
)
from corpus2skill.domain.corpus import SourceReport, SourceText
from corpus2skill.domain.ids import chunk_id, chunk_number, is_node_path
from corpus2skill.domain.version import ChunkRow, Manifest
from corpus2skill.errors import Damaged, VersionNotFound

Line = TypeVar("Line")


class FileMissing(Damaged):
    """A file of a version that is there itself."""

    code = "file_missing"


class VersionFolder:
    """The reading half of a version store, for one version."""

    def __init__(self, folder: Path, corpus: str, version: int) -> None:
        self.folder = folder
        self._corpus = corpus
        self._version = version

    @property
    def is_complete(self) -> bool:
        with durable.usable(self.folder):
            return (self.folder / MANIFEST).is_file()

    def manifest(self) -> Manifest:
        with self.reading(MANIFEST), self.open(MANIFEST) as file:
            return unseal(file.read())

    @property
    def next_chunk(self) -> int:
        """A number above those of all its chunks, told by its leaves where the manifest does not tell it."""
        try:
            return self.manifest().next_chunk_number
        except (Damaged, VersionNotFound):
            names = (name for _, _, files in os.walk(self.folder) for name in files)
            return max((chunk_number(name.removesuffix(".md")) or 0 for name in names), default=0) + 1

    def node_text(self, path: str) -> str | None:
        """Return one node file's text, None where `path` is no node of this version."""
        if not is_node_path(path):
            return None
        name = f"tree/{self._corpus}/{path}"
        try:
            with self.reading(name), self.open(name) as file:
                return file.read().decode("utf-8")
        except FileMissing:
            return None

    def chunk_row(self, name: str) -> ChunkRow | None:
        number = chunk_number(name)
        if number is None or chunk_id(number) != name:
            return None
        with self.reading(CHUNK_INDEX), self.open(CHUNK_INDEX) as index:
            span = chunk_index.find(index, number)
        if span is None:
            return None
        row = self._line(CHUNKS, span, ChunkRow)
        if row.chunk_id != name:
            raise self.damaged(CHUNK_INDEX)
        return row

    def chunk_rows(self) -> Iterator[ChunkRow]:
        return self._lines(CHUNKS, ChunkRow)

    def source_reports(self) -> tuple[SourceReport, ...]:
        return tuple(line.report for line in self._lines(SOURCES, SourceLine))

    def source_texts(self) -> Iterator[SourceText]:
        return self._lines(TEXTS, SourceText)

    def source_text(self, source: str) -> SourceText | None:
        beginnings = tuple(b'{"source":' + name + b"," for name in spellings(source))
        with self.reading(SOURCES), self.open(SOURCES) as file:
            line = next((line for line in file if line.startswith(beginnings)), None)
            span = decode(line, SourceLine).text if line else None
        return self._line(TEXTS, span, SourceText) if span else None

    def size(self) -> int:
        """Bytes of all its files."""
        with self.reading(MANIFEST):
            (self.folder / MANIFEST).stat()
            return sum(
                (Path(above) / name).lstat().st_size
                for above, _, names in os.walk(self.folder)
                for name in names
            )

    @contextmanager
    def open(self, name: str) -> Generator[BufferedReader]:
        """Open a file of the version, following no link on the way.

        Raises:
            OSError: `ELOOP` or `ENOTDIR` where a link, or no regular file, stands in its place.
        """
        above = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            *folders, last = name.split("/")
            for folder in folders:
                below = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
                os.close(above)
                above = below
            opened = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=above)
        finally:
            os.close(above)
        with os.fdopen(opened, "rb") as file:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise OSError(errno.ENOTDIR, "not a regular file", name)
            yield file

    @contextmanager
    def reading(self, name: str) -> Generator[None]:
        """Give the block's failures their meaning: version gone, file missing, damaged, or not readable."""
        try:
            yield
        except FileNotFoundError as error:
            if not self.is_complete:
                raise VersionNotFound(corpus=self._corpus, version=self._version) from error
            raise FileMissing(**self._place(name)) from error
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR):
                raise self.damaged(name) from error
            raise durable.unusable(error, self.folder / name) from error
        except ValueError as error:
            raise self.damaged(name) from error

    def damaged(self, name: str) -> Damaged:
        return Damaged("file_damaged", **self._place(name))

    def _place(self, name: str) -> dict[str, str | int]:
        return {"corpus": self._corpus, "version": self._version, "file": str(self.folder / name)}

    def _line(self, name: str, span: Span, kind: type[Line]) -> Line:
        with self.reading(name), self.open(name) as file:
            if not 0 <= span.offset <= span.offset + span.length <= file.seek(0, os.SEEK_END):
                raise ValueError("a span beyond the file")
            file.seek(span.offset)
            return decode(file.read(span.length), kind)

    def _lines(self, name: str, kind: type[Line]) -> Iterator[Line]:
        with self.reading(name), self.open(name) as file:
            for line in file:
                yield decode(line, kind)


def file_hash(file: BufferedReader) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()
