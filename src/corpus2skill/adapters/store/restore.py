"""Reads a home back from one file, after everything in it was checked."""

from __future__ import annotations

import gzip
import hashlib
import os
import secrets
import sqlite3
import tarfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, TypeVar

from corpus2skill.adapters.store import durable
from corpus2skill.adapters.store.backup_rules import (
    CONTENTS,
    FILES,
    HEAD,
    MASTER_KEY,
    is_database,
    is_safe_name,
)
from corpus2skill.adapters.store.encoding import decode
from corpus2skill.adapters.store.snapshots import check_database
from corpus2skill.adapters.store.workspace import UNFINISHED
from corpus2skill.domain.backup import BACKUP_FORMAT, ArchiveContents, BackupHead, StoredFile
from corpus2skill.errors import Conflict, InvalidInput, WorkspaceUnusable

Kind = TypeVar("Kind", BackupHead, ArchiveContents)

_OF_VOLUMES = {"lost+found"}
"""What a file system puts into its own root."""
_PIECE = 1_048_576
_MOST_HEAD = 100_000
_MOST_CONTENTS = 1_000_000_000
_FOR_OWNER = 0o600


def check_archive(archive: Path) -> tuple[BackupHead, ArchiveContents]:
    """Read the whole archive and compare every file with its hash; nothing is written.

    Raises:
        InvalidInput: it is no backup, was cut off, or something in it is not what was written.
        WorkspaceUnusable: a newer release made it, or it cannot be read.
    """
    with _reading(archive) as members:
        name, file = next(members, (None, None))
        if name != HEAD or file is None:
            raise InvalidInput("backup_not_one", path=str(archive))
        head = _decoded(file.read(_MOST_HEAD), BackupHead, archive)
        if head.format > BACKUP_FORMAT:
            raise WorkspaceUnusable(
                "workspace_newer", file=str(archive), wanted=BACKUP_FORMAT, came=head.format
            )
        found: dict[str, StoredFile] = {}
        for name, file in members:
            if name == CONTENTS:
                contents = _decoded(file.read(_MOST_CONTENTS), ArchiveContents, archive)
                _compare(contents, found, archive)
                return head, contents
            if name in found:
                raise _damaged(archive, name)
            found[name] = _hashed(file)
    raise _damaged(archive, CONTENTS)


def unpack(archive: Path, contents: ArchiveContents, folder: Path) -> None:
    """Write the files of a checked archive below `folder`, which is new, and wait for the disk.

    Raises:
        InvalidInput: it is another archive than the one that was checked.
        WorkspaceUnusable: the disk refused.
    """
    missing = dict(contents.files)
    with durable.usable(folder), _reading(archive) as members:
        folder.mkdir(parents=True)
        for member, file in members:
            name = member.removeprefix(FILES)
            wanted = missing.pop(name, None) if member.startswith(FILES) else None
            if wanted is not None and _write(folder / name, file, name) != wanted:
                raise _damaged(archive, name)
        durable.sync_all(list(folder.rglob("*")))
    if missing:
        raise _damaged(archive, next(iter(missing)))


def check_databases(folder: Path, contents: ArchiveContents) -> None:
    """Raises: Damaged: one of them is not sound."""
    for name in contents.files:
        if is_database(name):
            check_database(folder / name)


def hand_over(folder: Path, place: str) -> None:
    """Have the worker of `place` take over what the workers of the old machine were at."""
    state = folder / "state.db"
    if not state.exists():
        return
    with closing(sqlite3.connect(state)) as connection, connection:
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'workers'").fetchone():
            connection.execute("UPDATE workers SET place = ? WHERE ended_at IS NULL", (place,))


def require_empty(home: Path) -> None:
    """Raises: Conflict: something is there."""
    with durable.usable(home):
        if home.exists() and (not home.is_dir() or {entry.name for entry in home.iterdir()} - _OF_VOLUMES):
            raise Conflict("restore_not_empty", path=str(home))


def staging_folder(home: Path) -> Path:
    """Where a home is built: within it where it is there, as a volume is; else beside it."""
    name = f".restoring-{secrets.token_hex(4)}"
    return home / name if home.exists() else home.with_name(f".{home.name}{name}")


def put_in_place(folder: Path, home: Path) -> None:
    """Make a built home the home. In between it says of itself that it is unfinished."""
    with durable.usable(home):
        if folder.parent != home:
            folder.rename(home)
            durable.sync(home.parent)
            return
        mark = home / UNFINISHED
        mark.write_bytes(b"")
        durable.sync(home)
        for entry in sorted(folder.iterdir()):
            entry.rename(home / entry.name)
        folder.rmdir()
        durable.sync(home)
        mark.unlink()
        durable.sync(home)


@contextmanager
def _reading(archive: Path) -> Generator[Iterator[tuple[str, IO[bytes]]]]:
    try:
        with archive.open("rb") as opened, tarfile.open(fileobj=opened, mode="r|*") as tar:
            yield _members(tar, archive)
    except FileNotFoundError as error:
        raise InvalidInput("backup_missing", path=str(archive)) from error
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidInput("backup_not_one", path=str(archive)) from error


def _members(tar: tarfile.TarFile, archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    for member in tar:
        file = tar.extractfile(member) if member.isreg() else None
        if file is None or not is_safe_name(member.name):
            raise InvalidInput("backup_name", path=str(archive), name=member.name[:200])
        yield member.name, file


def _compare(contents: ArchiveContents, found: dict[str, StoredFile], archive: Path) -> None:
    for name, wanted in contents.files.items():
        if not is_safe_name(name):
            raise InvalidInput("backup_name", path=str(archive), name=name[:200])
        if found.get(FILES + name) != wanted:
            raise _damaged(archive, name)


def _hashed(file: IO[bytes]) -> StoredFile:
    digest, size = hashlib.sha256(), 0
    while piece := file.read(_PIECE):
        digest.update(piece)
        size += len(piece)
    return StoredFile(bytes=size, sha256=digest.hexdigest())


def _write(path: Path, file: IO[bytes], name: str) -> StoredFile:
    path.parent.mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    with path.open("xb") as out:
        if name == MASTER_KEY:
            os.fchmod(out.fileno(), _FOR_OWNER)
        while piece := file.read(_PIECE):
            digest.update(piece)
            size += len(piece)
            out.write(piece)
    return StoredFile(bytes=size, sha256=digest.hexdigest())


def _decoded(data: bytes, kind: type[Kind], archive: Path) -> Kind:
    try:
        return decode(data, kind)
    except ValueError as error:
        raise _damaged(archive, HEAD if kind is BackupHead else CONTENTS) from error


def _damaged(archive: Path, name: str) -> InvalidInput:
    return InvalidInput("backup_damaged", path=str(archive), name=name)
