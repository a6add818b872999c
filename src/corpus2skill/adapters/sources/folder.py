"""Source documents from folders and files of this machine."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus2skill.adapters.sources.names import is_folder, labels, shown_name
from corpus2skill.domain.corpus import Skip, SourceFile, SourceReport
from corpus2skill.domain.source_names import UniqueNames, is_hidden
from corpus2skill.errors import InvalidInput, SourceRefused

_MAX_BYTES = 100_000_000
_OPEN_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)
"""A pipe that took a file's place between listing and reading must not hold us up."""


class FolderSources:
    """The files under some paths: below a single folder by their relative path, else `<folder>/<relative>`."""

    def __init__(
        self, paths: Sequence[Path], *, exclude: Path | None = None, max_bytes: int = _MAX_BYTES
    ) -> None:
        """`exclude` is a folder (the workspace) that is passed over should it lie inside `paths`.

        Raises:
            InvalidInput: one of `paths` does not exist.
        """
        self._paths = tuple(dict.fromkeys(Path(os.path.abspath(path)) for path in paths))  # noqa: PTH100 - links stay
        self._exclude = exclude.resolve() if exclude else None
        self._max_bytes = max_bytes
        self._files: dict[str, Path] = {}
        self._unlisted: list[str] = []
        for path in self._paths:
            _require_there(path)

    def find(self) -> Iterator[str | SourceReport]:
        """Yield source names in a fixed order, and a report for each thing passed over."""
        self._files.clear()
        self._unlisted.clear()
        names = UniqueNames()
        for path, label in zip(self._paths, labels(self._paths), strict=True):
            if is_folder(path):
                yield from self._walk(path, label, names)
            else:
                yield self._judged(_Entry(path=path, name=label), names, is_asked_for=True)

    def read(self, source: str) -> SourceFile:
        """Return the bytes of one source.

        Raises:
            SourceRefused: `unreadable`, `vanished` or `too_large`.
        """
        if source not in self._files:
            for _ in self.find():
                pass
        path = self._files.get(source)
        if path is None:
            raise SourceRefused("vanished")
        data = self._bytes(path)
        return SourceFile(source=source, data=data, sha256=hashlib.sha256(data).hexdigest())

    def file_of(self, source: str) -> tuple[str, Path] | None:
        """Name and path of the file that `source` is or, within an archive or a mail, lies in; None: it is gone."""
        for _ in self.find():
            pass
        name = source
        while name and name not in self._files:
            name = name.rpartition("/")[0]
        return (name, self._files[name]) if name else None

    def covers(self, source: str) -> bool:
        """True unless `source` lies under a folder that the last `find` could not list."""
        return not any(folder in {"", source} or source.startswith(f"{folder}/") for folder in self._unlisted)

    def _walk(self, folder: Path, label: str, names: UniqueNames) -> Iterator[str | SourceReport]:
        """Go through a folder depth first, without recursion: folders may be nested deeper than calls."""
        excluded = self._excluded_under(folder)
        waiting = [_Entry(path=folder, name=label)]
        while waiting:
            entry = waiting.pop()
            if entry.path != folder and not _is_real_folder(entry.path):
                yield self._judged(entry, names)
                continue
            if entry.path != folder and is_hidden(entry.path.name):
                yield _passed_over(entry.name, "hidden")
                continue
            if entry.path == excluded:
                continue
            try:
                waiting += sorted(_entries(entry), key=_order, reverse=True)
            except OSError:
                self._unlisted.append(entry.name)
                yield SourceReport(source=entry.name or folder.name, verdict="unreadable", detail="folder")

    def _excluded_under(self, folder: Path) -> Path | None:
        """Return the excluded folder as the walk through `folder` will come upon it."""
        real = folder.resolve()
        if self._exclude is None or not self._exclude.is_relative_to(real):
            return None
        return folder / self._exclude.relative_to(real)

    def _judged(self, entry: _Entry, names: UniqueNames, *, is_asked_for: bool = False) -> str | SourceReport:
        """Return the file's name, or why it is passed over. What was asked for by name is never hidden."""
        skip = _file_skip(entry.path, follow=is_asked_for)
        if skip and not (skip == "hidden" and is_asked_for):
            return _passed_over(entry.name, skip)
        source = names.take(entry.name)
        self._files[source] = entry.path
        return source

    def _bytes(self, path: Path) -> bytes:
        """Return a file's bytes as they stood at one moment; one that is being written is read once more."""
        data = self._read_still(path)
        if data is None:
            data = self._read_still(path)
        if data is None:
            raise SourceRefused("unreadable", "changing")
        return data

    def _read_still(self, path: Path) -> bytes | None:
        """Return a file's bytes, None where it changed meanwhile."""
        try:
            with open(os.open(path, _OPEN_FLAGS), "rb") as file:  # noqa: PTH123 - a descriptor, not a path
                before = os.fstat(file.fileno())
                self._require_readable(before)
                data = file.read(self._max_bytes + 1)
                after = os.fstat(file.fileno())
        except FileNotFoundError as error:
            raise SourceRefused("vanished") from error
        except OSError as error:
            raise SourceRefused("unreadable") from error
        self._require_size(len(data))
        is_still = (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)
        return data if is_still else None

    def _require_readable(self, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise SourceRefused("unreadable")
        self._require_size(status.st_size)

    def _require_size(self, size: int) -> None:
        if size > self._max_bytes:
            raise SourceRefused("too_large", "bytes", size=size, limit=self._max_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    path: Path
    name: str


def _require_there(path: Path) -> None:
    try:
        path.stat()
    except PermissionError:
        return  # it may be there: reading it says more
    except (OSError, ValueError) as error:
        raise InvalidInput("missing_path", path=shown_name(str(path))) from error


def _entries(entry: _Entry) -> list[_Entry]:
    with os.scandir(entry.path) as found:
        return [
            _Entry(path=Path(inner.path), name="/".join(filter(None, (entry.name, shown_name(inner.name)))))
            for inner in found
        ]


def _order(entry: _Entry) -> tuple[str, bytes]:
    """By the name that is shown, then as on disk: of two spellings of one name the first is always the same."""
    return entry.name, os.fsencode(entry.path)


def _is_real_folder(path: Path) -> bool:
    """True for a folder that is no link; what cannot even be looked at is left to reading."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _file_skip(path: Path, *, follow: bool) -> Skip | None:
    """A link inside the folder leads to a file that is found anyway, one that leaves it is not ours."""
    try:
        mode = path.stat().st_mode if follow else path.lstat().st_mode
    except OSError:
        return None
    if is_hidden(path.name):
        return "hidden"
    if stat.S_ISLNK(mode):
        return "link"
    return None if stat.S_ISREG(mode) else "special"


def _passed_over(name: str, skip: Skip) -> SourceReport:
    return SourceReport(source=name, verdict=skip)
