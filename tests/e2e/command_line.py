"""Runs the command line as a shell would, in this process or in one of its own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus2skill.entrypoints.cli.app import run

PROGRAM = (sys.executable, "-m", "corpus2skill.entrypoints.cli.main")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as the one JSON document it is."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """The command line over one workspace."""

    workspace: Path
    is_named: bool = True
    """False: the environment says where the workspace is."""

    def __call__(self, *arguments: str | Path, encoding: str = "utf-8", stdin: bytes | None = None) -> Ran:
        """Run in this process, on streams of `encoding`; without `stdin` on this process's own."""
        streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n") for _ in range(2)]
        with redirect_stdout(streams[0]), redirect_stderr(streams[1]), _standard_input(stdin, encoding):
            code = run(self._spelled(arguments))
        out, err = (_content(stream, encoding) for stream in streams)
        return Ran(code=code, out=out, err=err)

    def apart(
        self,
        *arguments: str | Path,
        environment: Mapping[str, str] | None = None,
        encoding: str = "utf-8",
        stdin: bytes = b"",
    ) -> Ran:
        """Run in a process of its own."""
        done = subprocess.run(
            [*PROGRAM, *self._spelled(arguments)],
            input=stdin,
            capture_output=True,
            env={**os.environ, **(environment or {})},
            timeout=60,
            check=False,
        )
        return Ran(code=done.returncode, out=done.stdout.decode(encoding), err=done.stderr.decode(encoding))

    def begin(self, *arguments: str | Path) -> subprocess.Popen[bytes]:
        """Begin a process of its own and leave it running."""
        return subprocess.Popen(
            [*PROGRAM, *self._spelled(arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def _spelled(self, arguments: tuple[str | Path, ...]) -> list[str]:
        spelled = list(map(str, arguments))
        takes_workspace = self.is_named and not spelled[0].startswith("-")
        return [*spelled, "--workspace", str(self.workspace)] if takes_workspace else spelled


def write_documents(folder: Path, documents: Mapping[str, str]) -> Path:
    for name, text in documents.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


@contextmanager
def _standard_input(data: bytes | None, encoding: str) -> Iterator[None]:
    before = sys.stdin
    if data is not None:
        sys.stdin = io.TextIOWrapper(io.BytesIO(data), encoding=encoding)
    try:
        yield
    finally:
        sys.stdin = before


def _content(stream: io.TextIOWrapper, encoding: str) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode(encoding)
