"""Records from the command line: found, exported, deleted; quotations that do not hold."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import sqlite3
from pathlib import Path

import pytest

from corpus2skill.application.ask import Asking, AskOptions
from corpus2skill.application.wiring import Workspace, open_workspace
from corpus2skill.domain.run import RunIds, RunRecord
from corpus2skill.navigator.run import Navigator
from corpus2skill.navigator.tree_reader import TreeReader
from corpus2skill.settings import Settings
from tests.e2e.command_line import CommandLine
from tests.e2e.paid import Shop
from tests.e2e.texts import ANNUAL, DOCUMENTS, UNKNOWN
from tests.fakes.navigator_model import ScriptedModel, says, wants
from tests.ports.runs import record

HELD = "年額プランの解約は、契約管理画面の『解約申請』から行うものとし"
MADE_UP = "解約後三十日以内であれば全額を返金する"


def ask_scripted(workspace: Workspace, answer: str, leaf: str = "doc_chunk_1") -> RunRecord:
    """Ask a model that reads one leaf and then says `answer`."""

    async def asked() -> RunRecord:
        navigator = Navigator(
            model=ScriptedModel(wants(leaf), says(answer)),
            tree=TreeReader(store=workspace.versions, corpus="default", version=1),
            records=workspace.records(),
            clock=workspace.clock,
            ids=workspace.ids,
            sleep=asyncio.sleep,
            chance=lambda: 0.0,
        )
        async with Asking(workspace, navigator) as asking:
            return await asking.ask(AskOptions(question=ANNUAL["ja"]), lambda _: None)

    return asyncio.run(asked())


@pytest.mark.requirement("N-50")
def test_quotations_that_do_not_hold_are_told_and_recorded(japanese: CommandLine) -> None:
    """N-50. Issue: checked without a model; the record says which hold."""
    workspace = open_workspace(japanese.workspace, Settings())
    made = ask_scripted(workspace, f"「{HELD}」とあり、「{MADE_UP}」ともあります [doc_chunk_1]。")
    assert [(quotation.text, quotation.doc_id) for quotation in made.quotations] == [
        (HELD, "doc_chunk_1"),
        (MADE_UP, None),
    ]
    shown = japanese("records", "show", made.ids.run).out
    assert "Note: not found word for word in the documents that were read:" in shown
    assert f"- in the original (doc_chunk_1): “{HELD}”" in shown
    assert f"- not in the original: “{MADE_UP}”" in shown
    assert japanese("records", "show", made.ids.run, "--json").json["quotations"] == [
        {"text": HELD, "doc_id": "doc_chunk_1", "is_name": False},
        {"text": MADE_UP, "doc_id": None, "is_name": False},
    ]
    (row,) = csv.DictReader(io.StringIO(japanese("records", "export", "--format", "csv").out))
    assert (row["quotations"], row["unheld_quotations"], row["struck_citations"]) == ("2", "1", "0")


@pytest.mark.requirement("N-50")
def test_an_answer_that_quotes_nothing_or_truly_is_told_nothing_of_it(compiled: CommandLine) -> None:
    """N-50. The offline engine quotes what stands there."""
    for question in (*ANNUAL.values(), *UNKNOWN.values()):
        made = compiled("ask", question, "--json").json
        assert [quotation for quotation in made["quotations"] if not _holds(quotation)] == []
    assert "word for word" not in compiled("ask", ANNUAL["ja"]).out
    assert compiled("records", "--doubtful", "--json").json == []


def _holds(quotation: dict[str, object]) -> bool:
    return quotation["doc_id"] is not None or bool(quotation["is_name"])


def test_records_are_filtered_alike_in_lists_and_exports(english: CommandLine) -> None:
    """Field reports, second list, 18: the export of a filtered list has the same count as the list."""
    first = english("ask", ANNUAL["en"], "--user", "tanaka", "--json").json
    english("ask", UNKNOWN["en"], "--user", "sato", "--channel", "voice")
    english("ask", ANNUAL["en"])
    day = first["started_at"][:10]
    for wanted, count in (
        ([], 3),
        (["--user", "tanaka"], 1),
        (["--channel", "voice"], 1),
        (["--door", "web"], 0),
        (["--model", first["model"]], 3),
        (["--at", "1"], 3),
        (["--at", "2"], 0),
        (["--since", day, "--until", day], 3),
        (["--since", first["started_at"]], 3),
        (["--until", first["started_at"]], 0),
        (["--since", "2200-01-01"], 0),
        (["--doubtful"], 0),
        (["--outcome", "answered", "--limit", "1"], 1),
    ):
        assert len(english("records", *wanted, "--json").json) == count, wanted
        lines = english("records", "export", *wanted).out.splitlines()
        assert len(lines) == count, wanted
    assert "User: tanaka" in english("records", "show", first["ids"]["run"]).out
    assert [
        json.loads(line) for line in english("records", "export", "--user", "tanaka").out.splitlines()
    ] == [first]


def test_a_time_that_is_none_is_refused(english: CommandLine) -> None:
    """Bad input: what was wanted, what came, what to do."""
    for text in ("yesterday", "2026-13-01", ""):
        ran = english("records", "--since", text, "--json")
        assert (ran.code, ran.json["error"]["code"]) == (2, "not_a_time")


def test_a_conversation_is_gone_on_with_by_its_own_person_only(english: CommandLine) -> None:
    """Field report 23: sessions belong to callers. Who is not named goes on as the one who began it."""
    session = english("ask", ANNUAL["en"], "--user", "tanaka", "--json").json["ids"]["session"]
    ran = english("ask", ANNUAL["en"], "--session", session, "--user", "sato", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (5, "session_not_found")
    again = english("ask", ANNUAL["en"], "--session", session, "--json").json
    assert (again["user"], again["ids"]["turn"]) == ("tanaka", 2)
    ran = english("ask", ANNUAL["en"], "--user", " ", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (2, "empty_user")


def _bytes_of_records(cli: CommandLine) -> bytes:
    return b"".join(path.read_bytes() for path in Path(cli.workspace).glob("records.db*"))


def test_a_kept_head_is_compared_with_what_is_there(english: CommandLine) -> None:
    """design.md: a cut tail shows against a kept head, which `records verify` prints."""
    english("ask", ANNUAL["en"])
    head = english("records", "verify", "--json").json["head"]
    english("ask", ANNUAL["en"])
    grown = english("records", "verify", "--head", head.upper())
    assert (grown.code, "record 1 of this chain" in grown.out) == (0, True)
    newest = english("records", "verify", "--json").json["head"]
    with sqlite3.connect(Path(english.workspace) / "records.db") as connection:
        connection.execute("DELETE FROM records WHERE seq = 2")
    connection.close()
    assert english("records", "verify").code == 0
    cut = english("records", "verify", "--head", newest)
    assert (cut.code, newest in cut.out) == (7, True)
    wrong = english("records", "verify", "--head", "abc", "--json")
    assert (wrong.code, wrong.json["error"]["code"]) == (2, "not_a_head")


@pytest.mark.requirement("N-52")
@pytest.mark.parametrize("by", ["session", "user", "run"])
def test_what_was_said_is_deleted_for_good_and_the_chain_verifies(english: CommandLine, by: str) -> None:
    """N-52. Issue: deletion of one session or one person's conversations by tombstone."""
    mine = english("ask", "Is there a refund for ZEBRA the annual plan?", "--user", "GIRAFFE", "--json").json
    other = english("ask", ANNUAL["en"], "--user", "sato", "--json").json
    assert b"ZEBRA" in _bytes_of_records(english)
    meant = {"session": mine["ids"]["session"][:25], "user": "GIRAFFE", "run": mine["ids"]["run"][:25]}[by]
    asked = english("records", "delete", f"--{by}", meant)
    assert asked.code == 2
    assert mine["ids"]["run"] in asked.out
    assert "--yes" in asked.err
    assert len(english("records", "--json").json) == 2
    done = english("records", "delete", f"--{by}", meant, "--yes")
    assert done.code == 0
    assert mine["ids"]["run"] in done.out
    assert other["ids"]["run"] not in done.out
    assert [found["ids"]["run"] for found in english("records", "--json").json] == [other["ids"]["run"]]
    left = _bytes_of_records(english)
    assert b"ZEBRA" not in left
    assert b"GIRAFFE" not in left
    assert english("records", "verify").code == 0
    again = english("records", "delete", f"--{by}", meant, "--yes", "--json")
    assert again.code == 5


