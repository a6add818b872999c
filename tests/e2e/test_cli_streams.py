"""What goes where, in which encoding and language."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import corpus2skill
from corpus2skill.entrypoints.cli import exit_codes
from tests.e2e.command_line import PROGRAM, CommandLine, write_documents
from tests.e2e.texts import ANNUAL, DOCUMENTS


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_answered_without_importing_anything_heavy(flag: str) -> None:
    """design.md: under 0.3 s of CPU, answered before heavy imports."""
    program = (
        "import sys; sys.argv = ['corpus2skill', sys.argv[1]];"
        "from corpus2skill.entrypoints.cli.main import main; main();"
        "print(sorted({'typer', 'rich', 'numpy', 'asyncio', 'sqlalchemy', 'dataclasses'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program, flag], capture_output=True, text=True, check=True)
    assert done.stdout == f"corpus2skill {corpus2skill.__version__}\n[]\n"


def test_every_command_has_help_with_an_example(cli: CommandLine) -> None:
    """house-style.md, rule 42: one line, examples that run."""
    listed = cli("--help").out.partition("Commands:")[2].split("\n\n")[0].strip().splitlines()
    names = [line.split()[0] for line in listed]
    assert len(names) == 27
    unnamed = replace(cli, is_named=False)  # a group of commands has no workspace of its own
    for name in names:
        assert f"\n  corpus2skill {name}" in unnamed(name, "--help").out, name


@pytest.mark.parametrize("encoding", ["cp932", "ascii", "utf-8"])
def test_nothing_breaks_on_a_stream_that_lacks_characters(compiled: CommandLine, encoding: str) -> None:
    """Issue: fit for `PYTHONIOENCODING=cp932`."""
    for command in (
        ("tree",),
        ("get", "doc_chunk_1"),
        ("doctor",),
        ("ask", ANNUAL["ja"]),
        ("ask", ANNUAL["en"]),
    ):
        ran = compiled(*command, encoding=encoding)
        assert ran.code in {0, 9}, ran.err


def test_json_stays_json_on_a_stream_that_lacks_characters(compiled: CommandLine) -> None:
    """A program reads the same document whatever the encoding."""
    for path in ("SKILL.md", "doc_chunk_1"):
        wanted = compiled("get", path, "--json").json
        assert compiled("get", path, "--json", encoding="cp932").json == wanted
        assert compiled("get", path, "--json", encoding="ascii").json == wanted


def test_cp932_loses_no_japanese_and_spells_the_rest_by_its_nearest(
    english: CommandLine, tmp_path: Path
) -> None:
    """A Japanese Windows console shows Japanese; `›` and `—` become `>` and `-`."""
    text = "髙橋—担当 › 窓口 ① 〜 ㈱ 😀 é\n" * 3
    file = write_documents(tmp_path, {"x.txt": text}) / "x.txt"
    assert "髙橋-担当 > 窓口 ① ～ ㈱ ? ?" in english("extract", file, encoding="cp932").out


def test_a_real_process_speaks_cp932_in_and_out(japanese: CommandLine) -> None:
    """Issue: `PYTHONIOENCODING=cp932`."""
    ran = japanese.apart(
        "ask",
        "-",
        environment={"PYTHONIOENCODING": "cp932", "CORPUS2SKILL_LANG": "ja"},
        encoding="cp932",
        stdin=ANNUAL["ja"].encode("cp932"),
    )
    assert ran.code == 0
    assert "出典:" in ran.out
    assert "探索の起点" in ran.err


def test_a_real_process_works_in_the_c_locale(japanese: CommandLine) -> None:
    """Containers and cron have no locale."""
    environment = {"LC_ALL": "C", "LANG": "C", "CORPUS2SKILL_LANG": ""}
    ran = japanese.apart("ask", ANNUAL["ja"], "--json", environment=environment)
    assert ran.json["question"] == ANNUAL["ja"]


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({"CORPUS2SKILL_LANG": "ja"}, "エラー: "),
        ({"CORPUS2SKILL_LANG": "en", "LANG": "ja_JP.UTF-8"}, "Error: "),
        ({"CORPUS2SKILL_LANG": "", "LC_ALL": "ja_JP.UTF-8"}, "エラー: "),
        ({"CORPUS2SKILL_LANG": "", "LC_ALL": "C"}, "Error: "),
    ],
    ids=str,
)
def test_errors_are_in_the_reader_s_language(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], wanted: str
) -> None:
    """Issue: output and errors in Japanese or English (locale or `CORPUS2SKILL_LANG`)."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cli("tree").err.startswith(wanted)


