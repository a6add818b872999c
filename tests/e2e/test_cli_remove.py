"""`remove`: a document leaves the corpus, and stays away."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from corpus2skill.adapters.store.version_files import FileVersionStore
from corpus2skill.application.compile_engine import silent
from corpus2skill.application.compile_options import CompileOptions
from corpus2skill.application.paid_compile import nobody
from corpus2skill.application.remove_documents import Removal, remove_documents
from corpus2skill.application.wiring import Workspace, open_workspace
from corpus2skill.domain.run import RunRecord
from corpus2skill.ports.store import RecordFilter
from corpus2skill.settings import load_settings
from tests.e2e.command_line import CommandLine, write_documents

MARKER = "ヒヨドリ計画"
DOCUMENTS = {
    "規約.md": "# 利用規約\n\n## 第1条（解約）\n\n年額プランの解約は、契約管理画面から行うものとします。日割りの返金はありません。\n",
    "料金.md": "# 料金表\n\n基本料金は月額1,200円です。超過分は従量で加算します。\n",
    "社外秘/計画.md": f"# {MARKER}の概要\n\n{MARKER}では、来年の四月に新しい店舗を三つ開きます。予算は二千万円です。\n",
}


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    return write_documents(tmp_path / "documents", DOCUMENTS)


@pytest.fixture
def cli(cli: CommandLine, documents: Path) -> CommandLine:
    """A workspace whose corpus has been asked about the marked document."""
    assert cli("compile", documents).code == 0
    assert cli("ask", f"{MARKER}の予算はいくらですか？").code == 0
    assert cli("ask", "年額プランの解約はどこから行いますか？").code == 0
    return cli


def live_bytes(cli: CommandLine) -> bytes:
    """Every file of the active version, one behind the other."""
    lines = cli("versions", "--json").json["versions"]
    (active,) = (line["version"] for line in lines if line["is_active"])
    found = _bytes_below(cli.workspace / "corpora" / "default" / "versions" / str(active))
    assert "利用規約".encode() in found
    return found


def _bytes_below(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.mark.requirement("P-19")
def test_nothing_of_a_removed_document_is_left_in_the_live_version(cli: CommandLine) -> None:
    """Field report 7: also when only deletions happened."""
    ran = cli("remove", "社外秘/計画.md", "--json")
    assert (ran.code, ran.json["version"], ran.json["removed"]) == (0, 2, ["社外秘/計画.md"])
    assert MARKER.encode() not in live_bytes(cli)
    assert cli("check").code == 0


@pytest.mark.requirement("P-19")
def test_a_removed_document_stays_out_while_its_file_is_there(cli: CommandLine, documents: Path) -> None:
    """Nobody who deletes expects the nightly compile to bring it back."""
    cli("remove", "社外秘/計画.md")
    ran = cli("compile", documents, "--json")
    verdicts = {source["source"]: source["verdict"] for source in ran.json["sources"]}
    assert verdicts["社外秘/計画.md"] == "excluded"
    assert (ran.code, ran.json["is_new"]) == (0, False)


def test_a_folder_is_removed_with_all_in_it(cli: CommandLine) -> None:
    """A folder's name means the documents below it."""
    assert cli("remove", "社外秘/").code == 0
    assert MARKER.encode() not in live_bytes(cli)


def test_a_document_can_be_let_in_again(cli: CommandLine) -> None:
    """What was taken out by mistake comes back as it was."""
    cli("remove", "社外秘/計画.md")
    assert cli("remove", "社外秘/計画.md", "--undo").code == 0
    assert MARKER.encode() in live_bytes(cli)
    again = cli("remove", "社外秘/計画.md", "--undo", "--json")
    assert (again.code, again.json["error"]["code"]) == (5, "source_not_excluded")


