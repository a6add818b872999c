"""A throw-away PostgreSQL cluster of Debian's package, on a socket in a folder of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from urllib.parse import quote

import psycopg

_BINARIES = Path("/usr/lib/postgresql")
_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_connections": "200",
    "shared_buffers": "32MB",
}


def binaries() -> Path | None:
    """The folder of the newest release installed; None where there is none."""
    found = sorted(_BINARIES.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


class PostgresCluster:
    """Begun at once, with nothing in it; `new_database` makes an empty one."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        self._folder = Path(tempfile.mkdtemp(prefix="pg-"))  # short: a socket's path has 107 characters
        self._numbers = count(1)
        self._as_user = _unprivileged(self._folder)
        data = str(self._folder / "data")
        self._run("initdb", "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        self.start()

    def start(self) -> None:
        """Begin to answer; returns when it does."""
        options = " ".join(f"-c {name}={value}" for name, value in _SETTINGS.items())
        self._control("start", "-o", f"{options} -k {self._folder}", "-l", str(self._folder / "log"))

    def stop(self, how: str = "immediate") -> None:
        """Cut off whoever is connected; `immediate` as a power cut does."""
        self._control("stop", "-m", how)

    def new_database(self) -> str:
        """Return the URL, for SQLAlchemy, of a new empty database."""
        name = f"test_{next(self._numbers)}"
        with psycopg.connect(self._address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return f"postgresql+psycopg://tester@/{name}?host={quote(str(self._folder))}"

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def _address(self, database: str) -> str:
        return f"host={self._folder} user=tester dbname={database}"

    def _control(self, *arguments: str) -> None:
        self._run("pg_ctl", "-D", str(self._folder / "data"), "-w", *arguments)

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._as_user, str(self._programs / program), *arguments]
        done = subprocess.run(
            command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/", timeout=60
        )
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr.decode(errors='replace')}")


def _unprivileged(folder: Path) -> Sequence[str]:
    """What a command begins with so that it does not run as root, who may not run PostgreSQL."""
    if os.getuid() != 0:
        return ()
    user = pwd.getpwnam("postgres")
    os.chown(folder, user.pw_uid, user.pw_gid)
    return ("setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups")
