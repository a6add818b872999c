"""The lock that lets one compile at a time into a corpus."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from corpus2skill.adapters.store import durable
from corpus2skill.errors import Busy

STAGING = ".staging-"
"""How the names of folders begin that are not versions yet, or no longer."""


@contextmanager
def exclusive(corpus: Path) -> Generator[None]:
    """Hold the corpus's folder. The system frees the lock when its holder dies.

    Raises:
        Busy: another process or thread holds it.
    """
    file = corpus / "compile.lock"
    lock = FileLock(file, timeout=0, thread_local=False)
    with durable.usable(file):
        durable.make_folder(corpus)
        try:
            lock.acquire()
        except Timeout as error:
            raise _busy(corpus.name, file) from error
    try:
        with durable.usable(file):
            file.write_text(f"{os.getpid()}\n", encoding="ascii")
        clear_staging(corpus / "versions")
        yield
    finally:
        lock.release()


def clear_staging(versions: Path) -> None:
    """Remove what killed compiles and removals left. What cannot be removed now is in nobody's way."""
    for left in versions.glob(f"{STAGING}*"):
        shutil.rmtree(left, ignore_errors=True)


def _busy(corpus: str, file: Path) -> Busy:
    try:
        holder = file.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        holder = ""
    if holder.isdecimal():
        return Busy("busy_pid", corpus=corpus, pid=int(holder))
    return Busy("busy", corpus=corpus)
