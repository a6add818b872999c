"""A program in a terminal of its own, with a person's keys."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

CTRL_D, UP = b"\x04", b"\x1b[A"
PASTE = b"\x1b[200~%s\x1b[201~"
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|[\x01\x02\r]")
_PATIENCE = 60.0
"""Seconds until a program that does not say what is awaited has failed."""


class Terminal:
    """What is written to it can be waited for."""

    def __init__(self, process: subprocess.Popen[bytes], opened: int) -> None:
        self._process = process
        self._opened = opened
        self._written = b""
        self._seen = 0

    @property
    def text(self) -> str:
        """All that was written, without colours and movements of the cursor."""
        return _CONTROL.sub("", self._written.decode("utf-8", "replace"))

    def wait_for(self, wanted: str) -> str:
        """Return what was written since the last wait up to and with `wanted`."""
        end = time.monotonic() + _PATIENCE
        while (found := self.text.find(wanted, self._seen)) < 0:
            assert self._read(end), f"{wanted!r} never came; since then:\n{self.text[self._seen :]}"
        before, self._seen = self._seen, found + len(wanted)
        return self.text[before : self._seen]

    def press(self, keys: bytes) -> None:
        os.write(self._opened, keys)

    def interrupt(self) -> None:
        """Press Ctrl-C once the program sleeps: one that is about to may not hear of it before the next key."""
        state = Path(f"/proc/{self._process.pid}/stat")
        while state.exists() and state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "S":
            os.sched_yield()
        self.press(b"\x03")

    def enter(self, line: str) -> None:
        self.press(line.encode() + b"\r")

    def end(self) -> int:
        """Wait for the program's end; return its exit code."""
        end = time.monotonic() + _PATIENCE
        while self._read(end):
            pass
        return self._process.wait(_PATIENCE)

    def _read(self, end: float) -> bool:
        """Read what there is; False where the program closed the terminal or time is up."""
        ready, _, _ = select.select([self._opened], [], [], max(0.0, end - time.monotonic()))
        try:
            data = os.read(self._opened, 65536) if ready else b""
        except OSError:  # Linux says so when the last program of a terminal has ended
            data = b""
        self._written += data
        return bool(data)


@contextmanager
def terminal(
    command: Sequence[str], environment: Mapping[str, str], *, width: int = 100
) -> Iterator[Terminal]:
    """Run `command` with all its streams in a terminal; it is killed at the end should it still run."""
    opened, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES", "NO_COLOR"}}
    process = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**kept, "TERM": "xterm-256color", "PYTHONUTF8": "1", **environment},
        start_new_session=True,
        preexec_fn=_take_terminal,  # noqa: PLW1509 - the one way to a controlling terminal
    )
    os.close(theirs)
    try:
        yield Terminal(process, opened)
    finally:
        process.kill()
        process.wait(_PATIENCE)
        os.close(opened)


def _take_terminal() -> None:
    """Make standard input the terminal that Ctrl-C comes from."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