def test_a_name_that_no_document_has_is_refused_with_those_like_it(cli: CommandLine) -> None:
    """Rule 21: what was wanted, what came, what to do."""
    ran = cli("remove", "計画.md", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (5, "source_not_found")
    assert "社外秘/計画.md" in ran.json["error"]["message"]


def test_the_last_document_cannot_be_removed(cli: CommandLine) -> None:
    """An empty tree would answer nothing: the version before stays."""
    cli("remove", "社外秘/計画.md")
    ran = cli("remove", "規約.md", "料金.md", "--yes", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (4, "no_readable_source")
    assert "規約.md" in {
        source["source"]
        for source in cli("compile", "--json").json["sources"]
        if source["verdict"] == "accepted"
    }


@pytest.mark.requirement("P-20")
def test_a_purge_takes_it_out_of_old_versions_and_records_too(cli: CommandLine) -> None:
    """design.md: `--purge` also out of old versions and records, and says which citations no longer open."""
    ran = cli("remove", "社外秘/計画.md", "--purge", "--yes", "--json")
    assert (ran.code, ran.json["versions"]) == (0, [1])
    assert len(ran.json["records"]) + len(ran.json["unopened"]) == 2
    assert ran.json["records"]
    assert MARKER.encode() not in _bytes_below(cli.workspace)
    assert cli("records", "verify").code == 0
    assert cli("versions", "--json").json["versions"][0]["version"] == 2


@pytest.mark.requirement("P-20")
def test_a_purge_after_a_plain_removal_finishes_it(cli: CommandLine) -> None:
    """A removal that was cut off, or was meant further, is finished by the same command."""
    cli("remove", "社外秘/計画.md")
    ran = cli("remove", "社外秘/計画.md", "--purge", "--yes")
    assert ran.code == 0
    assert MARKER.encode() not in _bytes_below(cli.workspace)


class Stopped(BaseException):
    """The process ends here."""


class StoppedAtOldVersions(FileVersionStore):
    """The real store, in a process that ends when it is about to remove a version."""

    def remove(self, corpus: str, version: int) -> None:
        raise Stopped


@pytest.mark.requirement("P-20")
def test_a_purge_that_was_cut_off_is_finished_by_the_same_command(cli: CommandLine) -> None:
    """What is known of the documents stands in the old versions: they go after everything else."""
    workspace = opened(cli)
    with pytest.raises(Stopped):
        purge(replace(workspace, versions=StoppedAtOldVersions(workspace.path)))
    assert MARKER.encode() in _bytes_below(cli.workspace)
    assert purge(workspace).versions == (1,)
    assert MARKER.encode() not in _bytes_below(cli.workspace)


@pytest.mark.requirement("P-20")
def test_a_purge_beside_a_run_says_so_and_is_finished_when_the_run_has_ended(cli: CommandLine) -> None:
    """design.md: `--purge` also out of records; what a run has read becomes a record only at its end."""
    workspace = opened(cli)
    run = run_of_the_marked_document(workspace)
    records = workspace.records()
    records.open_run(run.ids, run, lease_seconds=600)
    first = purge(workspace)
    assert (first.versions, first.under_way) == ((), 1)
    records.close_run(run)
    again = purge(workspace)
    assert (again.versions, again.under_way, again.records) == ((1,), 0, (run.ids.run,))
    records.close()
    assert MARKER.encode() not in _bytes_below(cli.workspace)


def opened(cli: CommandLine) -> Workspace:
    return open_workspace(cli.workspace, load_settings(cli.workspace))


def purge(workspace: Workspace) -> Removal:
    return asyncio.run(
        remove_documents(
            workspace,
            CompileOptions(is_confirmed=True),
            ("社外秘/計画.md",),
            silent,
            confirm=nobody,
            is_purge=True,
        )
    )


def run_of_the_marked_document(workspace: Workspace) -> RunRecord:
    """A second run that reads what the first one of the fixture has read."""
    records = workspace.records()
    (*_, first) = records.records("local", RecordFilter())
    records.close()
    ids = replace(first.ids, run=workspace.ids.new("run"), session=workspace.ids.new("session"))
    return replace(first, ids=ids)


@pytest.mark.requirement("P-20")
def test_a_purge_finds_the_text_under_an_earlier_name_and_in_what_branches_were_called(
    cli: CommandLine, documents: Path
) -> None:
    """A renamed document's text lies in older versions; every first turn was shown what its group is about."""
    assert cli("ask", "ありがとう").code == 0
    (documents / "社外秘" / "計画.md").rename(documents / "社外秘" / "新計画.md")
    assert cli("compile").code == 0
    asked = cli("remove", "社外秘/新計画.md", "--purge", "--json")
    assert (asked.code, asked.json["error"]["code"]) == (2, "purge_not_confirmed")
    assert cli("remove", "社外秘/新計画.md", "--purge", "--yes").code == 0
    assert MARKER.encode() not in _bytes_below(cli.workspace)
    assert cli("records", "verify").code == 0
