"""Work done in a child process: killed at a chosen moment, or as an ordinary user."""

from __future__ import annotations

import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import BuiltinMethodType, FrameType

NOBODY = 65534
_STATEMENTS = ("Cursor.execute", "Connection.execute", "Connection.commit", "Connection.rollback")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a child ended: `said` is what its work returned, or the error that it raised."""

    was_killed: bool
    said: str


def in_child(work: Callable[[], object], *, as_nobody: bool = False, file_size: int | None = None) -> Ended:
    """Run `work` in a fork of this process. `file_size` is the most bytes that it may write into a file."""
    return _end(*_begin(work, as_nobody=as_nobody, file_size=file_size))


def in_children(works: Iterable[Callable[[], object]]) -> list[Ended]:
    """Run each of `works` in a fork of its own, all at once."""
    begun = [_begin(work, as_nobody=False, file_size=None) for work in works]
    return [_end(child, reading) for child, reading in begun]


def _begin(work: Callable[[], object], *, as_nobody: bool, file_size: int | None) -> tuple[int, int]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work_and_leave(work, writing, as_nobody=as_nobody, file_size=file_size)
    os.close(writing)
    return child, reading


def _end(child: int, reading: int) -> Ended:
    with os.fdopen(reading, encoding="utf-8") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    return Ended(was_killed=os.WIFSIGNALED(status), said=said)


def _work_and_leave(
    work: Callable[[], object], writing: int, *, as_nobody: bool, file_size: int | None
) -> None:
    if as_nobody and os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    if file_size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
    try:
        said = str(work())
    except BaseException as error:  # noqa: BLE001 (whatever it is, the parent is to see it)
        said = f"{type(error).__name__}: {error}"
    os.write(writing, said.encode("utf-8", "backslashreplace"))
    os._exit(0)


def killed_at(moment: int) -> None:
    """Have this process kill itself when it touches the file system for the `moment`-th time from now."""
    left = moment

    def hook(event: str, _: tuple[object, ...]) -> None:
        nonlocal left
        if event in ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.listdir", "os.scandir"):
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

    sys.addaudithook(hook)


def killed_at_statement(moment: int) -> None:
    """Have this process kill itself before the `moment`-th statement from now that it gives to SQLite."""
    left = moment

    def profile(_frame: FrameType, event: str, called: object) -> None:
        nonlocal left
        if event == "c_call" and isinstance(called, BuiltinMethodType) and called.__qualname__ in _STATEMENTS:
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

    sys.setprofile(profile)


@contextmanager
def open_folder() -> Generator[Path]:
    """A temporary folder that every user may enter."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
