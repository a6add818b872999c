"""The reference of the command line says what the command line does."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.app import run
from corpus2skill.settings import NAMES

DOCS = Path(__file__).parent.parent.parent / "docs"
SUBCOMMANDS = (
    "records show",
    "records verify",
    "records export",
    "records delete",
    "config set",
    "config unset",
    "tenants list",
    "tenants add",
    "people list",
    "people add",
    "people role",
    "people reset",
    "people remove",
    "tokens list",
    "tokens add",
    "tokens revoke",
    "queue rebuild",
    "keys new",
    "keys rotate",
)
OF_TYPER = {"--help", "--install-completion", "--show-completion"}


@pytest.fixture(params=["ja", "en"])
def reference(request: pytest.FixtureRequest) -> str:
    return (DOCS / request.param / "reference" / "cli.md").read_text(encoding="utf-8")


def test_every_command_has_a_section(reference: str) -> None:
    """house-style.md, rule 43."""
    assert [name for name in _commands() if f"\n## {name}\n" not in reference] == []
    assert [name for name in SUBCOMMANDS if f"corpus2skill {name}" not in reference] == []


def test_every_option_of_every_command_is_there_and_no_other(reference: str) -> None:
    """Issue 2: every command, every option."""
    options = {
        option
        for command in (*_commands(), *SUBCOMMANDS)
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", _help(*command.split()))
    }
    assert options - OF_TYPER - set(re.findall(r"--[a-z][a-z-]+", reference)) == set()
    assert set(re.findall(r"--[a-z][a-z-]+", reference)) - options - {"--help", "--version"} == set()


def test_every_exit_code_is_there_once(reference: str) -> None:
    """Issue 2: documented exit codes."""
    listed = [int(code) for code in re.findall(r"^\| (\d+) \|", reference, re.MULTILINE)]
    assert listed == list(exit_codes.ALL)


def test_every_setting_is_there(reference: str) -> None:
    """`config` is the same in both languages and in the code."""
    assert [name for name in NAMES if f"`{name}`" not in reference] == []


def _commands() -> list[str]:
    listed = _help().partition("Commands:\n")[2].split("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines()]


def _help(*command: str) -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with redirect_stdout(out):
        assert run([*command, "--help"]) == 0
    out.seek(0)
    return out.read()