def test_a_reader_that_goes_away_is_no_fault(cli: CommandLine, tmp_path: Path) -> None:
    """Issue: fit for pipes, as `corpus2skill extract FILE | head -1`."""
    file = write_documents(tmp_path, {"long.txt": "A line of a long document.\n\n" * 20_000}) / "long.txt"
    running = cli.begin("extract", file)
    assert running.stdout is not None
    assert running.stderr is not None
    running.stdout.readline()
    running.stdout.close()
    errors = running.stderr.read().decode()
    running.stderr.close()
    assert (running.wait(timeout=60), errors) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_an_output_that_takes_no_more_is_named(english: CommandLine) -> None:
    """A redirection to a full disk is no fault of the program."""
    command = [*PROGRAM, "tree", "--json", "--workspace", str(english.workspace)]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60
        )
    assert done.returncode == 8
    assert done.stderr.startswith("Error: Cannot read or write stdout")
    assert "Traceback" not in done.stderr


def test_control_characters_do_not_reach_the_terminal(english: CommandLine) -> None:
    """A stranger's question may not steer the auditor's terminal."""
    english("ask", "refund \x1b[2J for the annual plan?")
    for command in (("records",), ("records", "show", "run_")):
        ran = english(*command)
        assert "␛[2J" in ran.out
        assert "\x1b" not in ran.out


def test_a_closed_stderr_does_not_stop_an_answer(english: CommandLine) -> None:
    """The article: a lost listener changes nothing."""
    command = [*PROGRAM, "ask", ANNUAL["en"], "--workspace", str(english.workspace)]
    done = subprocess.run(
        ["sh", "-c", '"$@" 2>&-', "sh", *command], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0
    assert "Sources:" in done.stdout
    assert len(english("records", "--json").json) == 1


def test_json_is_all_there_is_on_stdout(cli: CommandLine, tmp_path: Path) -> None:
    """Issue: the answer on stdout and the rest on stderr."""
    documents = write_documents(tmp_path / "d", DOCUMENTS["ja"])
    for command in (
        ("compile", documents),
        ("ask", ANNUAL["ja"]),
        ("get", "SKILL.md"),
        ("tree",),
        ("corpora",),
        ("versions",),
        ("activate", "1"),
        ("diff", "1", "1"),
        ("check",),
        ("prune",),
        ("records",),
        ("records", "verify"),
        ("extract", documents / "料金.csv"),
        ("config",),
        ("config", "set", "corpus", "default"),
        ("config", "unset", "corpus"),
        ("doctor",),
    ):
        ran = cli(*command, "--json")
        assert ran.code == 0, command
        assert ran.json is not None
        assert "\\u" not in ran.out


def test_the_workspace_may_be_named_by_the_environment(
    english: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: `--workspace` or `CORPUS2SKILL_HOME` elsewhere."""
    monkeypatch.setenv("CORPUS2SKILL_HOME", str(english.workspace))
    assert (
        CommandLine(workspace=english.workspace, is_named=False)("corpora", "--json").json[0]["corpus"]
        == "default"
    )


@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("ask", "--help"), ("corpora",)])
def test_a_full_standard_output_is_said_without_a_traceback(
    cli: CommandLine, arguments: tuple[str, ...]
) -> None:
    """Issue: documented exit codes, whatever takes the output."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, check=False, cwd=cli.workspace.parent
        )
    assert done.returncode == (exit_codes.OK if arguments == ("corpora",) else exit_codes.WORKSPACE)
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [("--version",), ("tree",), ("ask", "-"), ("compile",), ("check",)])
def test_closed_streams_are_no_fault_and_damage_no_file(
    english: CommandLine, arguments: tuple[str, ...]
) -> None:
    """Issue: fit for pipes. A file opened next may not get the number of a closed stream."""
    spelled = shlex.join([*PROGRAM, *arguments])
    done = subprocess.run(
        ["sh", "-c", f"{spelled} <&- >&- 2>&-"],
        env={**os.environ, "CORPUS2SKILL_HOME": str(english.workspace)},
        check=False,
    )
    assert done.returncode == (exit_codes.USAGE if arguments == ("ask", "-") else exit_codes.OK)
    assert english("check").code == exit_codes.OK


@pytest.mark.parametrize(
    "arguments", [("compile", ""), ("tree", "--workspace", ""), ("extract", ""), ("eval", "")]
)
def test_an_empty_path_is_not_the_current_folder(cli: CommandLine, arguments: tuple[str, ...]) -> None:
    """Issue, bad input: an unset variable of a script compiles nothing by mistake."""
    ran = replace(cli, is_named=False)(*arguments)
    assert ran.code == exit_codes.USAGE
    assert "empty" in ran.err
