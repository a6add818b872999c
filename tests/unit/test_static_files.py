"""What browsers fetch: how much it is, and that every sentence that a script says is there."""

from __future__ import annotations

import posixpath
import re
from importlib import resources
from pathlib import Path

import pytest

from corpus2skill.entrypoints.web.screens import PLACES, SCREENS
from corpus2skill.entrypoints.web.static_files import static_files
from corpus2skill.messages import LANGUAGES, messages_below

MOST = 60_000
FOLDER = Path(str(resources.files("corpus2skill.entrypoints.web")))
SAID = re.compile(r"""\bt\(\s*(["'`])((?:(?!\1).)*)\1""")
QUOTED = re.compile(r"""["'`]([a-z0-9_]+(?:\.[a-z0-9_]+)+|[a-z_]+)["'`]""")
MADE = re.compile(r"`([a-z0-9_.]+)\$\{")


@pytest.mark.requirement("W-72")
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("script", [screen.script for screen in SCREENS])
def test_what_a_screen_fetches_is_small(script: str, language: str) -> None:
    """Issue 7: scripts and styles, compressed, under 60 KB."""
    needed = {"style.css", "mark.svg", f"messages.{language}.js"}
    for entry in (f"pages/{script}.js", "head.js", "stream_worker.js"):
        _add(entry, needed)
    assert sum(len(static_files()[name].packed) for name in needed) < MOST


@pytest.mark.requirement("W-72")
def test_a_script_that_is_sent_has_no_comments_and_all_its_lines_of_code() -> None:
    """It is read by nobody; what is between the comments stays."""
    sent = static_files()["dom.js"].content.decode("utf-8")
    assert "//" not in sent.replace("http://", "")
    assert "export function h(name, props = {}, ...children) {\nconst made =" in sent
    for file in (FOLDER / "static").rglob("*.js"):
        for line in file.read_text(encoding="utf-8").splitlines():
            assert line.count("`") % 2 == 0, (
                f"{file.name}: a text over several lines would lose its indentation"
            )


@pytest.mark.requirement("W-73")
def test_every_sentence_that_is_said_exists() -> None:
    """Issue 7: one set of keys."""
    known = _known()
    missing: list[str] = []
    for file in _scripts():
        for _, key in SAID.findall(file.read_text(encoding="utf-8")):
            beginning, is_made, _ = key.partition("${")
            if not (any(name.startswith(beginning) for name in known) if is_made else key in known):
                missing.append(f"{file.name}: {key}")
    for file in (FOLDER / "templates").glob("*.html"):
        said = re.findall(r'say\("ui\.([a-z0-9_.]+)"[,)]', file.read_text(encoding="utf-8"))
        missing.extend(f"{file.name}: {key}" for key in said if key not in known)
    assert missing == []


@pytest.mark.requirement("W-73")
def test_no_sentence_of_the_screens_is_left_unsaid() -> None:
    """A sentence that nobody says is fetched by everybody."""
    text = "\n".join(file.read_text(encoding="utf-8") for file in _scripts())
    said = set(QUOTED.findall(text))
    said |= {f"title.{screen.script}" for screen in SCREENS} | {f"nav.{place.name}" for place in PLACES}
    for file in (FOLDER / "templates").glob("*.html"):
        said |= set(re.findall(r'say\("ui\.([a-z0-9_.]+)"', file.read_text(encoding="utf-8")))
    made = {beginning for beginning in MADE.findall(text) if beginning.endswith((".", "_"))}
    unsaid = [key for key in _own() if key not in said and not any(key.startswith(one) for one in made)]
    assert unsaid == []


@pytest.mark.requirement("W-73")
def test_no_japanese_stands_in_a_script_or_a_template() -> None:
    """interfaces.md: sentences live in the messages. The names of the languages are the same in both."""
    texts = {
        name: file.content.decode("utf-8") for name, file in static_files().items() if name.endswith(".js")
    }
    texts |= {file.name: file.read_text(encoding="utf-8") for file in (FOLDER / "templates").glob("*.html")}
    found = [
        f"{name}: {word}"
        for name, text in texts.items()
        if not name.startswith("messages.")
        for word in re.findall(r"[\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff]+", text)
        if word not in ("日本語", "日本")
    ]
    assert found == []


def _scripts() -> list[Path]:
    return sorted((FOLDER / "static").rglob("*.js"))


def _own() -> list[str]:
    return [name.removeprefix("ui.") for name in messages_below("ja", ("ui.",))]


def _known() -> set[str]:
    return {name.removeprefix("ui.") for name in messages_below("ja", ("ui.", "outcome.", "verdict."))}


def _add(name: str, to: set[str]) -> None:
    """Add a script and all that it imports."""
    if name in to:
        return
    to.add(name)
    for path in re.findall(r'(?:from|import)\s+"(\.[^"]+)"', static_files()[name].content.decode("utf-8")):
        _add(posixpath.normpath(posixpath.join(posixpath.dirname(name), path)), to)
