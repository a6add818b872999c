"""Full disks and crowded workspaces: nothing that was paid for is lost, the live version stays."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.command_line import PROGRAM, CommandLine
from tests.e2e.paid import Shop
from tests.fakes.providers import Script
from tests.fakes.providers.behaviour import stalled


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own with little room."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.requirement("P-18")
def test_a_disk_that_fills_while_results_are_kept_is_said_and_nothing_is_lost(
    one_shop: Shop, small_disk: Path
) -> None:
    """Bad input: a full disk while storing a result."""
    shop = Shop(
        provider="anthropic",
        server=one_shop.server,
        cli=CommandLine(workspace=small_disk / "workspace"),
        documents=one_shop.documents,
    )
    assert shop.cli("compile", shop.documents).code == 0
    ballast = small_disk / "ballast"

    def fill() -> None:
        with ballast.open("wb") as file:
            for size in (4096, 512, 16):
                try:
                    while True:
                        file.write(b"-" * size)
                        file.flush()
                except OSError:
                    continue

    shop.server.script = Script().add(lambda asked: fill() if asked.call.number == 12 else None)  # type: ignore[func-returns-value]
    ran = shop.paid("--json")
    assert (ran.code, ran.json["error"]["code"]) == (8, "disk_full"), ran.err
    assert "Traceback" not in ran.err
    ballast.unlink()
    kept = shop.results()
    assert kept > 0
    assert shop.active() == 1
    assert shop.is_sound()
    shop.server.script = Script()
    shop.server.calls.clear()
    assert shop.paid().code == 0
    assert shop.purposes()["summarize"] == len(list(shop.documents.rglob("*.md"))) - kept


@pytest.mark.requirement("P-18")
def test_a_disk_that_takes_no_larger_file_is_said_and_nothing_is_lost(one_shop: Shop) -> None:
    """The same where no disk can be mounted: a limit on the size of files."""
    command = [*PROGRAM, "compile", str(one_shop.documents), "--model", "anthropic", "--yes"]
    limited = ["sh", "-c", 'ulimit -f 60; "$@"', "sh", *command, "--workspace", str(one_shop.cli.workspace)]
    done = subprocess.run(limited, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 8, done.stderr
    assert "Traceback" not in done.stderr
    kept = one_shop.results()
    one_shop.server.calls.clear()
    assert one_shop.paid().code == 0
    assert one_shop.purposes().get("summarize", 0) == len(list(one_shop.documents.rglob("*.md"))) - kept


@pytest.mark.requirement("P-18")
def test_a_second_process_on_the_same_corpus_is_busy_at_once_and_pays_nothing(one_shop: Shop) -> None:
    """Bad input: two processes on one workspace."""
    one_shop.server.script = Script().on_call(3, stalled())
    first = one_shop.begin("compile", one_shop.documents, "--model", "anthropic", "--yes")
    while len(one_shop.calls) < 3:
        first.process.join(0.01)
        assert first.process.is_alive()
    before = len(one_shop.calls)
    one_shop.server.script = Script()
    ran = one_shop.paid("--json")
    assert (ran.code, ran.json["error"]["code"]) == (6, "busy_pid")
    others = {call.digest for call in one_shop.calls[before:]} & {call.digest for call in one_shop.calls[:before]}
    assert not others
    first.kill()
    first.end()
    assert one_shop.paid().code == 0
