"""Versions of corpora as plain files in the workspace folder."""

from __future__ import annotations

import errno
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from corpus2skill.adapters.store import compile_lock, durable, pointer
from corpus2skill.adapters.store.compile_lock import STAGING
from corpus2skill.adapters.store.encoding import decode, pretty, to_plain
from corpus2skill.adapters.store.file_check import file_faults
from corpus2skill.adapters.store.pointer import Pointer
from corpus2skill.adapters.store.version_folder import VersionFolder
from corpus2skill.adapters.store.version_writer import write_version
from corpus2skill.adapters.store.workspace import Workspace
from corpus2skill.domain.corpus import SourceReport, SourceText
from corpus2skill.domain.version import ChunkRow, Manifest, VersionContent
from corpus2skill.errors import Busy, Damaged, InvalidInput, Outrun, VersionNotFound
from corpus2skill.ports.store import CorpusConfig, Fault, Seen, VersionStamp


class FileVersionStore:
    """`ports.store.VersionStore` over a folder. Reading makes nothing and works where writing does not."""

    def __init__(self, root: Path) -> None:
        self._workspace = Workspace(root)

    def prepare(self) -> None:
        """Make the workspace where there is none."""
        self._workspace.prepare()

    def corpora(self) -> tuple[str, ...]:
        return tuple(path.name for path in self._workspace.corpora() if self._is_corpus(path.name))

    def config(self, corpus: str) -> CorpusConfig:
        file = self._config_file(corpus)
        with durable.usable(file):
            try:
                data = file.read_bytes()
            except FileNotFoundError:
                return CorpusConfig()
        try:
            return decode(data, CorpusConfig)
        except ValueError as error:
            raise Damaged("config_damaged", file=str(file)) from error

    def save_config(self, corpus: str, config: CorpusConfig) -> None:
        file = self._config_file(corpus)
        self._workspace.prepare()
        with durable.usable(file):
            durable.make_folder(file.parent)
            durable.replace_file(file, pretty(to_plain(config)))

    def versions(self, corpus: str) -> tuple[int, ...]:
        return tuple(number for number in self._numbers(corpus) if self._version(corpus, number).is_complete)

    def next_version(self, corpus: str) -> int:
        known = self._pointer_or_guess(corpus)
        return max((known.last_version, known.version or 0, *known.history, *self._numbers(corpus))) + 1

    def next_chunk_number(self, corpus: str) -> int:
        known = self._pointer_or_guess(corpus).next_chunk
        return max((known, *(self._version(corpus, number).next_chunk for number in self._numbers(corpus))))

    def active(self, corpus: str) -> int | None:
        return pointer.load(self._pointer_file(corpus)).version

    def exclusive(self, corpus: str) -> AbstractContextManager[None]:
        folder = self._workspace.corpus(corpus)
        self._workspace.prepare()
        return compile_lock.exclusive(folder)

    def write(
        self, content: VersionContent, stamp: VersionStamp, files: Iterable[tuple[str, bytes]]
    ) -> Manifest:
        place = self._version_folder(content.corpus, stamp.version)
        self._workspace.prepare()
        staging = place.with_name(f"{STAGING}{stamp.version}-{secrets.token_hex(4)}")
        with durable.usable(place):
            durable.make_folder(place.parent)
            try:
                manifest = write_version(staging, content, stamp, files)
                _appear(staging, place)
            finally:
                shutil.rmtree(staging, ignore_errors=True)
        return manifest

    def manifest(self, corpus: str, version: int) -> Manifest:
        return self._version(corpus, version).manifest()

    def node_text(self, corpus: str, version: int, path: str) -> str | None:
        return self._version(corpus, version).node_text(path)

    def chunk_row(self, corpus: str, version: int, chunk_id: str) -> ChunkRow | None:
        return self._version(corpus, version).chunk_row(chunk_id)

    def chunk_rows(self, corpus: str, version: int) -> Iterator[ChunkRow]:
        return self._version(corpus, version).chunk_rows()

    def source_reports(self, corpus: str, version: int) -> tuple[SourceReport, ...]:
        return self._version(corpus, version).source_reports()

    def source_texts(self, corpus: str, version: int) -> Iterator[SourceText]:
        return self._version(corpus, version).source_texts()

    def source_text(self, corpus: str, version: int, source: str) -> SourceText | None:
        return self._version(corpus, version).source_text(source)

    def lexical_folder(self, corpus: str, version: int) -> Path:
        """Where the offline engine's index of a version lies; it need not exist."""
        return self._version_folder(corpus, version) / "lexical"

    def file_faults(self, corpus: str, version: int) -> Iterator[Fault]:
        return file_faults(self._version(corpus, version))

    def activate(self, corpus: str, version: int, *, seen: Seen = "any") -> int | None:
        self._require(corpus, version)
        with compile_lock.switching(self._workspace.corpus(corpus)):
            self._require(corpus, version)
            known = self._pointer_or_guess(corpus)
            _require_seen(corpus, known.version, seen)
            if known.version != version:
                pointer.save(self._pointer_file(corpus), known.moved_to(version))
        return known.version

    def previous(self, corpus: str) -> int | None:
        back = pointer.load(self._pointer_file(corpus)).moved_back(self.versions(corpus))
        return back.version if back else None

    def rollback(self, corpus: str, *, seen: Seen = "any") -> int:
        file = self._pointer_file(corpus)
        with compile_lock.switching(self._workspace.corpus(corpus)):
            known = pointer.load(file)
            _require_seen(corpus, known.version, seen)
            back = known.moved_back(self.versions(corpus))
            if back is None or back.version is None:
                raise VersionNotFound("no_previous_version", corpus=corpus)
            pointer.save(file, back)
        return back.version

    def remove(self, corpus: str, version: int) -> None:
        """Remove a version that is not active: renamed first, so that no reader sees half of it.

        Raises:
            InvalidInput: it is the active one.
            VersionNotFound: there is no such version.
        """
        self._require(corpus, version)
        file, place = self._pointer_file(corpus), self._version_folder(corpus, version)
        trash = place.with_name(f"{STAGING}removed-{version}-{secrets.token_hex(4)}")
        with compile_lock.switching(self._workspace.corpus(corpus)):
            self._require(corpus, version)
            known = pointer.load(file)
            if known.version == version:
                raise InvalidInput("version_is_active", corpus=corpus, version=version)
            pointer.save(file, known.without(version, self._version(corpus, version).next_chunk))
            with durable.usable(place):
                place.rename(trash)
                durable.sync(place.parent)
        shutil.rmtree(trash, ignore_errors=True)

    def size(self, corpus: str, version: int) -> int:
        return self._version(corpus, version).size()

    def forget(self, corpus: str) -> None:
        """Remove a corpus: its pointer first, so that no reader follows it into what is going.

        Only the pointer's numbers stay: kept records cite versions and chunks by them.
        """
        folder, file = self._workspace.corpus(corpus), self._pointer_file(corpus)
        if not folder.is_dir():
            return
        numbers = Pointer(
            last_version=self.next_version(corpus) - 1, next_chunk=self.next_chunk_number(corpus)
        )
        pointer.save(file, numbers)
        with durable.usable(folder):
            self._config_file(corpus).unlink(missing_ok=True)
            compile_lock.clear_staging(folder / "versions")
            trash = folder / "versions" / f"{STAGING}removed"
            for number in self._numbers(corpus):
                self._version_folder(corpus, number).rename(trash)
                shutil.rmtree(trash)
            durable.sync(folder)

    def _is_corpus(self, corpus: str) -> bool:
        """True for a folder with more in it than the lock of a compile that came to nothing, or the numbers of
        a corpus that was removed.
        """
        file = self._config_file(corpus)
        with durable.usable(file):
            return file.is_file() or bool(self.versions(corpus)) or self._has_pointer(corpus)

    def _has_pointer(self, corpus: str) -> bool:
        """True where a version is, or was, pointed to."""
        try:
            known = pointer.load(self._pointer_file(corpus))
        except Damaged:
            return True
        return known.version is not None or bool(known.history)

    def _numbers(self, corpus: str) -> tuple[int, ...]:
        """Numbers of the version folders, ascending, whether complete or not."""
        above = self._workspace.corpus(corpus) / "versions"
        with durable.usable(above):
            names = [path.name for path in above.iterdir()] if above.is_dir() else []
        numbers = (int(name) for name in names if name.isascii() and name.isdecimal())
        return tuple(sorted(number for number in numbers if number > 0 and str(number) in names))

    def _pointer_or_guess(self, corpus: str) -> Pointer:
        """The pointer. Of a damaged one, which naming a version mends, only what the folders tell is left."""
        try:
            return pointer.load(self._pointer_file(corpus))
        except Damaged:
            return Pointer(last_version=max(self._numbers(corpus), default=0))

    def _require(self, corpus: str, version: int) -> None:
        if not self._version(corpus, version).is_complete:
            raise VersionNotFound(corpus=corpus, version=version)

    def _version(self, corpus: str, version: int) -> VersionFolder:
        return VersionFolder(self._version_folder(corpus, version), corpus, version)

    def _version_folder(self, corpus: str, version: int) -> Path:
        return self._workspace.corpus(corpus) / "versions" / str(version)

    def _pointer_file(self, corpus: str) -> Path:
        return self._workspace.corpus(corpus) / "active"

    def _config_file(self, corpus: str) -> Path:
        return self._workspace.corpus(corpus) / "config.json"


def _require_seen(corpus: str, active: int | None, seen: Seen) -> None:
    if seen not in ("any", active):
        raise Outrun("version_outrun", corpus=corpus, seen=seen or 0, active=active or 0)


def _appear(staging: Path, place: Path) -> None:
    """Make the staged version appear under its number, in one step."""
    try:
        staging.rename(place)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            raise Busy("version_exists", corpus=place.parent.parent.name, version=int(place.name)) from error
        raise
    durable.sync(place.parent)
