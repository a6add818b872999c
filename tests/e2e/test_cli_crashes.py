"""Killed, crowded, full: the live version is always whole, and the next compile succeeds."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpus2skill.application.compile_documents import compile_documents
from corpus2skill.application.compile_options import CompileOptions
from corpus2skill.application.wiring import open_workspace
from corpus2skill.domain.job import CompileEvent, SourceJudged
from corpus2skill.settings import Settings
from tests.e2e.command_line import PROGRAM, CommandLine, write_documents
from tests.e2e.texts import ANNUAL, DOCUMENTS

QUICK, SOAK = 3, 20


def _many(rounds: int) -> dict[str, str]:
    """Twenty documents whose texts differ from round to round."""
    return {
        f"部/{number}.md": f"# 規程{number}\n\n第{rounds}版。"
        + "".join(
            f"\n\n## 第{part}条\n\n規程{number}の第{part}条は、項目{number * part}を定める。" * 3
            for part in range(1, 9)
        )
        for number in range(20)
    }


def _sweep(cli: CommandLine, documents: Path, kills: int) -> None:
    chance = random.Random(7)
    began = time.monotonic()
    assert cli.apart("compile", write_documents(documents, _many(0))).code == 0
    whole = time.monotonic() - began
    for number in range(1, kills + 1):
        write_documents(documents, _many(number))
        running = cli.begin("compile", documents)
        try:
            running.communicate(timeout=chance.uniform(0.2, 1.0) * whole)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGKILL)
            running.communicate()
        checked = cli("check", "--json")
        assert (checked.code, checked.json["faults"]) == (0, [])
        assert cli("get", "SKILL.md").code == 0
    ran = cli("compile", documents, "--json")
    assert ran.code == 0, ran.err
    assert cli("check").code == 0
    assert not list((cli.workspace / "corpora/default/versions").glob(".*"))


@pytest.mark.requirement("C-31")
def test_a_killed_compile_leaves_the_live_version_whole(cli: CommandLine, tmp_path: Path) -> None:
    """Issue: kill -9 at random moments of a compile."""
    _sweep(cli, tmp_path / "d", QUICK)


@pytest.mark.soak
def test_a_compile_killed_at_twenty_moments_leaves_the_live_version_whole(
    cli: CommandLine, tmp_path: Path
) -> None:
    """Issue: kill -9 at 20 random moments of a compile."""
    _sweep(cli, tmp_path / "d", SOAK)


@pytest.mark.requirement("C-32")
def test_a_corpus_that_is_being_compiled_is_busy_and_still_read(english: CommandLine, tmp_path: Path) -> None:
    """Issue: two compiles of one corpus at once: one is refused clearly."""
    documents = write_documents(tmp_path / "d", DOCUMENTS["en"])
    workspace = open_workspace(english.workspace, Settings())
    with workspace.versions.exclusive("default"):
        ran = english.apart("compile", documents, "--json")
        assert (ran.code, ran.json["error"]["code"]) == (6, "busy_pid")
        assert str(os.getpid()) in ran.err
        assert english("ask", ANNUAL["en"]).code == 0
    assert english("compile", documents).code == 0


@pytest.mark.requirement("C-32")
def test_two_compiles_at_once_never_mix(cli: CommandLine, tmp_path: Path) -> None:
    """Issue: one waits or is refused clearly; never a mixed tree."""
    folders = [write_documents(tmp_path / name, _many(number)) for number, name in enumerate("ab")]
    running = [cli.begin("compile", folder) for folder in folders]
    for process in running:
        process.communicate(timeout=60)
    codes = sorted(process.returncode for process in running)
    assert codes in ([0, 0], [0, 6])
    assert cli("check").code == 0
    active = cli("corpora", "--json").json[0]["active"]
    leaves = (cli.workspace / f"corpora/default/versions/{active}/tree").rglob("doc_*.md")
    editions = {
        edition for leaf in leaves for edition in ("第0版", "第1版") if edition in leaf.read_text("utf-8")
    }
    assert len(editions) == 1


def test_a_file_that_vanishes_in_the_middle_is_named(tmp_path: Path) -> None:
    """Issue: a file that vanishes in the middle. A few files are read ahead, so that there are more before it."""
    before = {f"{number:02}.txt": f"{number} 番目のお知らせです。" for number in range(20)}
    documents = write_documents(tmp_path / "d", {**before, **DOCUMENTS["ja"]})

    def listener(event: CompileEvent) -> None:
        if isinstance(event, SourceJudged):
            (documents / "案内/営業時間.txt").unlink(missing_ok=True)

    workspace = open_workspace(tmp_path / "w", Settings())
    report = asyncio.run(compile_documents(workspace, CompileOptions(paths=[documents]), listener))
    verdicts = {source.source: source.verdict for source in report.reports}
    accepted = dict.fromkeys([*before, "利用規約.md", "料金.csv"], "accepted")
    assert verdicts == {**accepted, "案内/営業時間.txt": "vanished"}
    assert CommandLine(workspace=tmp_path / "w")("check").code == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 300 kB, where one may be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(place)], capture_output=True, check=False
    )
    yield place if mounted.returncode == 0 else tmp_path / "none"
    if mounted.returncode == 0:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_full_disk_is_said_and_the_live_version_stays(small_disk: Path, tmp_path: Path) -> None:
    """Issue: a workspace on a full disk; nothing lost."""
    cli = CommandLine(workspace=small_disk / "w")
    if not small_disk.exists():
        _limited_files(CommandLine(workspace=tmp_path / "w"), tmp_path)
        return
    assert cli("compile", write_documents(tmp_path / "few", DOCUMENTS["en"])).code == 0
    ran = cli("compile", write_documents(tmp_path / "many", _many(1)), "--yes", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (8, "disk_full")
    _is_as_it_was(cli)


def test_a_read_only_disk_is_said_and_still_read(small_disk: Path, tmp_path: Path) -> None:
    """Issue: a workspace on a read-only disk. An answer that cannot be recorded is not given."""
    if not small_disk.exists():
        return  # as an ordinary user meets it: test_cli_bad_input.py
    cli = CommandLine(workspace=small_disk / "w")
    documents = write_documents(tmp_path / "few", DOCUMENTS["en"])
    assert cli("compile", documents).code == 0
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    for command in (("compile", documents), ("ask", ANNUAL["en"]), ("config", "set", "corpus", "terms")):
        ran = cli(*command, "--json")
        assert ran.code == 8, command
        assert ran.json["error"]["code"] in {"read_only", "no_rights"}  # SQLite does not tell them apart
    assert cli("doctor", "--json").json["workspace"]["is_writable"] is False
    _is_as_it_was(cli)


def test_a_disk_that_allows_no_large_file_is_said_and_the_live_version_stays(
    cli: CommandLine, tmp_path: Path
) -> None:
    """Issue: a workspace on a full disk, where none can be mounted."""
    _limited_files(cli, tmp_path)


def _limited_files(cli: CommandLine, tmp_path: Path) -> None:
    assert cli("compile", write_documents(tmp_path / "few", DOCUMENTS["en"])).code == 0
    command = [*PROGRAM, "compile", str(write_documents(tmp_path / "many", _many(1))), "--yes"]
    limited = ["sh", "-c", 'ulimit -f 16; "$@"', "sh", *command, "--workspace", str(cli.workspace)]
    done = subprocess.run(limited, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 8, done.stderr
    assert "Traceback" not in done.stderr
    _is_as_it_was(cli)


def _is_as_it_was(cli: CommandLine) -> None:
    assert cli("check").code == 0
    assert cli("corpora", "--json").json == [{"corpus": "default", "active": 1, "versions": 1, "error": None}]
    assert cli("get", "SKILL.md").code == 0


def test_an_interrupted_compile_says_so_and_can_be_run_again(cli: CommandLine, tmp_path: Path) -> None:
    """Ctrl-C is no fault: code 130, no traceback."""
    long = {f"{round_}/{name}": text for round_ in range(30) for name, text in _many(round_).items()}
    documents = write_documents(tmp_path / "d", long)
    running = cli.begin("compile", documents)
    while not (cli.workspace / "corpora/default/compile.lock").exists() and running.poll() is None:
        os.sched_yield()
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Interrupted." in errors.decode()
    assert "Traceback" not in errors.decode()
    assert cli("compile", documents).code == 0
