"""A workspace whose files are damaged: what is said, and that doing as it says mends it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from corpus2skill.entrypoints.cli import exit_codes
from tests.e2e.command_line import CommandLine
from tests.e2e.texts import ANNUAL

VERSION = Path("corpora/default/versions/1")


def _delete(file: Path) -> None:
    file.unlink()


def _cut(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])


def _fill_with_zeros(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def _drop_first_line(file: Path) -> None:
    file.write_bytes(file.read_bytes().partition(b"\n")[2])


DAMAGES = (_delete, _cut, _fill_with_zeros, _drop_first_line)
FILES = (
    "manifest.json",
    "files.jsonl",
    "sources.jsonl",
    "chunks.jsonl",
    "chunks.idx",
    "texts.jsonl",
    "tree/default/SKILL.md",
    "tree/default/*/SKILL.md",
    "tree/default/*/doc_chunk_1.md",
    "lexical/*.json",
    "lexical/posting_leaves*",
)


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_active_version_is_named_and_regroup_replaces_it(english: CommandLine, name: str) -> None:
    """Issue, bad input: check names the file, a clear message, and the message's advice works."""
    whole = english.workspace.with_name("whole")
    shutil.copytree(english.workspace, whole)
    for damage in DAMAGES:
        shutil.rmtree(english.workspace)
        shutil.copytree(whole, english.workspace)
        file = next((english.workspace / VERSION).glob(name))
        damage(file)

        compiled = english("compile")
        assert (compiled.code, compiled.out) == (exit_codes.DAMAGED, ""), damage
        assert file.name in compiled.err
        assert "--regroup" in compiled.err
        assert english("check").code == exit_codes.DAMAGED
        assert english("diff", "1", "1").code in (exit_codes.OK, exit_codes.NO_SUCH_THING, exit_codes.DAMAGED)
        regrouped = english("compile", "--regroup")
        assert regrouped.code == exit_codes.OK, regrouped.err
        assert english("check").code == exit_codes.OK
        assert english("ask", ANNUAL["en"]).code == exit_codes.OK


def test_a_version_whose_folder_is_gone_is_told_from_one_that_never_was(english: CommandLine) -> None:
    """Issue, bad input: a clear message and the right exit code."""
    shutil.rmtree(english.workspace / VERSION)
    for command in (("ask", ANNUAL["en"]), ("tree",), ("compile",)):
        ran = english(*command)
        assert ran.code == exit_codes.DAMAGED
        assert "manifest.json" in ran.err
    assert english("compile", "--regroup").code == exit_codes.OK
    assert english("check").code == exit_codes.OK


def test_a_hand_edited_node_is_not_carried_into_the_next_version(
    english: CommandLine, tmp_path: Path
) -> None:
    """Issue, a hand-edited version: an edit may not get a hash of its own by a recompile."""
    node = english.workspace / VERSION / "tree/default/SKILL.md"
    node.write_text(node.read_text(encoding="utf-8").replace("# ", "# Hacked ", 1), encoding="utf-8")
    more = tmp_path / "more.txt"
    more.write_text("Opening hours\n\nThe desk is open from nine to five on weekdays.", encoding="utf-8")
    assert english("compile", more, "--yes").code == exit_codes.DAMAGED
    assert english("compile", more, "--yes", "--regroup").code == exit_codes.OK
    assert "Hacked" not in english("get", "SKILL.md").out


def test_a_file_that_a_file_manager_leaves_in_a_version_stops_nothing(english: CommandLine) -> None:
    """The article: people open the tree and look; check still says what does not belong."""
    (english.workspace / VERSION / "tree/default/.DS_Store").write_bytes(b"\0")
    assert english("check").code == exit_codes.DAMAGED
    assert english("compile").code == exit_codes.OK
    assert english("activate", "1").code == exit_codes.OK


