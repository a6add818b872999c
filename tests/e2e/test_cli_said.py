"""What the commands tell a newcomer: in order, in words, and nothing that is not so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.e2e.command_line import PROGRAM, CommandLine, write_documents
from tests.e2e.paid import Shop, rules, spent
from tests.e2e.terminal import terminal
from tests.fakes.providers import Script
from tests.fakes.providers.behaviour import fails

QUESTION = "出張の申請はいつまでですか？"


def test_a_compile_with_nothing_to_summarise_does_not_speak_of_summaries(
    cli: CommandLine, tmp_path: Path
) -> None:
    """`0/0` looks like a fault."""
    documents = write_documents(tmp_path / "documents", rules(5))
    assert "summarize 5/5" in cli("compile", documents).err
    again = cli("compile", documents)
    assert "summarize" not in again.err
    assert "0/0" not in again.err


def test_a_document_that_was_only_renamed_is_neither_new_nor_gone(cli: CommandLine, tmp_path: Path) -> None:
    """The name is all that changed, and both names are told."""
    documents = write_documents(tmp_path / "documents", rules(5))
    cli("compile", documents)
    (documents / "解約" / "0000.md").rename(documents / "解約" / "新しい名.md")
    ran = cli("compile", documents)
    assert "documents +0 -0 changed 0 renamed 1;" in ran.out
    assert "  > 解約/0000.md -> 解約/新しい名.md" in ran.out
    assert cli("diff", "1", "2", "--json").json["sources_renamed"] == [["解約/0000.md", "解約/新しい名.md"]]


@pytest.mark.parametrize(
    ("language", "unset", "seconds"), [("en", "not set", "300 s"), ("ja", "設定なし", "300 秒")]
)
def test_settings_are_shown_in_words_and_told_raw_to_programs(
    cli: CommandLine, language: str, unset: str, seconds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`None` and `300.0` are for programs."""
    monkeypatch.setenv("CORPUS2SKILL_LANG", language)
    assert cli("config", "set", "max_cost", "2.5").code == 0
    shown = cli("config").out
    assert re.search(rf"^base_url +{unset} ", shown, re.MULTILINE)
    assert re.search(rf"^reply_seconds +{seconds} ", shown, re.MULTILINE)
    assert re.search(r"^max_cost +\$2\.50 ", shown, re.MULTILINE)
    assert "None" not in shown
    raw = cli("config", "--json").json["settings"]
    assert (raw["base_url"]["value"], raw["reply_seconds"]["value"]) == (None, 300.0)


@pytest.mark.requirement("P-19")
def test_taking_out_most_of_a_corpus_needs_a_yes(cli: CommandLine, tmp_path: Path) -> None:
    """design.md: if more than a fifth of the sources would go, switching needs `--yes`."""
    documents = write_documents(tmp_path / "documents", rules(4))
    cli("compile", documents)
    most = ("解約", "料金/0001.md", "出張/0002.md")
    ran = cli("remove", *most, "--json")
    assert (ran.code, ran.json["error"]["code"]) == (2, "many_sources_removed")
    assert ran.json["error"]["values"] == {"gone": 3, "had": 4, "first": "出張/0002.md"}
    assert len(cli("versions", "--json").json["versions"]) == 1
    assert cli("remove", "解約/0000.md").code == 0, "one document that is named is no slip"
    assert cli("remove", *most[1:], "--yes").code == 0


@pytest.mark.requirement("P-19")
@pytest.mark.parametrize(("answer", "code", "versions"), [("n", 2, 1), ("y", 0, 2)])
def test_in_a_terminal_taking_out_much_is_asked_about(
    cli: CommandLine, tmp_path: Path, answer: str, code: int, versions: int
) -> None:
    """A person who is there is asked."""
    cli("compile", write_documents(tmp_path / "documents", rules(20)))
    removing = [*PROGRAM, "remove", "解約", "料金", "出張", "--workspace", str(cli.workspace)]
    with terminal(removing, {}) as shown:
        assert "6 of 20 documents will be taken out" in shown.wait_for("[y/N] ")
        shown.enter(answer)
        assert shown.end() == code, shown.text
    assert len(cli("versions", "--json").json["versions"]) == versions


