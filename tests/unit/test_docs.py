"""The documentation says the same in both languages, its links lead somewhere, and what it shows is real.

What the tutorial and the readmes show is run again here. After a change that is meant, write it anew with
`CORPUS2SKILL_UPDATE_DOCS=1 pytest tests/unit/test_docs.py`, then read the difference.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from difflib import unified_diff
from functools import cache
from pathlib import Path

import pytest

from corpus2skill.entrypoints.cli import demo
from corpus2skill.entrypoints.cli.app import run

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(DOCS / "en").as_posix() for page in (DOCS / "en").rglob("*.md"))
ALL_PAGES = [*sorted(DOCS.rglob("*.md")), *sorted(ROOT.glob("*.md"))]
READMES = {"en": ROOT / "README.md", "ja": ROOT / "README.ja.md"}
IS_UPDATING = bool(os.environ.get("CORPUS2SKILL_UPDATE_DOCS"))

_FENCED = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_DEMO = re.compile(r"(<!-- demo output -->\n```console\n)(.*?)(```\n<!-- /demo output -->)", re.DOTALL)
_MESSAGES = re.compile(r"(<!-- messages (\w+) -->\n)(.*?)(<!-- /messages -->)", re.DOTALL)
_RUN_ID = re.compile(r"run_[0-9a-z]{26}")
_CHANCE = (
    (re.compile(r"(run|session)_[0-9a-z]{26}"), r"\1_ID"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "HASH"),
    (re.compile(r"\b\d+ ms$", re.MULTILINE), "N ms"),
    (re.compile(r"\b\d+\.\d (s|秒) "), r"N \1 "),
)
"""What differs each time: ids, times, and hashes of what has times in it."""
_PROGRESS = re.compile(r"(^\S+ \d+/\d+\n)+", re.MULTILINE)
_SHOWN_LINES_OF_TREE = 7
_WITHOUT_TRAIL = " 2>/dev/null"


def test_both_languages_have_the_same_pages() -> None:
    """design.md, section 7: Japanese and English."""
    assert sorted(page.relative_to(DOCS / "ja").as_posix() for page in (DOCS / "ja").rglob("*.md")) == PAGES


@pytest.mark.parametrize("page", PAGES)
def test_both_languages_of_a_page_have_the_same_headings(page: str) -> None:
    """design.md, section 7: Japanese and English. The readmes are held below."""
    assert _heading_levels(DOCS / "ja" / page) == _heading_levels(DOCS / "en" / page)


def test_both_readmes_have_the_same_headings_and_commands() -> None:
    """house-style.md, rule 45: the Japanese one is a mirror."""
    assert _heading_levels(READMES["ja"]) == _heading_levels(READMES["en"])
    without_demo = [_DEMO.sub("", READMES[language].read_text(encoding="utf-8")) for language in ("ja", "en")]
    assert _skeletons(without_demo[0]) == _skeletons(without_demo[1])


@pytest.mark.parametrize("page", PAGES)
def test_both_languages_of_a_page_show_the_same_commands(page: str) -> None:
    """Folders, questions and titles are in the page's language; the commands and options are the same."""
    japanese, english = ((DOCS / language / page).read_text(encoding="utf-8") for language in ("ja", "en"))
    assert _skeletons(japanese) == _skeletons(english)


@pytest.mark.parametrize("readme", READMES.values(), ids=READMES)
def test_a_readme_is_short(readme: Path) -> None:
    """house-style.md, rule 45."""
    assert len(readme.read_text(encoding="utf-8").splitlines()) <= 125


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_relative_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    """A reader who follows a link arrives."""
    assert [link for link in _relative_links(page) if not _resolves(page, link)] == []


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_and_option_shown_exists(page: Path) -> None:
    """house-style.md, rule 43, the other way round: nothing is shown that is not there."""
    text = page.read_text(encoding="utf-8")
    assert [line for line in _command_lines(text) if not _is_known(line)] == []


