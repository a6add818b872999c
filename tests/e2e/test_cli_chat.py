"""`chat`: a conversation in a terminal, and piped."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command_line import PROGRAM, CommandLine, Ran, write_documents
from tests.e2e.terminal import CTRL_D, PASTE, UP, Terminal, terminal
from tests.e2e.texts import ANNUAL, DOCUMENTS, UNKNOWN
from tests.fakes.providers import KEY, ProviderServer
from tests.fakes.providers.behaviour import fails, stalled

MONTHLY = {"ja": "では月額プランは？", "en": "And the monthly plan?"}
ASKED = ANNUAL["en"]


@pytest.mark.requirement("N-60")
def test_piped_questions_are_answered_line_by_line(
    compiled: CommandLine, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """N-60. Empty lines are passed over; the exit code is that of the last question."""
    monkeypatch.setenv("CORPUS2SKILL_LANG", language)
    ran = _piped(compiled, ANNUAL[language], "", UNKNOWN[language])
    assert ran.code == 9
    records = _records(compiled)
    assert [record["question"] for record in records] == [ANNUAL[language], UNKNOWN[language]]
    assert all(record["answer"] in ran.out for record in records)
    assert all(visit["path"] in ran.err for record in records for visit in record["visits"])
    assert "\x1b" not in ran.out + ran.err


@pytest.mark.requirement("N-60")
def test_questions_of_one_chat_are_one_conversation_until_a_new_one_begins(english: CommandLine) -> None:
    """N-60: `/new`."""
    assert _piped(english, ASKED, MONTHLY["en"], "/new", ASKED).code == 0
    first, second, third = (record["ids"] for record in _records(english))
    assert (first["session"], 1, 2) == (second["session"], first["turn"], second["turn"])
    assert third["session"] != first["session"]
    assert third["turn"] == 1


@pytest.mark.requirement("N-60")
def test_no_question_is_no_failure(english: CommandLine) -> None:
    """N-60: nothing in, nothing out."""
    ran = _piped(english)
    assert (ran.code, ran.out, ran.err) == (0, "", "")


@pytest.mark.parametrize("command", ["/trail", "／足跡", "/tr"])
@pytest.mark.requirement("N-61")
def test_the_last_trail_is_shown_whole(english: CommandLine, command: str) -> None:
    """N-61: in either language's word, full-width or begun; each reason whole and what was offered."""
    ran = _piped(english, ASKED, command)
    (record,) = _records(english)
    shown = ran.out.partition(record["answer"])[2]
    assert all(visit["reason"] in shown and visit["path"] in shown for visit in record["visits"])
    assert all(child["title"] in shown for visit in record["visits"] for child in visit["offered"])


@pytest.mark.requirement("N-61")
def test_a_source_is_opened_in_its_place_in_the_original(
    japanese: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """N-61: `/sources` numbers them, `/open` marks the passage and names document, headings and file."""
    documents = write_documents(japanese.workspace.parent / "原本", DOCUMENTS["ja"])
    assert japanese("compile", documents).code == 0
    monkeypatch.setenv("CORPUS2SKILL_LANG", "ja")
    ran = _piped(japanese, ANNUAL["ja"], "/出典", "／開く　１")
    (record,) = _records(japanese)
    assert f"[1] {record['citations'][0]['source']}" in ran.out
    opened = ran.out.rpartition("原本: ")[2].splitlines()
    assert opened[0] == str(documents / "利用規約.md")
    marked = "\n".join(line.removeprefix("│ ") for line in opened if line.startswith("│"))
    assert "年額プランの解約は、契約管理画面の「解約申請」から行うものとし" in marked
    assert any(line.startswith("  ") and "月額プランの解約" in line for line in opened)


@pytest.mark.parametrize("state", ["changed", "gone"])
@pytest.mark.requirement("N-61")
def test_what_became_of_the_original_is_said(english: CommandLine, state: str) -> None:
    """N-61: the version's own text is shown, whatever the file has in it now."""
    documents = write_documents(english.workspace.parent / "originals", DOCUMENTS["en"])
    assert english("compile", documents).code == 0
    file = documents / "terms.md"
    if state == "gone":
        file.unlink()
    else:
        file.write_text("# Other terms", encoding="utf-8")
    shown = _piped(english, ASKED, "/open 1").out
    assert "There is no refund for unused months." in shown.partition("Original:")[2]
    said = {"changed": f"{file} (changed since", "gone": "not where it was compiled from"}[state]
    assert f"Original: {said}" in shown


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("/refund", "no command /refund"),
        ("/s", "/sources  /session"),
        ("/open 99", "no source 99"),
        ("/open x", "/open 1 to /open"),
        ("/", "no command /"),
        ("x" * 10_001, "10001 characters"),
    ],
)
@pytest.mark.requirement("N-61")
def test_what_cannot_be_done_is_explained_and_the_chat_goes_on(
    english: CommandLine, entry: str, said: str
) -> None:
    """N-61: nothing is recorded of it."""
    ran = _piped(english, ASKED, entry, MONTHLY["en"])
    assert said in ran.err
    assert ran.code == 0
    assert [record["question"] for record in _records(english)] == [ASKED, MONTHLY["en"]]


