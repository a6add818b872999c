"""A real server: `corpus2skill serve` in a process of its own, asked over loopback."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

COMMAND = (sys.executable, "-m", "corpus2skill.entrypoints.cli.main", "serve", "--json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    text: str

    def json(self) -> Any:
        return json.loads(self.text)


class ServerProcess:
    """Begun at once; returns when it answers. To be used in a `with`."""

    def __init__(self, home: Path, *options: str, environment: Mapping[str, str] | None = None) -> None:
        self.errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - closed with the server
        self.process = subprocess.Popen(
            [*COMMAND, "--workspace", str(home), "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env={**os.environ, "CORPUS2SKILL_LANG": "en", **(environment or {})},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line.startswith('{"url"'):
            log = line + self.process.stdout.read() + self.log()
            self.__exit__()
            raise AssertionError(log)
        self.told = json.loads(line)
        self.address = urlsplit(self.told["url"])

    def __enter__(self) -> ServerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.errors.close()

    def ask(self, method: str, path: str, headers: Mapping[str, str] | None = None) -> Reply:
        connection = http.client.HTTPConnection(self.address.hostname or "", self.address.port, timeout=30)
        try:
            connection.request(method, self.address.path + path, headers=dict(headers or {}))
            answer = connection.getresponse()
            return Reply(status=answer.status, headers=answer.headers, text=answer.read().decode("utf-8"))
        finally:
            connection.close()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ask it to stop and return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout=60)

    def log(self) -> str:
        self.errors.seek(0)
        return self.errors.read()

    def children(self) -> list[int]:
        """Ids of the processes that it began."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(child) for child in path.read_text(encoding="ascii").split()]