@pytest.mark.requirement("N-52")
def test_nothing_that_was_said_or_by_whom_is_left_of_a_deleted_record(english: CommandLine) -> None:
    """N-52. What stays is the header: ids, times, how it ended."""
    made = english("ask", ANNUAL["en"], "--user", "GIRAFFE", "--json").json
    deleted = english("records", "delete", "--user", "GIRAFFE", "--yes", "--json").json
    assert deleted == {
        "records": [
            {
                "run": made["ids"]["run"],
                "session": made["ids"]["session"],
                "started_at": made["started_at"],
                "outcome": "answered",
            }
        ],
        "under_way": 0,
        "is_done": True,
    }
    with sqlite3.connect(english.workspace / "records.db") as connection:
        connection.row_factory = sqlite3.Row
        (row,) = map(dict, connection.execute("SELECT * FROM records"))
    connection.close()
    assert (row.pop("payload"), row.pop("user_id")) == (None, None)
    said = (
        made["question"],
        made["answer"],
        made["visits"][1]["title"],
        made["visits"][1]["reason"],
        "GIRAFFE",
    )
    left = _bytes_of_records(english)
    for words in said:
        assert words.encode() not in left
        assert words not in map(str, row.values())


@pytest.mark.requirement("N-52")
def test_a_run_under_way_is_told_of_when_its_conversation_is_deleted(english: CommandLine) -> None:
    """N-52. What has no record yet cannot be deleted, and that is said."""
    made = english("ask", ANNUAL["en"], "--json").json
    store = open_workspace(english.workspace, Settings()).records()
    ids = RunIds(**{**made["ids"], "run": "run_open", "turn": 2})
    opening = record("run_open", session=made["ids"]["session"], turn=2)
    store.open_run(ids, opening, 600)
    ran = english("records", "delete", "--session", made["ids"]["session"], "--yes", "--json")
    assert (ran.code, ran.json["under_way"], len(ran.json["records"])) == (0, 1, 1)
    store.close_run(opening)
    store.close()
    again = english("records", "delete", "--session", made["ids"]["session"], "--yes", "--json")
    assert [line["run"] for line in again.json["records"]] == ["run_open"]


