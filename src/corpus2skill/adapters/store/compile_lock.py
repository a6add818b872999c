"""The locks of a corpus: for one compile at a time, and for one switch at a time."""

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
_SWITCH_SECONDS = 20.0
"""A switch is one small file; who waits for longer waits for a process that hangs."""


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


@contextmanager
def switching(corpus: Path) -> Generator[None]:
    """Hold the corpus's pointer while it is looked at and changed. A compile under way holds up nobody here.

    Raises:
        Busy: another process has held it for too long.
    """
    if not corpus.is_dir():
        yield
        return
    file = corpus / "active.lock"
    lock = FileLock(file, timeout=_SWITCH_SECONDS, thread_local=False)
    with durable.usable(file):
        try:
            lock.acquire()
        except Timeout as error:
            raise Busy("busy", corpus=corpus.name) from error
    try:
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
