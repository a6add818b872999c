"""Files that survive a power cut, and what the file system's refusals mean."""

from __future__ import annotations

import errno
import os
import secrets
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from corpus2skill.errors import WorkspaceUnusable

_CODES = {
    errno.ENOSPC: "disk_full",
    errno.EDQUOT: "disk_full",
    errno.EFBIG: "disk_full",
    errno.EROFS: "read_only",
    errno.EACCES: "no_rights",
    errno.EPERM: "no_rights",
}
_SYNC_THREADS = 8
_MOST_UNDER_WAY = 64
"""New files that wait in memory to be written."""


@contextmanager
def usable(path: Path) -> Generator[None]:
    """Turn an `OSError` of the block into `WorkspaceUnusable`; `path` is named where the error names none."""
    try:
        yield
    except OSError as error:
        raise unusable(error, path) from error


def unusable(error: OSError, path: Path) -> WorkspaceUnusable:
    code = _CODES.get(error.errno or 0, "workspace_io")
    return WorkspaceUnusable(code, path=str(error.filename or path), reason=error.strerror or str(error))


def replace_file(path: Path, data: bytes) -> None:
    """Put `data` at `path` in one step: a reader, or a power cut, finds the old file or the new one."""
    beside = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    sync(path.parent)


def make_folder(path: Path) -> None:
    """Make `path` and the folders above it that are missing, durably."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(exist_ok=True)
    sync(path.parent)


def sync(path: Path) -> None:
    """Wait until a file's content, or a folder's list of names, is on the disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


class NewFiles:
    """New files on their way to the disk, written and waited for by threads while the next ones are made.

    Leaving the block waits for all of them; it raises what the first of those that failed raised.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_SYNC_THREADS)
        self._under_way: deque[Future[None]] = deque()

    def __enter__(self) -> NewFiles:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=kind is not None)
        if kind is None:
            for written in self._under_way:
                written.result()

    def add(self, path: Path, data: bytes) -> None:
        """Write `data` at `path`, where nothing is yet; waits while too many are under way."""
        self._under_way.append(self._pool.submit(_write_new, path, data))
        if len(self._under_way) > _MOST_UNDER_WAY:
            self._under_way.popleft().result()


def _write_new(path: Path, data: bytes) -> None:
    with path.open("xb", buffering=0) as file:
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())


def sync_all(paths: Iterable[Path]) -> None:
    """`sync` many at once.

    In threads, because the file system joins waiting syncs into one commit: a third of the time of one
    after the other. `os.sync()` would be quicker still, but waits for everybody's writes and hides errors.
    """
    with ThreadPoolExecutor(_SYNC_THREADS) as pool:
        for _ in pool.map(sync, paths):
            pass
