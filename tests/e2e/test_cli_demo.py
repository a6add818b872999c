"""`make demo`, and what a person sees on a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from corpus2skill.entrypoints.cli import demo
from tests.e2e.command_line import PROGRAM, write_documents
from tests.e2e.texts import DOCUMENTS


def test_the_demo_compiles_shows_the_tree_and_answers_four_questions(tmp_path: Path) -> None:
    """Issue: compiles the sample corpora, shows the tree, asks, prints the trail of each."""
    done = subprocess.run(
        [sys.executable, "-m", demo.__name__],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.count("$ corpus2skill compile ") == 2
    assert done.stdout.count("$ corpus2skill tree ") == 2
    assert done.stdout.count("$ corpus2skill ask ") == 4
    assert done.stderr.count("\n1. ") == 4
    assert "[1] " in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is a thing of POSIX")
def test_a_terminal_gets_a_bar_for_each_stage(tmp_path: Path) -> None:
    """Issue: all six stages with a progress bar per stage."""
    documents = write_documents(tmp_path / "d", DOCUMENTS["ja"])
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm", "CORPUS2SKILL_LANG": "ja", "NO_COLOR": "1"}
    command = [*PROGRAM, "compile", str(documents), "--workspace", str(tmp_path / "w")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment) as running:
        os.close(theirs)
        shown = _all_from(ours)
    assert running.returncode == 0
    for stage in ("抽出", "分割", "要約", "分類", "書き出し", "切り替え"):
        assert stage in shown
    assert "━" in shown


def _all_from(terminal: int) -> str:
    shown = b""
    try:
        while read := os.read(terminal, 65536):
            shown += read
    except OSError:  # how Linux says that the other end is closed
        pass
    finally:
        os.close(terminal)
    return shown.decode("utf-8")
