"""Writes a home into one file."""

from __future__ import annotations

import hashlib
import io
import os
import secrets
import tarfile
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO, Literal, cast

from corpus2skill.adapters.store import durable
from corpus2skill.adapters.store.backup_rules import (
    CONTENTS,
    FILES,
    HEAD,
    MASTER_KEY,
    files_of,
    is_database,
    is_unchanging,
    version_of,
)
from corpus2skill.adapters.store.encoding import decode, encode
from corpus2skill.adapters.store.pointer import Pointer
from corpus2skill.adapters.store.rows import MANIFEST
from corpus2skill.adapters.store.snapshots import snapshots
from corpus2skill.domain.backup import ArchiveContents, BackupHead, StoredFile
from corpus2skill.errors import Conflict, WorkspaceUnusable

POINTER_FILE = "active"
_MOST_SMALL = 4_000_000
_GZIP_LEVEL = 3
_PIECE = 1_048_576
_FOR_OWNER = 0o600


def write_backup(
    home: Path, target: Path, head: BackupHead, *, with_master_key: bool, with_databases: bool
) -> ArchiveContents:
    """Write everything of `home` to `target`, which appears whole or not at all; a server may go on there.

    Raises:
        Conflict: there is a file at `target`; or a version that is active was removed meanwhile.
        Busy, Damaged, WorkspaceUnusable.
    """
    if target.exists():
        raise Conflict("backup_exists", path=str(target))
    beside = target.with_name(f".{target.name}-{secrets.token_hex(4)}.part")
    with durable.usable(target), tempfile.TemporaryDirectory(prefix=".backup-", dir=target.parent) as place:
        try:
            with beside.open("xb") as file:
                beside.chmod(_FOR_OWNER)  # conversations are in it
                made = _Writer(home, file, is_packed=target.name.endswith(("gz", "z"))).write(
                    head, Path(place), with_master_key=with_master_key, with_databases=with_databases
                )
                file.flush()
                os.fsync(file.fileno())
            os.link(beside, target)  # never over a file that came meanwhile
        finally:
            beside.unlink(missing_ok=True)
        durable.sync(target.parent)
    return made


class _Writer:
    """An archive in the making."""

    def __init__(self, home: Path, file: BinaryIO, *, is_packed: bool) -> None:
        self._home = home
        mode = cast("Literal['w']", "w:gz" if is_packed else "w")
        options = {"compresslevel": _GZIP_LEVEL} if is_packed else {}
        self._tar = tarfile.open(fileobj=file, mode=mode, format=tarfile.PAX_FORMAT, **options)  # type: ignore[call-overload]  # noqa: SIM115 - closed by `write`
        self._files: dict[str, StoredFile] = {}
        self._gone: set[str] = set()
        """Folders of versions that were removed while they were read."""

    def write(
        self, head: BackupHead, place: Path, *, with_master_key: bool, with_databases: bool
    ) -> ArchiveContents:
        with self._tar:
            self._add_bytes(HEAD, encode(head))
            names = list(files_of(self._home, with_master_key=with_master_key))
            databases = [name for name in names if is_database(name)] if with_databases else []
            copies = {self._home / name: place / f"{number}.db" for number, name in enumerate(databases)}
            small = snapshots(
                list(copies), lambda database: copies[database], lambda: self._small(with_master_key)
            )
            for name in databases:
                self._add_file(name, copies[self._home / name])
            for name, data in small.items():
                self._add_bytes(FILES + name, data)
                self._files[name] = StoredFile(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
            self._add_unchanging(files_of(self._home, with_master_key=with_master_key))
            self._require_active(small)
            contents = self._contents(with_master_key, with_databases)
            self._add_bytes(CONTENTS, encode(contents))
        return contents

    def _small(self, with_master_key: bool) -> dict[str, bytes]:
        """What changes by being replaced: pointers, settings. All of the same moment as the databases."""
        names = files_of(self._home, with_master_key=with_master_key)
        found: dict[str, bytes] = {}
        for name in names:
            if not is_unchanging(name) and not is_database(name):
                try:
                    with (self._home / name).open("rb") as file:
                        data = file.read(_MOST_SMALL + 1)
                except FileNotFoundError:
                    continue
                if len(data) > _MOST_SMALL:
                    raise WorkspaceUnusable("backup_stranger", path=str(self._home / name))
                found[name] = data
        return found

    def _add_unchanging(self, names: Iterable[str]) -> None:
        for name in names:
            folder = version_of(name)
            if not is_unchanging(name) or folder in self._gone:
                continue
            try:
                self._add_file(name, self._home / name)
            except FileNotFoundError:
                if folder is not None:
                    self._gone.add(folder)

    def _require_active(self, small: Mapping[str, bytes]) -> None:
        """Raises: Conflict: a version that was active at the moment of the databases is not there."""
        for name, data in small.items():
            corpus, _, file = name.rpartition("/")
            if file == POINTER_FILE and "corpora/" in name:
                version = _active(data)
                manifest = f"{corpus}/versions/{version}/{MANIFEST}"
                folder = version_of(manifest)
                if version is not None and (manifest not in self._files or folder in self._gone):
                    raise Conflict("backup_outrun", corpus=corpus.rpartition("/")[2])

    def _contents(self, with_master_key: bool, with_databases: bool) -> ArchiveContents:
        kept = {name: file for name, file in self._files.items() if version_of(name) not in self._gone}
        return ArchiveContents(
            files=kept,
            has_master_key=with_master_key and MASTER_KEY in kept,
            has_databases=with_databases,
        )

    def _add_bytes(self, name: str, data: bytes) -> None:
        self._tar.addfile(_member(name, len(data)), io.BytesIO(data))

    def _add_file(self, name: str, path: Path) -> None:
        with path.open("rb") as file:
            hashing = _Hashing(file)
            size = os.fstat(file.fileno()).st_size
            self._tar.addfile(_member(FILES + name, size), cast("BinaryIO", hashing))
        self._files[name] = StoredFile(bytes=size, sha256=hashing.hash.hexdigest())


def _active(pointer: bytes) -> int | None:
    try:
        return decode(pointer, Pointer).version
    except ValueError:  # damaged before: the backup has it as it is
        return None


class _Hashing:
    """A file that is hashed as it is read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.hash = hashlib.sha256()

    def read(self, size: int = _PIECE) -> bytes:
        data = self._file.read(size)
        self.hash.update(data)
        return data


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, _FOR_OWNER
    return member
