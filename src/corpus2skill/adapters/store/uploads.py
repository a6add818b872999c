"""The bytes of uploads in a workspace's folder: each once, under its SHA-256."""

from __future__ import annotations

import hashlib
import secrets
import shutil
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock, Timeout

from corpus2skill.adapters.store import durable
from corpus2skill.errors import Busy, WorkspaceUnusable
from corpus2skill.ports.uploads import IncomingFile

_INCOMING = "incoming"
_PATIENCE_SECONDS = 30.0
_LOOK_AGAIN_SECONDS = 0.005
_KEPT_FREE = 64_000_000
"""Bytes of the disk that no upload takes: the databases need some to go on."""
_CHECK_EVERY = 8_000_000
_STALE_SECONDS = 6 * 3600.0


class FolderUploads:
    """`ports.uploads.UploadFiles` below `uploads/` of a workspace; the texts are in `texts/` beside it."""

    def __init__(self, workspace: Path) -> None:
        self._root = workspace / "uploads"
        self._texts = workspace / "texts"

    def begin(self) -> IncomingFile:
        folder = self._root / _INCOMING
        with durable.usable(folder):
            durable.make_folder(folder)
            require_room(folder)
            return _Incoming(folder / secrets.token_hex(12))

    def make_durable(self, files: Sequence[IncomingFile]) -> None:
        with durable.usable(self._root):
            durable.sync_all([_ours(file).path for file in files])

    @contextmanager
    def changing(self) -> Generator[None]:
        file = self._root / "changing.lock"
        with durable.usable(file):
            durable.make_folder(self._root)
        lock = FileLock(
            file, timeout=_PATIENCE_SECONDS, poll_interval=_LOOK_AGAIN_SECONDS, thread_local=False
        )
        try:
            with durable.usable(file):
                lock.acquire()
        except Timeout as error:
            raise Busy("uploads_busy", path=str(file)) from error
        try:
            yield
        finally:
            lock.release()

    def take_in(self, files: Sequence[IncomingFile]) -> None:
        with durable.usable(self._root):
            folders = set[Path]()
            for file in map(_ours, files):
                place = self.path(file.close())
                durable.make_folder(place.parent)
                file.path.replace(place)
                folders.add(place.parent)
            durable.sync_all(folders)

    def path(self, sha256: str) -> Path:
        return self._root / sha256[:2] / sha256

    def read(self, sha256: str) -> bytes | None:
        place = self.path(sha256)
        with durable.usable(place):
            try:
                data = place.read_bytes()
            except FileNotFoundError:
                return None
        return data if hashlib.sha256(data).hexdigest() == sha256 else None

    def remove(self, sha256: str) -> None:
        place = self.path(sha256)
        with durable.usable(place):
            place.unlink(missing_ok=True)
            shutil.rmtree(self._texts / sha256[:2] / sha256, ignore_errors=True)

    def tidy(self) -> None:
        oldest = time.time() - _STALE_SECONDS
        with durable.usable(self._root):
            for left in (self._root / _INCOMING).glob("*"):
                if left.stat().st_mtime < oldest:
                    left.unlink(missing_ok=True)


class _Incoming:
    """A file that is written beside the others."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._hash = hashlib.sha256()
        self._file: BinaryIO = path.open("xb")
        self._unchecked = 0

    def write(self, data: bytes) -> None:
        with durable.usable(self.path):
            self._unchecked += len(data)
            if self._unchecked >= _CHECK_EVERY:
                require_room(self.path)
                self._unchecked = 0
            self._file.write(data)
        self._hash.update(data)
        self.size += len(data)

    def close(self) -> str:
        with durable.usable(self.path):
            self._file.close()
        return self._hash.hexdigest()

    def discard(self) -> None:
        with durable.usable(self.path):
            try:
                self._file.close()
            finally:
                self.path.unlink(missing_ok=True)


def require_room(path: Path, kept_free: int = _KEPT_FREE) -> None:
    """Raises: WorkspaceUnusable: hardly anything of the disk is free."""
    free = shutil.disk_usage(path if path.is_dir() else path.parent).free
    if free < kept_free:
        raise WorkspaceUnusable("disk_full", path=str(path), reason=f"{free:,} < {kept_free:,}")


def _ours(file: IncomingFile) -> _Incoming:
    assert isinstance(file, _Incoming)
    return file