@pytest.mark.requirement("N-61")
def test_commands_before_the_first_question_say_that_nothing_was_asked(english: CommandLine) -> None:
    """N-61."""
    ran = _piped(english, "/trail", "/sources", "/open 1")
    assert ran.err.count("Nothing was asked") == 3
    assert ran.out == ""


@pytest.mark.requirement("N-61")
def test_a_question_may_begin_with_a_slash(english: CommandLine) -> None:
    """N-61: two slashes are one, in a full-width spelling, too."""
    _piped(english, "//terms: is there a refund for the annual plan?", "／／refund of the annual plan?")
    assert [record["question"][:5] for record in _records(english)] == ["/term", "／refu"]


@pytest.mark.requirement("N-60")
def test_bytes_that_are_no_text_are_refused_and_the_chat_goes_on(english: CommandLine) -> None:
    """N-60."""
    ran = english("chat", stdin=b"\xff\xfe\x80\n" + ASKED.encode())
    assert "cannot be read" in ran.err or "UTF-8" in ran.err
    assert [record["question"] for record in _records(english)] == [ASKED]
    assert ran.code == 0


@pytest.mark.requirement("N-60")
def test_a_conversation_is_gone_on_with(english: CommandLine) -> None:
    """N-60: `--session` shows its last turns, and its last sources can be opened at once."""
    _piped(english, ASKED)
    (before,) = _records(english)
    session = before["ids"]["session"]
    ran = _piped(english, "/open 1", MONTHLY["en"], arguments=("--session", session))
    assert ASKED in ran.err
    assert "There is no refund" in ran.out
    assert _records(english)[-1]["ids"] | {"run": ""} == before["ids"] | {"run": "", "turn": 2}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("--session", "session_none"), 5), (("--corpus", "other"), 5), (("--model", "nobody:x"), 2)],
)
@pytest.mark.requirement("N-60")
def test_what_can_never_come_to_an_answer_is_refused_at_once(
    english: CommandLine, arguments: tuple[str, str], code: int
) -> None:
    """N-60: no such conversation, corpus or model."""
    ran = _piped(english, ASKED, arguments=arguments)
    assert (ran.code, ran.out) == (code, "")


@pytest.mark.requirement("N-60")
def test_a_terminal_shows_trail_answer_and_sources_and_ctrl_d_leaves(
    compiled: CommandLine, language: str
) -> None:
    """N-60: in both languages, narrow; it says how to go on."""
    with _chat(compiled, language=language, width=60) as chat:
        chat.wait_for("> ")
        chat.enter(ANNUAL[language])
        shown = _unwrapped(chat.wait_for("doc_chunk_") + chat.wait_for("\n> "))
        chat.press(CTRL_D)
        assert chat.end() == 0
        (record,) = _records(compiled)
        assert all(_unwrapped(visit["reason"]) in shown for visit in record["visits"])
        assert _unwrapped(record["answer"]) in shown
        assert f"--session{record['ids']['session']}" in _unwrapped(chat.text)


@pytest.mark.requirement("N-60")
def test_several_pasted_lines_are_one_question_that_the_arrow_keys_find(english: CommandLine) -> None:
    """N-60: nothing that was typed is written to a file but the records."""
    before = _files(english.workspace)
    with _chat(english) as chat:
        chat.wait_for("> ")
        chat.press(PASTE % b"Is there a refund\nfor the annual plan?")
        chat.enter("")
        chat.wait_for("Answered")
        chat.wait_for("> ")
        chat.press(UP)
        chat.enter("")
        chat.wait_for("Answered")
        chat.enter("/quit")
        assert chat.end() == 0
    assert [record["question"] for record in _records(english)] == [
        "Is there a refund\nfor the annual plan?"
    ] * 2
    assert {name.partition(".db")[0] for name in _files(english.workspace) - before} == {"records"}