@pytest.mark.parametrize("language", ["ja", "en"])
def test_the_tutorial_shows_what_its_commands_print(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """house-style.md, rule 44: docs programs run."""
    _prepare(language, tmp_path, monkeypatch)
    page = DOCS / language / "tutorial.md"
    shown = page.read_text(encoding="utf-8")
    shell = _Shell(shown)
    printed = _FENCED.sub(shell.again, shown)
    _hold(page, shown, printed)


@pytest.mark.parametrize("language", ["ja", "en"])
def test_a_readme_shows_what_the_demo_prints(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 2: the two commands with real output, shortened to lines that say so."""
    _prepare(language, tmp_path, monkeypatch)
    excerpt = _excerpt(_output(demo.main)[1], f"terms-{language}")
    shown = READMES[language].read_text(encoding="utf-8")
    _hold(READMES[language], shown, _DEMO.sub(lambda block: block[1] + excerpt + block[3], shown))


@pytest.mark.parametrize("language", ["ja", "en"])
def test_every_error_refusal_notice_and_fault_is_listed_in_its_own_words(language: str) -> None:
    """house-style.md, rule 43: every error is in the docs."""
    page = DOCS / language / "reference" / "errors.md"
    shown = page.read_text(encoding="utf-8")
    _hold(page, shown, _MESSAGES.sub(lambda block: block[1] + _table(language, block[2]) + block[4], shown))


def _prepare(language: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that looks like the project's, with nothing of the machine's own settings."""
    for name in [name for name in os.environ if name.startswith("CORPUS2SKILL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CORPUS2SKILL_LANG", language)
    monkeypatch.chdir(home)
    (home / "src").symlink_to(ROOT / "src")


def _hold(page: Path, shown: str, printed: str) -> None:
    is_same = _without_chance(shown) == _without_chance(printed)
    if IS_UPDATING and not is_same:
        page.write_text(printed, encoding="utf-8")
    elif not is_same:
        changes = unified_diff(
            _without_chance(shown).splitlines(), _without_chance(printed).splitlines(), n=1
        )
        pytest.fail(f"{page} is out of date; see the head of this file.\n" + "\n".join(changes))


def _without_chance(text: str) -> str:
    for pattern, stand_in in _CHANCE:
        text = pattern.sub(stand_in, text)
    return text


class _Shell:
    """Runs the `console` blocks of a page in order and gives each back as it would be printed now."""

    def __init__(self, page: str) -> None:
        self.shown_ids = list(dict.fromkeys(_RUN_ID.findall(page)))
        self.ids: list[str] = []
        self.code = 0

    def again(self, block: re.Match[str]) -> str:
        if block[2] != "console":
            return block[0]
        commands = [line[2:] for line in block[3].splitlines() if line.startswith("$ ")]
        return f"```console\n{''.join(map(self.printed, commands))}```"

    def printed(self, command: str) -> str:
        command = _RUN_ID.sub(self.known_id, command)
        output = self.run(command)
        self.ids = list(dict.fromkeys([*self.ids, *_RUN_ID.findall(output)]))
        return f"$ {command}\n{output}"

    def known_id(self, shown: re.Match[str]) -> str:
        """A run has another id each time: the one that stood in the same place."""
        position = self.shown_ids.index(shown[0]) if shown[0] in self.shown_ids else -1
        return self.ids[position] if position < len(self.ids) else self.ids[-1]

    def run(self, command: str) -> str:
        if command == "echo $?":
            return f"{self.code}\n"
        if command.startswith("corpus2skill "):
            arguments = shlex.split(command.removesuffix(_WITHOUT_TRAIL))[1:]
            self.code, output = _output(lambda: run(arguments), is_both=not command.endswith(_WITHOUT_TRAIL))
            return output
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
        return done.stdout


def _output(main: Callable[[], int], *, is_both: bool = True) -> tuple[int, str]:
    """Run `main` and return its exit code and what comes on a terminal: both streams, or the first alone."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n")
    with redirect_stdout(stream), redirect_stderr(stream if is_both else io.StringIO()):
        code = main()
    stream.seek(0)
    return code, stream.read()


def _excerpt(output: str, corpus: str) -> str:
    """The compile, the top of the tree and the first question of one corpus; `...` where lines are left out."""
    as_from_the_project = output.replace(f"{ROOT}/", "").partition("\n\nGo on with it")[0]
    commands = [f"$ {part}" for part in as_from_the_project.split("\n$ ")[1:] if f"--corpus {corpus}" in part]
    compiled, tree, asked = (
        next(part for part in commands if part.startswith(f"$ corpus2skill {name} "))
        for name in ("compile", "tree", "ask")
    )
    lines = tree.splitlines(keepends=True)[: _SHOWN_LINES_OF_TREE + 1]
    return "".join([_PROGRESS.sub("...\n", compiled), "\n", *lines, "...\n\n", asked.rstrip("\n"), "\n"])


def _table(language: str, kind: str) -> str:
    """The sentences of one kind, by their codes."""
    file = ROOT / "src" / "corpus2skill" / "messages" / f"{language}.json"
    sentences: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    rows = sorted((key, text) for key, text in sentences.items() if key.startswith(f"{kind}."))
    cells = ((key.removeprefix(f"{kind}."), text.replace("|", "\\|")) for key, text in rows)
    lines = [f"| `{code}` | {text} |\n" for code, text in cells]
    heading = {"ja": "| コード | 文 |", "en": "| code | sentence |"}[language]
    return f"{heading}\n|---|---|\n{''.join(lines)}"


def _heading_levels(page: Path) -> list[int]:
    return [len(marks) for marks, _ in _headings(page)]


def _headings(page: Path) -> list[tuple[str, str]]:
    prose = _FENCED.sub("", page.read_text(encoding="utf-8"))
    return re.findall(r"^(#+) (.+)$", prose, re.MULTILINE)


def _skeletons(text: str) -> list[str]:
    """Each command of the code blocks without what is in the page's language: its name and its options."""
    blocks = ((block[2], block[3]) for block in _FENCED.finditer(text) if block[2] in {"", "sh", "console"})
    lines = ((kind, line) for kind, block in blocks for line in _typed(block))
    return [_skeleton(line) for kind, line in lines if kind or line.startswith("corpus2skill ")]


def _typed(block: str) -> Iterator[str]:
    """The lines of a block that a person types: all of them, or those after a prompt."""
    lines = block.splitlines()
    has_prompt = any(line.startswith("$ ") for line in lines)
    yield from (line.removeprefix("$ ") for line in lines if line.startswith("$ ") or not has_prompt)


def _skeleton(line: str) -> str:
    words = re.sub(r"\"[^\"]*\"|'[^']*'", "TEXT", line.partition("  #")[0]).split()
    known = {"corpus2skill", *_commands_of(), *_commands_of("records"), *_commands_of("config"), *words[:1]}
    return " ".join(word for word in words if word in known or word[0] == "-")


def _relative_links(page: Path) -> list[str]:
    prose = _FENCED.sub("", page.read_text(encoding="utf-8"))
    prose = re.sub(r"`[^`\n]*`", "", prose)
    return [link for link in _LINK.findall(prose) if not re.match(r"[a-z]+:", link)]


def _resolves(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path) if path else page
    return target.exists() and (not anchor or anchor in {_anchor(title) for _, title in _headings(target)})


def _anchor(title: str) -> str:
    """The id that a heading gets when Markdown is shown: letters, digits, hyphens for spaces."""
    kept = (char for char in title.lower() if char in " -_" or unicodedata.category(char)[0] in "LNM")
    return "".join(kept).replace(" ", "-")


def _command_lines(text: str) -> Iterator[str]:
    """Every `corpus2skill ...` in code, up to what the shell takes for itself; quoted text left out."""
    code = [block[3] for block in _FENCED.finditer(text) if block[2] in {"", "sh", "console"}]
    inline = re.findall(r"`([^`\n]+)`", _FENCED.sub("", text))
    for part in (*(line for block in code for line in _typed(block)), *inline):
        bare = re.sub(r"\"[^\"]*\"|'[^']*'", "TEXT", part)
        yield from re.findall(r"(?<![\w./-])corpus2skill (?=[a-z-])[^|;&>)#]*", bare)


def _is_known(line: str) -> bool:
    words = line.split()[1:]
    if words[0].startswith("-"):
        return words[0] in _options_of()
    command = words[:2] if len(words) > 1 and words[1] in _commands_of(words[0]) else words[:1]
    if command[0] not in _commands_of():
        return False
    options = {word.partition("=")[0].strip("[]") for word in words if re.match(r"\[?--?[a-z]", word)}
    return options <= _options_of(*command)


@cache
def _commands_of(*command: str) -> frozenset[str]:
    listed = _help(*command).partition("Commands:\n")[2].split("\n\n")[0]
    return frozenset(line.split()[0] for line in listed.splitlines() if line.split())


@cache
def _options_of(*command: str) -> frozenset[str]:
    return frozenset(re.findall(r"(?<![\w-])--?[A-Za-z][a-z-]*", _help(*command)))


@cache
def _help(*command: str) -> str:
    code, output = _output(lambda: run([*command, "--help"]))
    return output if code == 0 else ""