@pytest.mark.parametrize("rubbish", [b"", b"2", b'{"version": "1"}', b"\xff\0"])
def test_a_damaged_pointer_leaves_the_lists_that_help_to_choose(english: CommandLine, rubbish: bytes) -> None:
    """Issue, bad input: the message's advice can be followed."""
    (english.workspace / "corpora/default/active").write_bytes(rubbish)
    listed = english("versions", "--json")
    assert (listed.code, listed.json["versions"][0]["version"]) == (exit_codes.DAMAGED, 1)
    assert "activate" in listed.json["error"]
    corpora = english("corpora", "--json")
    assert (corpora.code, corpora.json[0]["active"]) == (exit_codes.DAMAGED, None)
    assert "activate" in english("compile").err
    assert english("activate", "1").code == exit_codes.OK
    assert english("compile").code == exit_codes.OK


def test_regroup_mends_a_damaged_pointer_too(english: CommandLine) -> None:
    """Design, recompiling: --regroup starts afresh."""
    (english.workspace / "corpora/default/active").write_bytes(b"{")
    assert english("compile", "--regroup").code == exit_codes.OK
    assert english("versions", "--json").json["versions"][0]["is_active"] is True


@pytest.mark.parametrize("name", ["workspace.json", "corpora/default/config.json", "records.db"])
def test_a_damaged_file_of_the_workspace_says_that_it_may_be_removed(english: CommandLine, name: str) -> None:
    """Issue, bad input: a clear message, and nothing lost but what the file held."""
    english("ask", ANNUAL["en"])
    documents = json.loads((english.workspace / "corpora/default/config.json").read_text("utf-8"))["paths"]
    file = english.workspace / name
    file.write_bytes(b"\0" * 8192)
    command = ("records",) if name == "records.db" else ("compile",)
    refused = english(*command)
    assert refused.code == exit_codes.DAMAGED
    assert str(file) in refused.err
    file.unlink()
    assert english("compile", *documents).code == exit_codes.OK
    assert english("ask", ANNUAL["en"]).code == exit_codes.OK
    assert english("records", "verify").code == exit_codes.OK


def test_a_damaged_version_is_not_rolled_back_to(english: CommandLine, tmp_path: Path) -> None:
    """The article, Step 6: what people see is always a whole version."""
    more = tmp_path / "more.txt"
    more.write_text("Opening hours\n\nThe desk is open from nine to five on weekdays.", encoding="utf-8")
    assert english("compile", more, "--yes").code == exit_codes.OK
    _cut(next((english.workspace / VERSION).glob("tree/default/*/doc_chunk_1.md")))
    rolled = english("rollback")
    assert rolled.code == exit_codes.DAMAGED
    assert "doc_chunk_1.md" in rolled.err
    assert english("versions", "--json").json["versions"][0]["is_active"] is True


def _numbers(cli: CommandLine, version: int) -> dict[str, str]:
    """Chunk id to text, of one version."""
    nodes = cli("tree", "--at", str(version), "--json").json["nodes"]
    leaves = [node["path"] for node in nodes if node["is_leaf"]]
    return {
        path.rpartition("/")[2]: cli("get", path, "--at", str(version)).out.partition("\n---\n")[2]
        for path in leaves
    }


def test_a_chunk_number_is_never_given_to_another_text(cli: CommandLine, tmp_path: Path) -> None:
    """Design, chunk ids: not after --no-activate, rollback, a lost pointer or a pruned version either."""
    document = tmp_path / "documents" / "hours.txt"
    document.parent.mkdir()
    seen: dict[str, str] = {}
    steps: tuple[tuple[str, ...], ...] = (
        ("compile", str(document.parent)),
        ("compile", "--no-activate"),
        ("compile", "--no-activate"),
        ("prune", "--yes"),
        ("compile",),
        ("rollback",),
        ("compile",),
    )
    for number, step in enumerate(steps):
        document.write_text(
            f"Opening hours\n\nRoom {number} opens at {number + 7} every day.", encoding="utf-8"
        )
        assert cli(*step).code == exit_codes.OK
        for version in cli("versions", "--json").json["versions"]:
            for name, text in _numbers(cli, version["version"]).items():
                assert seen.setdefault(name, text) == text
    (cli.workspace / "corpora/default/active").unlink()
    document.write_text("Opening hours\n\nAnother room opens at noon.", encoding="utf-8")
    assert cli("compile").code == exit_codes.OK
    assert not set(_numbers(cli, cli("versions", "--json").json["versions"][0]["version"])) & set(seen)
