"""Workspaces with something in them, compiled once and copied for whoever changes them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.e2e.command_line import CommandLine, write_documents
from tests.e2e.paid import one_shop as one_shop
from tests.e2e.paid import shop as shop
from tests.e2e.texts import DOCUMENTS


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """English, and nothing of the machine's own settings."""
    for name in ("CORPUS2SKILL_HOME", "CORPUS2SKILL_CORPUS", "CORPUS2SKILL_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CORPUS2SKILL_LANG", "en")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    """The command line over a workspace that is not there yet."""
    return CommandLine(workspace=tmp_path / "ワークスペース")


@pytest.fixture(params=["ja", "en"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def _compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """For each language a folder with `documents` and a `workspace` of one version."""
    made: dict[str, Path] = {}
    for language, texts in DOCUMENTS.items():
        home = tmp_path_factory.mktemp(f"compiled-{language}")
        documents = write_documents(home / "documents", texts)
        ran = CommandLine(workspace=home / "workspace")("compile", documents)
        assert ran.code == 0, ran.err
        made[language] = home
    return made


@pytest.fixture
def compiled(_compiled: dict[str, Path], language: str, tmp_path: Path) -> CommandLine:
    """The command line over a compiled workspace of one's own, in both languages."""
    return _copied(_compiled[language], tmp_path)


@pytest.fixture
def english(_compiled: dict[str, Path], tmp_path: Path) -> CommandLine:
    """The same in English alone, where the language makes no difference."""
    return _copied(_compiled["en"], tmp_path)


@pytest.fixture
def japanese(_compiled: dict[str, Path], tmp_path: Path) -> CommandLine:
    """The same in Japanese alone."""
    return _copied(_compiled["ja"], tmp_path)


def _copied(home: Path, tmp_path: Path) -> CommandLine:
    shutil.copytree(home / "workspace", tmp_path / "workspace")
    return CommandLine(workspace=tmp_path / "workspace")
