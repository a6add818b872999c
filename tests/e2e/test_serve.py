"""`corpus2skill serve` as a process: how it begins, what it refuses, how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from corpus2skill.application.server_wiring import new_master_key
from corpus2skill.entrypoints.cli.app import run
from tests.e2e.serving import ServerProcess


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServerProcess, Path]]:
    home = tmp_path_factory.mktemp("serve") / "ホーム"
    with ServerProcess(home, "--root-path", "/docs", "--log-format", "json") as server:
        yield server, home


Refused = Callable[..., tuple[int, str]]


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Refused:
    """Exit code and error code of a server that does not begin; in this process, for it goes no further."""

    def begin(home: Path, *options: str) -> tuple[int, str]:
        code = run(["serve", "--json", "--workspace", str(home), *options])
        told = capsys.readouterr()
        assert "geheim" not in told.out + told.err
        return code, json.loads(told.out)["error"]["code"]

    return begin


def until(holds: Callable[[], bool]) -> None:
    """Wait for another process."""
    for _ in range(600):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it never came about")


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_it_tells_programs_where_it_is_in_one_line(running: tuple[ServerProcess, Path]) -> None:
    """Issue 6: first start without a form; programs read the address and process from one line."""
    server, _ = running
    assert server.told["pid"] == server.process.pid
    assert server.told["url"].startswith("http://127.0.0.1:")
    assert server.told["url"].endswith("/docs")
    assert server.told["sign_in_url"].startswith(server.told["url"] + "/sign-in")


@pytest.mark.requirement("S-08")
def test_it_is_ready_with_its_worker(running: tuple[ServerProcess, Path]) -> None:
    """Issue 6: health and readiness; the worker is a process of its own, behind the door in turn."""
    server, _ = running
    until(lambda: server.ask("GET", "/readyz").status == 200)
    assert server.ask("GET", "/readyz").json()["checks"] == {"database": "ok", "disk": "ok", "worker": "ok"}
    (worker,) = server.children()
    until(
        lambda: os.getpriority(os.PRIO_PROCESS, worker) > os.getpriority(os.PRIO_PROCESS, server.process.pid)
    )


@pytest.mark.requirement("S-09")
def test_a_second_server_on_the_home_is_refused(
    running: tuple[ServerProcess, Path], refused: Refused
) -> None:
    """Two would do the work twice."""
    _, home = running
    assert refused(home, "--port", "0") == (6, "serve_running")


@pytest.mark.requirement("S-09")
def test_what_cannot_work_is_refused_before_anything_begins(
    running: tuple[ServerProcess, Path],
    tmp_path: Path,
    refused: Refused,
) -> None:
    """Port taken, no such address, no such database, the world without accounts: a code each."""
    home = tmp_path / "new"
    taken = str(running[0].address.port)
    assert refused(home, "--port", taken) == (2, "port_in_use")
    assert refused(home, "--port", "0", "--host", "203.0.113.7") == (2, "host_unusable")
    assert refused(home, "--port", "0", "--host", "no such host") == (2, "host_unusable")
    assert refused(home, "--port", "0", "--database-url", "mysql://u:geheim@h/d") == (2, "database_url")
    assert refused(home, "--port", "0", "--root-path", "docs/") == (2, "setting_value")
    assert not home.exists()
    gone = "postgresql://u:geheim@127.0.0.1:1/d"
    assert refused(home, "--port", "0", "--database-url", gone) == (8, "database_gone")
    assert refused(home, "--port", "0", "--host", "0.0.0.0") == (2, "accounts_needed")


@pytest.mark.requirement("S-11")
def test_a_dead_worker_is_begun_again_and_it_is_said(running: tuple[ServerProcess, Path]) -> None:
    """Issue 6: the server lives on."""
    server, _ = running
    until(lambda: server.ask("GET", "/readyz").status == 200)
    (worker,) = server.children()
    os.kill(worker, signal.SIGKILL)
    until(lambda: server.children() not in ([], [worker]))
    until(lambda: server.ask("GET", "/readyz").status == 200)
    lines = [json.loads(line) for line in server.log().splitlines()]
    assert [line["exit_code"] for line in lines if line["event"] == "the worker ended by itself"] == [-9]


@pytest.mark.requirement("S-10")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_in_order_when_it_is_asked_to(tmp_path: Path, number: int) -> None:
    """Issue 6: graceful stop; the worker stops with it, and the home is free again."""
    with ServerProcess(tmp_path / "home") as server:
        until(lambda: server.ask("GET", "/readyz").status == 200)
        (worker,) = server.children()
        assert server.stop(number) == 0
        assert "Traceback" not in server.log()
        assert not is_alive(worker)
    with pytest.raises(ConnectionError), socket.create_connection(("127.0.0.1", server.address.port or 0)):
        pass


@pytest.mark.requirement("S-10")
def test_a_worker_does_not_outlive_a_server_that_was_killed(tmp_path: Path) -> None:
    """Nobody else would end it, and the next server begins one of its own."""
    with ServerProcess(tmp_path / "home") as server:
        until(lambda: bool(server.children()))
        (worker,) = server.children()
        server.process.kill()
        until(lambda: not is_alive(worker))


@pytest.mark.requirement("S-12")
def test_on_postgresql_it_works_and_one_server_holds_the_database(
    tmp_path: Path, postgres_url: str, refused: Refused
) -> None:
    """Issue 6: the same code with PostgreSQL for its state."""
    environment = {
        "CORPUS2SKILL_DATABASE_URL": postgres_url.replace("+psycopg", ""),
        "CORPUS2SKILL_MASTER_KEY": new_master_key(),
    }
    with ServerProcess(tmp_path / "a", environment=environment) as server:
        until(lambda: server.ask("GET", "/readyz").status == 200)
        assert refused(tmp_path / "b", "--port", "0", "--database-url", postgres_url) == (6, "serve_database")
        assert server.stop() == 0