@pytest.mark.parametrize(
    ("options", "code", "error"),
    [
        ([], 2, "delete_what"),
        (["--run", "run_1", "--user", "x"], 2, "delete_what"),
        (["--user", ""], 2, "empty_user"),
        (["--user", "nobody"], 5, "no_records_of_user"),
        (["--session", "session_none"], 5, "session_not_found"),
        (["--run", "run_none"], 5, "record_not_found"),
    ],
)
def test_a_deletion_of_nothing_says_what_is_wrong(
    english: CommandLine, options: list[str], code: int, error: str
) -> None:
    """Bad input of `records delete`."""
    ran = english("records", "delete", *options, "--yes", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (code, error)


def write_pack(folder: Path) -> Path:
    (folder / "corpus").mkdir(parents=True)
    for name, text in DOCUMENTS["en"].items():
        (folder / "corpus" / name).write_text(text, encoding="utf-8")
    questions = [{"id": f"q{n}", "question": ANNUAL["en"], "gold_docs": ["terms.md"]} for n in range(3)]
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    (folder / "questions.jsonl").write_text(lines, encoding="utf-8")
    return folder


def test_a_paid_evaluation_asks_before_it_compiles(one_shop: Shop, tmp_path: Path) -> None:
    """design.md, paying: without a terminal it needs `--yes` or `--max-cost`."""
    pack = write_pack(tmp_path / "pack")
    ran = one_shop.cli("eval", pack, "--model", one_shop.provider, "--json")
    assert (ran.code, ran.json["error"]["code"], one_shop.calls) == (2, "payment_not_confirmed", [])
    ran = one_shop.cli(
        "eval", pack, "--model", one_shop.provider, "--yes", "--json", "--out", tmp_path / "r.jsonl"
    )
    assert ran.code == 0, ran.err
    scores = ran.json["scores"]
    assert scores["questions"] == 3
    assert scores["input_tokens_mean"] > 0
    assert scores["usd_total"] == pytest.approx(3 * scores["usd_mean"], rel=0.01)
    assert scores["reason_share"] is not None
    assert "US dollars a question" in (tmp_path / "r.html").read_text(encoding="utf-8")
    # What is compiled is not compiled again: only questions can cost something now.
    capped = one_shop.cli(
        "eval", pack, "--model", one_shop.provider, "--max-cost", str(scores["usd_mean"] / 2), "--json"
    )
    assert (capped.code, capped.json["scores"]["questions"]) == (11, 1)
    assert "after 1 questions" in capped.err
    offline = one_shop.cli("eval", pack, "--model", "offline", "--max-cost", "0", "--json")
    assert (offline.code, offline.json["scores"]["usd_total"]) == (0, None)
