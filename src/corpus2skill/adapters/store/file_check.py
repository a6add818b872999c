"""Holding a version's files against their hashes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from corpus2skill.adapters.store import durable
from corpus2skill.adapters.store.encoding import decode, sha256
from corpus2skill.adapters.store.rows import FILES, MANIFEST, FileLine
from corpus2skill.adapters.store.version_folder import FileMissing, VersionFolder, file_hash
from corpus2skill.errors import Damaged, WorkspaceUnusable
from corpus2skill.ports.store import Fault


def file_faults(version: VersionFolder) -> Iterator[Fault]:
    """Yield what was changed, is missing, cannot be read or does not belong, in the order of the listing.

    Raises:
        VersionNotFound: there is no such version.
    """
    listed: set[str] = {MANIFEST, FILES}
    lines, faults = _listing(version)
    yield from faults
    for line in lines:
        listed.add(line.path)
        yield from _faults_of(version, line)
    for path in sorted(_present(version.folder) - listed):
        yield Fault(code="file_unknown", file=path)


def _listing(version: VersionFolder) -> tuple[tuple[FileLine, ...], tuple[Fault, ...]]:
    """Return the lines of `files.jsonl`, and what is wrong with it and the manifest above it."""
    faults: list[Fault] = []
    wanted: str | None = None
    try:
        wanted = version.manifest().files_sha256
    except Damaged:
        faults.append(Fault(code="file_changed", file=MANIFEST))
    try:
        with version.reading(FILES), version.open(FILES) as file:
            data = file.read()
            lines = tuple(_line(line) for line in data.splitlines())
    except FileMissing:
        return (), (*faults, Fault(code="file_missing", file=FILES))
    except Damaged:
        return (), (*faults, Fault(code="file_changed", file=FILES))
    if wanted is not None and sha256(data) != wanted:
        faults.append(Fault(code="file_changed", file=FILES))
    return lines, tuple(faults)


def _line(data: bytes) -> FileLine:
    line = decode(data, FileLine)
    if any(part in ("", ".", "..") for part in line.path.split("/")) or "\0" in line.path:
        raise ValueError(f"a path out of the version: {line.path!r}")
    return line


def _faults_of(version: VersionFolder, line: FileLine) -> Iterator[Fault]:
    try:
        with version.reading(line.path), version.open(line.path) as file:
            if file_hash(file) != line.sha256:
                yield Fault(code="file_changed", file=line.path)
    except FileMissing:
        yield Fault(code="file_missing", file=line.path)
    except Damaged:
        yield Fault(code="file_changed", file=line.path)
    except WorkspaceUnusable as error:
        yield Fault(code="file_unreadable", file=line.path, detail=str(error.values.get("reason", "")))


def _present(folder: Path) -> set[str]:
    """Paths of all files below `folder`, and of links to folders, which `os.walk` does not enter."""
    found: set[str] = set()
    with durable.usable(folder):
        for above, folders, files in os.walk(folder):
            links = [name for name in folders if (Path(above) / name).is_symlink()]
            found.update((Path(above) / name).relative_to(folder).as_posix() for name in (*files, *links))
    return found
