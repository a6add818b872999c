"""A command line that cannot be parsed is answered whole in the reader's language."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stderr, redirect_stdout

import pytest

from corpus2skill.entrypoints.cli.app import run
from corpus2skill.entrypoints.cli.exit_codes import USAGE
from corpus2skill.entrypoints.cli.output import Output
from corpus2skill.entrypoints.cli.usage import usage_sentence
from corpus2skill.settings import LANGUAGE_VARIABLE

WRONG = {
    "ask": "引数 QUESTION がありません。",
    "aks q": "コマンド aks はありません。近いもの: 'ask'",
    "wrong q": "コマンド wrong はありません。",
    "records wrong": "コマンド wrong はありません。",
    "ask q --zzzz": "オプション --zzzz はありません。",
    "ask q --chanel text": "オプション --chanel はありません。近いもの: --channel, --help",
    "ask q -z": "オプション -z はありません。",
    "records --limit": "オプション --limit に値がありません。",
    "ask q --json=1": "オプション --json は値を取りません。",
    "ask q 余分 もう一つ": "余分な引数があります: 余分 もう一つ",
    "ask q --channel x": "'--channel' の値が使えません。「x」ではなく、次のどれかを指定してください: 'text', 'voice'",
    "records -n x": "'--limit' / '-n' の値が使えません。整数を指定してください。",
    "records -n 0": "'--limit' / '-n' の値が使えません。1 以上を指定してください。",
    "activate x": "'VERSION' の値が使えません。整数を指定してください。",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_is_wrong_with_a_command_line_is_said_in_japanese(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """design.md: every user-visible string has both languages. Fails where the parser's wording changes."""
    err = _said(line.split(), "ja", monkeypatch)
    assert err == f"使い方が違います: {WRONG[line]}\ncorpus2skill --help で使い方を確認できます。\n"


@pytest.mark.parametrize("line", WRONG)
def test_and_in_english(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """design.md: both languages."""
    assert not re.search("[ぁ-んァ-ヶ]", _said(line.split(), "en", monkeypatch).replace("余分 もう一つ", ""))


def test_no_command_at_all_gives_the_help_text_and_calls_nothing_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever types the name alone wants to know what there is."""
    assert _said([], "ja", monkeypatch).startswith("Usage: corpus2skill")


@pytest.mark.parametrize("english", ["Something new.", "Invalid value for 'X': something new", ""])
def test_a_sentence_that_is_not_known_is_still_said(english: str) -> None:
    """Another release of the parser may have others."""
    out = Output("ja", is_json=False, out=io.StringIO(), err=io.StringIO())
    assert usage_sentence(out, english).endswith(english.rpartition(": ")[2])


def _said(arguments: list[str], language: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(LANGUAGE_VARIABLE, language)
    written = io.BytesIO()
    err = io.TextIOWrapper(written, encoding="utf-8", newline="\n")
    with redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")), redirect_stderr(err):
        assert run(arguments) == USAGE
    err.flush()
    return written.getvalue().decode("utf-8")
