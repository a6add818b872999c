"""Compiling again: only what changed is paid for, and everything else stays as it is, byte for byte."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.command_line import CommandLine, write_documents
from tests.e2e.paid import Shop, opened, rule, rules, spent


@pytest.fixture(scope="module", params=[250, pytest.param(1000, marks=pytest.mark.soak)])
def many(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """Many documents in a tree of several levels, compiled once."""
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("many")
        with opened("anthropic", home, rules(request.param), patch) as shop:
            ran = shop.paid("--json", "--max-children", "6", "--max-leaves", "10")
            assert ran.code == 0, ran.err
            assert shop.purposes()["summarize"] == request.param
            yield shop


@pytest.fixture
def large(many: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """A copy of the compiled many that may be changed; the server's calls so far are forgotten."""
    monkeypatch.setenv("CORPUS2SKILL_LANG", "en")
    documents = Path(shutil.copytree(many.documents, tmp_path / "documents"))
    shutil.copytree(many.cli.workspace, tmp_path / "workspace")
    many.server.calls.clear()
    return replace(many, cli=CommandLine(workspace=tmp_path / "workspace"), documents=documents)


@pytest.mark.requirement("P-13")
def test_an_edit_of_one_document_of_many_costs_its_summary_its_place_and_its_ancestors(
    large: Shop,
) -> None:
    """Issue: only its changed chunks, their placing and their ancestors cost calls; all else stays byte-identical."""
    before = large.nodes(1)
    name = "解約/0200.md"
    write_documents(large.documents, {name: rule(200, "改定により、電話での申請も受け付ける。")})
    assert large.paid().code == 0
    after = large.nodes(2)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    leaves = {path for path in changed if "/doc_" in path}
    branches = changed - leaves
    folders = {path.rpartition("/")[0] for path in leaves}
    assert len(leaves) == 2, "the old leaf and the new one"
    ancestors = {f"{'/'.join(folder.split('/')[:n])}/SKILL.md" for folder in folders for n in range(2, 9)}
    assert branches <= ancestors
    costs = large.purposes()
    assert costs.pop("summarize") == 1
    assert costs.pop("place", 0) <= 1
    assert costs.pop("describe", 0) <= len(ancestors & set(after)) - 1, (
        "the root has no description of its own"
    )
    assert costs == {}
    assert large.server.calls.paid_twice == []
    assert large.is_sound()


@pytest.mark.requirement("P-13")
def test_a_renamed_file_costs_nothing(large: Shop) -> None:
    """Issue: a renamed file costs nothing."""
    old = large.documents / "解約/0200.md"
    old.rename(large.documents / "解約/別名.md")
    assert large.paid().code == 0
    assert large.calls == []
    assert large.is_sound()


@pytest.mark.requirement("P-13")
def test_the_same_files_again_cost_nothing_and_make_no_version(large: Shop) -> None:
    """design.md, section 6: the same call is answered from the store."""
    ran = large.paid("--json")
    assert (ran.code, ran.json["is_new"], ran.json["version"], large.calls) == (0, False, 1, [])


@pytest.mark.requirement("P-13")
def test_another_corpus_of_the_same_documents_is_answered_from_the_store(large: Shop) -> None:
    """design.md, section 6: in this job or any later one."""
    narrow = ("--max-children", "6", "--max-leaves", "10")
    ran = large.paid("--corpus", "second", "--title", "default", "--json", *narrow)
    assert (ran.code, large.calls) == (0, [])
    assert spent(ran)["summarize"]["reused"] == len(list(large.documents.rglob("*.md")))
    assert sum(line["dollars"] for line in ran.json["spending"]) == 0


@pytest.mark.requirement("P-13")
def test_a_compile_without_any_version_left_is_answered_from_the_store(shop: Shop) -> None:
    """Versions are thrown away more lightly than money."""
    assert shop.paid().code == 0
    first = shop.files()
    shutil.rmtree(shop.cli.workspace / "corpora")
    shop.server.calls.clear()
    assert shop.paid().code == 0
    assert shop.answered == []
    assert shop.files() == first


@pytest.mark.requirement("P-14")
def test_each_role_has_its_own_model_where_that_is_said(
    one_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue, ports: separate models for summaries and grouping."""
    models = ("--summary-model", "anthropic:claude-haiku-4-5", "--grouping-model", "anthropic:claude-opus-5")
    assert one_shop.cli("compile", one_shop.documents, *models, "--yes").code == 0
    assert {str(call.json["model"]) for call in one_shop.answered} == {"claude-haiku-4-5", "claude-opus-5"}
    mixed = one_shop.elsewhere("mixed")
    monkeypatch.setenv("CORPUS2SKILL_SUMMARY_MODEL", "anthropic:claude-sonnet-5")
    one_shop.server.calls.clear()
    ran = mixed.cli("compile", mixed.documents, "--yes", "--json")
    assert {str(call.json["model"]) for call in one_shop.answered} == {"claude-sonnet-5"}
    assert ran.json["manifest"]["engines"]["grouper"].startswith("offline")


@pytest.mark.requirement("P-14")
def test_a_compile_that_names_no_model_never_rewrites_a_paid_tree_offline(one_shop: Shop) -> None:
    """A bare `compile` of the night job must not turn the bought tree into the offline engine's."""
    assert one_shop.paid().code == 0
    ran = one_shop.cli("compile", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (2, "model_not_named")
    assert "--summary-model anthropic:claude-haiku-5-5" in ran.err
    assert one_shop.cli("compile", "--model", "offline").code == 0
    assert one_shop.active() == 2
