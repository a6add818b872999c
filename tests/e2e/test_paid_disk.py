"""Full disks and crowded workspaces: nothing that was paid for is lost, the live version stays."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.e2e.command_line import CommandLine, write_documents
from tests.e2e.paid import Shop, rules
from tests.fakes.providers import Script
from tests.fakes.providers.behaviour import stalled
from tests.fakes.providers.script import Asked, Rule


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own with little room."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.requirement("P-18")
def test_a_disk_that_fills_while_results_are_kept_is_said_and_nothing_is_lost(
    one_shop: Shop, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bad input: a full disk while storing a result."""
    monkeypatch.setenv("CORPUS2SKILL_CONCURRENCY", "2")
    shop = Shop(
        provider="anthropic",
        server=one_shop.server,
        cli=CommandLine(workspace=small_disk / "workspace"),
        documents=one_shop.documents,
    )
    assert shop.cli("compile", shop.documents).code == 0
    ballast = small_disk / "ballast"
    shop.server.script = Script().add(_at_call(12, lambda: _fill(ballast)))
    ran = shop.paid("--json")
    assert (ran.code, ran.json["error"]["code"]) == (8, "disk_full"), ran.err
    assert "Traceback" not in ran.err
    ballast.unlink()
    kept = shop.results()
    assert 0 < kept <= len(shop.answered)
    assert shop.active() == 1
    assert shop.is_sound()
    shop.server.script = Script()
    shop.server.calls.clear()
    assert shop.paid().code == 0
    assert shop.purposes()["summarize"] == len(list(shop.documents.rglob("*.md"))) - kept


@pytest.mark.requirement("P-18")
def test_a_disk_that_takes_no_larger_file_is_said_and_nothing_is_lost(one_shop: Shop) -> None:
    """The same where no disk can be mounted: a limit on the size of files."""
    write_documents(one_shop.documents, rules(80))
    assert one_shop.begin("--yes", file_limit=110_000).end() == 8
    kept = one_shop.results()
    assert 0 < kept <= len(one_shop.answered)
    one_shop.server.calls.clear()
    assert one_shop.paid().code == 0
    assert one_shop.purposes().get("summarize", 0) == len(list(one_shop.documents.rglob("*.md"))) - kept


@pytest.mark.requirement("P-18")
def test_a_second_process_on_the_same_corpus_is_busy_at_once_and_pays_nothing(one_shop: Shop) -> None:
    """Bad input: two processes on one workspace."""
    one_shop.server.script = Script().on_call(3, stalled())
    first = one_shop.begin("--yes")
    while len(one_shop.calls) < 3:
        first.process.join(0.01)
        assert first.process.is_alive()
    before = len(one_shop.calls)
    one_shop.server.script = Script()
    ran = one_shop.paid("--json")
    assert (ran.code, ran.json["error"]["code"]) == (6, "busy_pid")
    others = {call.digest for call in one_shop.calls[before:]} & {
        call.digest for call in one_shop.calls[:before]
    }
    assert not others
    first.signal(signal.SIGKILL)
    first.end()
    assert one_shop.paid().code == 0


def _at_call(number: int, act: Callable[[], None]) -> Rule:
    def rule(asked: Asked) -> None:
        if asked.call.number == number:
            act()

    return rule


def _fill(ballast: Path) -> None:
    """Write until the disk takes no more byte."""
    file = os.open(ballast, os.O_WRONLY | os.O_CREAT)
    for size in (65536, 4096, 1):
        with suppress(OSError):
            while True:
                os.write(file, b"-" * size)
    os.close(file)