@pytest.mark.requirement("N-62")
def test_ctrl_c_at_the_prompt_clears_the_line_and_leaves_when_pressed_twice(english: CommandLine) -> None:
    """N-62: what was typed before it is not asked."""
    with _chat(english) as chat:
        chat.wait_for("> ")
        chat.press(b"half a quest")
        chat.wait_for("half a quest")
        chat.interrupt()
        chat.wait_for("once more")
        chat.wait_for("> ")
        chat.enter("/new")
        chat.wait_for("new conversation")
        chat.wait_for("> ")
        chat.interrupt()
        chat.wait_for("once more")
        chat.wait_for("> ")
        chat.interrupt()
        assert chat.end() == 0
    assert not (english.workspace / "records.db").exists() or _records(english) == []


@pytest.mark.requirement("N-62")
def test_ctrl_c_ends_a_run_and_not_the_chat(english: CommandLine, threaded_anthropic: ProviderServer) -> None:
    """N-62: the run's record says cancelled, with the visits so far; the next question is answered."""
    threaded_anthropic.script.on_call(2, stalled())
    with _chat(english, "--model", "anthropic", environment=_paying(threaded_anthropic)) as chat:
        chat.wait_for("> ")
        chat.enter(ASKED)
        chat.wait_for("2. ")
        chat.interrupt()
        chat.wait_for("Cancelled")
        chat.wait_for("> ")
        chat.enter(ASKED)
        chat.wait_for("Answered")
        chat.press(CTRL_D)
        chat.wait_for("--corpus default")
        chat.wait_for("--model anthropic")
        assert chat.end() == 0
    cancelled, answered = _records(english)
    assert (cancelled["outcome"], answered["outcome"]) == ("cancelled", "answered")
    assert len(cancelled["visits"]) == 2
    assert cancelled["ids"]["session"] == answered["ids"]["session"]


@pytest.mark.requirement("N-60")
def test_a_version_that_is_switched_to_answers_the_next_question(english: CommandLine) -> None:
    """N-60: and it is said; what the older one was asked about still opens as it was."""
    with _chat(english) as chat:
        chat.wait_for("> ")
        chat.enter(ASKED)
        chat.wait_for("Answered")
        documents = write_documents(
            english.workspace.parent / "next",
            {"terms.md": "# Terms\n\nThe annual plan: every refund is paid at once.\n"},
        )
        assert english("compile", documents, "--yes").code == 0
        chat.enter("/open 1")
        chat.wait_for("There is no refund for unused months.")
        chat.enter(ASKED)
        chat.wait_for("Version 2 has taken the place of 1")
        chat.wait_for("every refund is paid at once")
        chat.press(CTRL_D)
        assert chat.end() == 0
    assert [record["ids"]["version"] for record in _records(english)] == [1, 2]


@pytest.mark.parametrize("fault", ["no key", "wrong key", "damaged tree"])
@pytest.mark.requirement("N-62")
def test_failures_are_shown_and_the_chat_goes_on(
    english: CommandLine,
    threaded_anthropic: ProviderServer,
    fault: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """N-62: no key, a provider that refuses it, a damaged tree."""
    environment = _paying(threaded_anthropic)
    if fault == "no key":
        environment["ANTHROPIC_API_KEY"] = ""
    if fault == "wrong key":
        threaded_anthropic.script.always(fails("authentication"))
    if fault == "damaged tree":
        for node in english.workspace.rglob("SKILL.md"):
            node.write_text("?", encoding="utf-8")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    ran = _piped(english, ASKED, "/session", arguments=("--model", "anthropic"))
    assert ran.code in (4, 7, 10)
    assert "Traceback" not in ran.err
    assert KEY not in ran.err + ran.out
    assert "Conversation" in ran.out


def _piped(cli: CommandLine, *entries: str, arguments: tuple[str, ...] = ()) -> Ran:
    return cli("chat", *arguments, stdin="".join(f"{entry}\n" for entry in entries).encode())


@contextmanager
def _chat(
    cli: CommandLine,
    *arguments: str,
    language: str = "en",
    width: int = 100,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Terminal]:
    command = [*PROGRAM, "chat", *arguments, "--workspace", str(cli.workspace)]
    with terminal(command, {"CORPUS2SKILL_LANG": language, **(environment or {})}, width=width) as opened:
        yield opened


def _paying(server: ProviderServer) -> dict[str, str]:
    proxies = {name: "" for name in os.environ if name.lower().endswith("_proxy")}
    return {**proxies, "ANTHROPIC_BASE_URL": server.base_url, "ANTHROPIC_API_KEY": KEY}


def _records(cli: CommandLine) -> list[dict[str, Any]]:
    """Oldest first."""
    ran = cli("records", "export")
    return [json.loads(line) for line in ran.out.splitlines()][::-1]


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def _unwrapped(text: str) -> str:
    return "".join(text.split())
