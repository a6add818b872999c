"""What the project promises about itself: its words, its files, its outside."""

from __future__ import annotations

import ast
import json
import string
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import corpus2skill

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "corpus2skill"
REGISTRY_HOSTS = ("pypi" + ".org", "python" + "hosted.org", "npm" + "js.org", "crates" + ".io")


def test_every_sentence_has_a_japanese_and_an_english_text() -> None:
    """design.md, section 7: every user-visible string has both, and a test compares the keys."""
    assert _messages("ja").keys() == _messages("en").keys()


def test_both_languages_of_a_sentence_need_the_same_values() -> None:
    """A value missing in one language would break the sentence for half of the readers."""
    japanese, english = _messages("ja"), _messages("en")
    assert {key: _values(text) for key, text in japanese.items()} == {
        key: _values(text) for key, text in english.items()
    }


def test_messages_are_kept_in_the_order_of_their_keys() -> None:
    """So that both files can be read side by side."""
    assert list(_messages("ja")) == list(_messages("en"))


def test_what_the_package_exports_is_sorted_and_there() -> None:
    """house-style.md, rule 41."""
    exported = corpus2skill.__all__
    assert list(exported) == sorted(exported)
    assert [name for name in exported if not hasattr(corpus2skill, name)] == []


def test_the_package_knows_the_version_it_is_released_as() -> None:
    """`--version` and the wheel must not disagree."""
    assert corpus2skill.__version__ == _project()["version"]


def test_everything_an_operator_may_want_is_one_extra() -> None:
    """The README installs `corpus2skill[all]`."""
    assert "all" in _project()["optional-dependencies"]


def test_the_changelog_has_a_place_for_what_is_not_released_yet() -> None:
    """house-style.md, rule 46."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "\n## [Unreleased]\n" in changelog


def test_no_file_says_where_packages_come_from() -> None:
    """design.md, section 7: nothing records where packages come from; the reader's own client decides."""
    named = [
        f"{path.relative_to(ROOT)}: {host}"
        for path in _text_files()
        for host in REGISTRY_HOSTS
        if host in path.read_text(encoding="utf-8")
    ]
    assert named == []


@pytest.mark.parametrize("language", ["", ".ja"])
def test_the_readme_names_the_two_commands(language: str) -> None:
    """Issue: a newcomer clones the project and runs `make demo` and `make test`."""
    readme = (ROOT / f"README{language}.md").read_text(encoding="utf-8")
    assert "make demo" in readme
    assert "make test" in readme


def test_every_text_file_is_opened_with_its_encoding() -> None:
    """house-style.md, rule 32. On Japanese Windows the default is CP932."""
    nameless = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in sorted(SOURCE.rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and _opens_text(call) and not _names_encoding(call)
    ]
    assert nameless == []


def _messages(language: str) -> dict[str, str]:
    return json.loads((SOURCE / "messages" / f"{language}.json").read_text(encoding="utf-8"))


def _values(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def _project() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _text_files() -> Iterator[Path]:
    yield from (path for path in ROOT.iterdir() if path.is_file() and path.suffix in {"", ".md", ".toml"})
    for folder in ("src", "tests", "tools", "docs", "benchmarks", ".ci"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and path.suffix in {"", ".py", ".md", ".json", ".toml", ".xml", ".html"}:
                yield path


def _opens_text(call: ast.Call) -> bool:
    match call.func:
        case ast.Name("open"):
            return "b" not in _mode(call.args[1:], call.keywords)
        case ast.Attribute(attr="read_text" | "write_text"):
            return True
        case ast.Attribute(value=ast.Name("os" | "zipfile" | "tarfile"), attr="open"):
            return False
        case ast.Attribute(attr="open") if _is_mode(call):
            return "b" not in _mode(call.args, call.keywords)
        case _:
            return False


def _is_mode(call: ast.Call) -> bool:
    """`path.open()` and `path.open("w")`; not `archive.open(name)`, which is bytes."""
    return not call.args or (isinstance(call.args[0], ast.Constant) and len(str(call.args[0].value)) <= 2)


def _mode(args: list[ast.expr], keywords: list[ast.keyword]) -> str:
    given = [*args[:1], *(keyword.value for keyword in keywords if keyword.arg == "mode")]
    return next((str(mode.value) for mode in given if isinstance(mode, ast.Constant)), "r")


def _names_encoding(call: ast.Call) -> bool:
    return any(keyword.arg in {"encoding", None} for keyword in call.keywords)