def test_the_verdict_of_doctor_comes_last_and_is_on_the_models_too(one_shop: Shop) -> None:
    """Whoever reads that all is sound reads no further."""
    one_shop.cli("compile", one_shop.documents)
    sound = one_shop.cli("doctor", "--model", one_shop.provider)
    assert sound.code == 0
    assert sound.out.splitlines()[-1] == "Everything is sound."
    assert "JSON reply" in sound.out
    one_shop.server.script = Script().always(fails("authentication"))
    broken = one_shop.cli("doctor", "--model", one_shop.provider)
    assert broken.code != 0
    assert "Everything is sound." not in broken.out


@pytest.mark.requirement("P-06")
def test_calls_that_an_interrupted_compile_paid_for_are_named_by_the_next(one_shop: Shop) -> None:
    """They are in no report of their own, where the process was killed."""
    assert one_shop.compile("--max-cost", "0.012").code == 11
    before = len(one_shop.answered)
    ran = one_shop.paid()
    found = re.search(r"interrupted runs: (\d+) calls \(saved now: \$(\d\.\d+)\)", ran.out)
    assert found, ran.out
    assert int(found[1]) == before
    assert 0 < float(found[2]) <= 0.012
    elsewhere = one_shop.elsewhere("other").paid("--json")
    assert {line["saved"] for line in elsewhere.json["spending"]} == {0}
    again = spent(one_shop.paid("--regroup", "--json"))
    assert again["group"]["saved"] > 0


@pytest.mark.requirement("P-06")
def test_an_evaluation_shows_what_compile_and_answers_cost(one_shop: Shop, tmp_path: Path) -> None:
    """A paid run says what it came to, here as elsewhere."""
    pack = tmp_path / "pack"
    write_documents(pack / "corpus", rules(5))
    question = {"id": "q1", "question": QUESTION, "gold_docs": ["出張/0002.md"], "unanswerable": False}
    (pack / "questions.jsonl").write_text(json.dumps(question, ensure_ascii=False), encoding="utf-8")
    evaluating = ("eval", pack, "--model", one_shop.provider, "--yes")
    first = one_shop.cli(*evaluating)
    assert first.code == 0, first.err
    assert re.search(r"^  summaries +anthropic:\S+ +5 ", first.out, re.MULTILINE), first.out
    assert re.search(r"^  answers +anthropic:\S+ +[1-9]", first.out, re.MULTILINE), first.out
    again = one_shop.cli(*evaluating, "--json")
    assert [line["purpose"] for line in again.json["spending"]] == ["navigate"]
    assert again.json["spending"][0]["dollars"] == pytest.approx(again.json["scores"]["usd_total"])
    offline = one_shop.cli("eval", pack, "--model", "offline")
    assert "Calls to models" not in offline.out


def test_who_answers_is_said_where_a_corpus_was_compiled_by_a_model(one_shop: Shop) -> None:
    """The offline engine is the default; nobody should take its quotations for the model's answer."""
    assert one_shop.paid().code == 0
    ran = one_shop.cli("ask", QUESTION, "--json")
    assert "The offline engine answers" in ran.err.splitlines()[0]
    assert "--model anthropic:" in ran.err.splitlines()[0]
    assert "offline engine" not in one_shop.cli("ask", QUESTION, "--model", "offline").err
    assert "offline engine" not in one_shop.cli("ask", QUESTION, "--model", one_shop.provider).err
    one_shop.cli("compile", one_shop.documents, "--model", "offline", "--regroup")
    assert "offline engine" not in one_shop.cli("ask", QUESTION).err


def test_the_engine_without_a_model_has_one_name() -> None:
    """design.md, words: one word per thing, in code, screens and docs."""
    root = Path(__file__).parent.parent.parent
    files = [*(root / "docs").rglob("*.md"), *root.glob("*.md"), *(root / "src").rglob("*.json")]
    assert files
    named = {file.name for file in files for word in _OTHER_NAMES if word in file.read_text("utf-8").lower()}
    assert named == set()


_OTHER_NAMES = (
    "埋め込みエンジン",
    "embedded engine",
    "組み込みエンジン",
    "built-in engine",
    "オフラインエンジン",
)
