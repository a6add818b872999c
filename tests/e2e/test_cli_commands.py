"""Every row of the issue's table of commands, in Japanese and in English."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.e2e.command_line import CommandLine, write_documents
from tests.e2e.texts import ANNUAL, DOCUMENTS, UNKNOWN


def test_compile_names_the_version_and_counts_the_accepted_files(
    cli: CommandLine, language: str, tmp_path: Path
) -> None:
    """Issue: a verdict per file, the new version."""
    ran = cli("compile", write_documents(tmp_path / "d", DOCUMENTS[language]), "--json")
    assert (ran.code, ran.json["version"], ran.json["is_activated"]) == (0, 1, True)
    assert {source["source"]: source["verdict"] for source in ran.json["sources"]} == dict.fromkeys(
        DOCUMENTS[language], "accepted"
    )
    assert ran.json["manifest"]["language"] == language


def test_compile_shows_each_stage_on_stderr_and_the_report_on_stdout(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Issue: all six stages; design.md: answer to stdout, all else to stderr, no bars without a terminal."""
    monkeypatch.setenv("CORPUS2SKILL_LANG", "ja")
    ran = cli("compile", write_documents(tmp_path / "d", DOCUMENTS["ja"]), "-v")
    stages = [line.split()[0] for line in ran.err.splitlines()]
    assert stages == ["抽出", "分割", "要約", "分類", "書き出し", "切り替え"]
    assert "受け付けた文書: 3 件" in ran.out
    assert "料金.csv" in ran.out
    assert "バージョン 1" in ran.out
    assert "\x1b" not in ran.err


def test_a_second_compile_without_paths_repeats_the_first_and_says_that_nothing_changed(
    compiled: CommandLine,
) -> None:
    """design.md: a bare `compile` repeats the paths."""
    ran = compiled("compile")
    assert ran.code == 0
    assert "Nothing changed. Corpus default stays at version 1." in ran.out


def test_a_bare_compile_means_the_only_corpus_there_is(cli: CommandLine, tmp_path: Path) -> None:
    """Whoever named the corpus once need not name it again."""
    documents = write_documents(tmp_path / "d", DOCUMENTS["en"])
    cli("compile", documents, "--corpus", "terms")
    assert cli("compile", "--json").json["corpus"] == "terms"


def test_compile_says_in_plain_words_what_changed(cli: CommandLine, tmp_path: Path) -> None:
    """Issue: in plain words what changed since the last."""
    documents = write_documents(tmp_path / "d", DOCUMENTS["en"])
    cli("compile", documents)
    write_documents(documents, {"fees.txt": "The annual plan costs ninety-eight dollars, paid in advance.\n"})
    ran = cli("compile")
    assert "Changes since version 1:" in ran.out
    assert "documents +1 -0 changed 0" in ran.out
    assert "\n  + fees.txt\n" in ran.out


def test_a_refused_file_is_named_with_its_reason_and_gives_code_3(cli: CommandLine, tmp_path: Path) -> None:
    """design.md: success with warnings, published, its own exit code."""
    documents = write_documents(tmp_path / "d", DOCUMENTS["en"])
    (documents / "empty.txt").write_bytes(b"")
    ran = cli("compile", documents)
    assert ran.code == 3
    assert "  empty.txt: empty - " in ran.out
    assert "Warnings: 1" in ran.out


def test_strict_publishes_nothing_where_a_file_is_refused(cli: CommandLine, tmp_path: Path) -> None:
    """design.md: `--strict` refuses."""
    documents = write_documents(tmp_path / "d", DOCUMENTS["en"])
    (documents / "empty.txt").write_bytes(b"")
    ran = cli("compile", documents, "--strict", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (4, "strict_refused_sources")
    assert cli("corpora", "--json").json == []


def test_no_activate_writes_a_version_that_activate_switches_to(cli: CommandLine, tmp_path: Path) -> None:
    """Issue: `--no-activate`, `activate V`."""
    documents = write_documents(tmp_path / "d", DOCUMENTS["en"])
    assert "not active" in cli("compile", documents, "--no-activate").out
    assert cli("tree").code == 5
    assert cli("activate", "1", "--json").json == {"corpus": "default", "before": None, "after": 1}
    assert cli("tree").code == 0


def test_sizes_title_and_language_are_remembered(cli: CommandLine, tmp_path: Path) -> None:
    """Issue: the sizes of design.md."""
    documents = write_documents(tmp_path / "d", DOCUMENTS["ja"])
    sizes = ("--chunk-limit", "60", "--chunk-minimum", "10", "--max-children", "4", "--max-leaves", "5")
    cli("compile", documents, *sizes, "--title", "ご案内", "--language", "ja")
    manifest = cli("compile", "--regroup", "--json").json["manifest"]
    assert manifest["sizes"] == {"limit": 60, "minimum": 10}
    assert (manifest["limits"]["max_children"], manifest["limits"]["max_leaves"]) == (4, 5)
    assert (manifest["title"], manifest["language"]) == ("ご案内", "ja")


def test_many_lost_documents_need_yes(cli: CommandLine, tmp_path: Path) -> None:
    """design.md: if more than a fifth of the sources would go, switching needs `--yes`."""
    documents = write_documents(tmp_path / "d", DOCUMENTS["ja"])
    cli("compile", documents)
    (documents / "料金.csv").unlink()
    refused = cli("compile")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert cli("compile", "--yes", "--json").json["difference"]["sources_removed"] == ["料金.csv"]


def test_ask_streams_the_trail_and_answers_with_numbered_sources(
    compiled: CommandLine, language: str
) -> None:
    """Issue: streams the trail, then the answer with its sources."""
    ran = compiled("ask", ANNUAL[language])
    assert ran.code == 0
    trail = [line for line in ran.err.splitlines() if line[0].isdigit()]
    assert trail[0].startswith("1. ")
    assert trail[1].startswith("2. ")
    assert "doc_chunk_" in ran.err
    wanted = {"ja": "利用規約.md › サンプル利用規約", "en": "terms.md › Sample terms"}
    assert f"[1] {wanted[language]}" in ran.out
    assert " ms" not in ran.out


def test_ask_in_json_is_the_whole_record(compiled: CommandLine, language: str) -> None:
    """Issue: each has `--json`."""
    record = compiled("ask", ANNUAL[language], "--json").json
    assert (record["outcome"], record["language"], record["question"]) == (
        "answered",
        language,
        ANNUAL[language],
    )
    assert record["visits"][0]["is_prefetched"]
    assert record["citations"][0]["doc_id"].startswith("doc_chunk_")
    assert compiled("records", "show", record["ids"]["run"], "--json").json == record


def test_ask_says_not_found_with_its_own_exit_code(compiled: CommandLine, language: str) -> None:
    """Issue: answered, answered weakly, not found."""
    ran = compiled("ask", UNKNOWN[language], "--json")
    assert (ran.code, ran.json["outcome"]) == (9, "not_found")


def test_ask_goes_on_with_a_session(english: CommandLine) -> None:
    """The article: earlier turns are kept on our side."""
    first = english("ask", ANNUAL["en"], "--json").json["ids"]
    second = english("ask", "And the monthly plan?", "--session", first["session"], "--json").json["ids"]
    assert (first["turn"], second["turn"], second["session"]) == (1, 2, first["session"])


def test_an_unknown_session_is_said_and_no_conversation_is_begun(english: CommandLine) -> None:
    """Whoever mistypes an id would be answered as if nothing had been said before."""
    first = english("ask", ANNUAL["en"], "--json").json["ids"]
    for session in ("session_nope", ""):
        ran = english("ask", "And the monthly plan?", "--session", session, "--json")
        assert (ran.code, ran.json["error"]["code"]) == (5, "session_not_found")
    short = english("ask", "And the monthly plan?", "--session", first["session"][:-4], "--json").json["ids"]
    assert (short["turn"], short["session"]) == (2, first["session"])
    assert len(english("records", "--json").json) == 2


def test_the_trail_is_numbered_alike_while_it_is_walked_and_in_its_record(english: CommandLine) -> None:
    """design.md: the root is the trail's first visit."""
    asked = english("ask", ANNUAL["en"])
    run = next(word for word in asked.err.split() if word.startswith("run_"))
    shown = english("records", "show", run)
    trail = [line for line in asked.err.splitlines() if line[0].isdigit()]
    assert trail == [line for line in shown.out.splitlines() if line[:1].isdigit()]
    visits = english("records", "show", run, "--json").json["visits"]
    assert [int(line.partition(".")[0]) for line in trail] == [visit["number"] for visit in visits]


def test_the_last_line_says_who_answered(english: CommandLine) -> None:
    """The embedded engine costs nothing, and no money is named."""
    last = english("ask", ANNUAL["en"]).err.splitlines()[-1]
    assert "  offline" in last
    assert "$" not in last


def test_a_conversation_does_not_go_on_over_another_corpus(english: CommandLine) -> None:
    """What was said of one means nothing over the other; both are named."""
    session = english("ask", ANNUAL["en"], "--json").json["ids"]["session"]
    other = write_documents(english.workspace.parent / "other", {"other.md": "# Other\n\nSome other text.\n"})
    assert english("compile", other, "--corpus", "manuals").code in (0, 3)
    for command in (("ask", "And the monthly plan?"), ("chat",)):
        ran = english(*command, "--session", session, "--corpus", "manuals")
        assert ran.code == 2
        assert "manuals" in ran.err
        assert "default" in ran.err
    assert len(english("records", "--json").json) == 1


@pytest.mark.parametrize("command", [("ask", "What?"), ("chat",)])
def test_a_cap_that_only_compile_has_points_to_the_setting(
    english: CommandLine, command: tuple[str, ...]
) -> None:
    """A question's spending limit is a setting."""
    ran = english(*command, "--max-cost", "1")
    assert ran.code == 2
    assert "question_cost" in ran.err


def test_a_voice_answer_has_no_markers_and_no_list_of_sources(compiled: CommandLine, language: str) -> None:
    """design.md: markers never reach voice."""
    ran = compiled("ask", ANNUAL[language], "--channel", "voice")
    assert ran.code == 0
    assert "[1]" not in ran.out
    assert "doc_chunk" not in ran.out


def test_a_voice_answer_comes_line_by_line_as_it_would_be_spoken(
    compiled: CommandLine, language: str
) -> None:
    """Issue 5: the sentence chunker. With `--json` it is the record as ever."""
    lines = compiled("ask", ANNUAL[language], "--channel", "voice").out.splitlines()
    assert lines
    assert all(0 < len(line) <= 60 for line in lines)
    record = compiled("ask", ANNUAL[language], "--channel", "voice", "--json").json
    assert (record["channel"], record["heard"]) == ("voice", None)
    assert "".join("".join(lines).split()) == "".join(record["answer"].split())


def test_a_question_is_read_from_stdin(english: CommandLine) -> None:
    """house-style.md, rule 42: - is stdin."""
    ran = english.apart("ask", "-", "--json", stdin=ANNUAL["en"].encode() + b"\n")
    assert ran.json["question"] == ANNUAL["en"]


def test_get_returns_the_five_fields(compiled: CommandLine) -> None:
    """design.md, section 5: get_document."""
    root = compiled("get", "SKILL.md", "--json").json
    assert list(root) == ["path", "content", "node_type", "children", "doc_id"]
    assert (root["path"], root["node_type"], root["doc_id"]) == ("SKILL.md", "skill_summary", None)
    leaf = compiled("get", "doc_chunk_1", "--json").json
    assert (leaf["node_type"], leaf["children"], leaf["doc_id"]) == ("document", [], "doc_chunk_1")
    assert compiled("get", leaf["path"]).out == leaf["content"]


def test_tree_shows_every_node_down_to_a_depth(compiled: CommandLine) -> None:
    """Issue: `tree`."""
    nodes = compiled("tree", "--json").json["nodes"]
    assert nodes[0]["path"] == "SKILL.md"
    assert {node["is_leaf"] for node in nodes} == {True, False}
    lines = compiled("tree").out.splitlines()
    assert [line.split()[-1] for line in lines] == [node["path"] for node in nodes]
    assert len(compiled("tree", "--depth", "0").out.splitlines()) == 1
    assert compiled("tree", "--at", "1", "--depth", "1").code == 0


def test_corpora_and_versions_are_listed(english: CommandLine) -> None:
    """Issue: `corpora`, `versions`."""
    english("compile", "--regroup", "--chunk-limit", "100")
    assert english("corpora", "--json").json == [
        {"corpus": "default", "active": 2, "versions": 2, "error": None}
    ]
    assert [line["version"] for line in english("versions", "--json").json["versions"]] == [2, 1]
    lines = english("versions").out.splitlines()
    assert [line[:4] for line in lines] == ["*  2", "   1"]


def test_rollback_diff_and_prune(english: CommandLine) -> None:
    """Issue: `rollback`, `diff A B`, `prune`."""
    for limit in ("100", "90", "80"):
        english("compile", "--chunk-limit", limit)
    assert english("diff", "1", "2", "--json").json["leaves_added"]
    assert "leaves +" in english("diff", "1", "2").out
    assert english("rollback", "--json").json == {"corpus": "default", "before": 4, "after": 3}
    shown = english("prune", "--json").json
    assert shown["removed"] is False
    removed = english("prune", "--yes", "--json").json
    assert removed["versions"] == shown["versions"]
    left = {line["version"] for line in english("versions", "--json").json["versions"]}
    assert left.isdisjoint(line["version"] for line in removed["versions"])
    assert 3 in left


def test_a_version_that_a_record_cites_is_not_pruned(english: CommandLine) -> None:
    """design.md: old versions stay until no kept record cites them."""
    english("ask", ANNUAL["en"])
    for limit in ("100", "90", "80"):
        english("compile", "--chunk-limit", limit)
    assert 1 not in {line["version"] for line in english("prune", "--json").json["versions"]}


def test_records_are_listed_filtered_shown_and_verified(compiled: CommandLine, language: str) -> None:
    """Issue: `records [show R] [verify]`."""
    first = compiled("ask", ANNUAL[language], "--json").json
    compiled("ask", UNKNOWN[language])
    assert [record["outcome"] for record in compiled("records", "--json").json] == ["not_found", "answered"]
    assert len(compiled("records", "--limit", "1").out.splitlines()) == 1
    only = compiled("records", "--outcome", "answered", "--session", first["ids"]["session"], "--json").json
    assert only == [first]
    shown = compiled("records", "show", first["ids"]["run"][:25])
    assert ANNUAL[language] in shown.out
    assert first["answer"] in shown.out
    verdict = compiled("records", "verify", "--json").json
    assert (verdict["records"], verdict["faults"]) == (2, [])


def test_records_are_exported_as_lines_and_as_a_table(compiled: CommandLine, language: str) -> None:
    """design.md: exported as JSONL (lossless) and CSV."""
    record = compiled("ask", ANNUAL[language], "--json").json
    lines = compiled("records", "--export", "jsonl").out.splitlines()
    assert [json.loads(line) for line in lines] == [record]
    table = list(csv.DictReader(io.StringIO(compiled("records", "--export", "csv").out)))
    assert [(row["run"], row["question"], row["outcome"]) for row in table] == [
        (record["ids"]["run"], ANNUAL[language], "answered")
    ]
    assert compiled("records", "--export", "csv", "--bom").out.startswith("\ufeffrun,")


def test_no_cell_of_an_export_is_a_formula(english: CommandLine) -> None:
    """A question typed by a stranger must not run in the auditor's spreadsheet."""
    english("ask", '=HYPERLINK("http://example.invalid","refund for the annual plan")')
    row = next(csv.DictReader(io.StringIO(english("records", "--export", "csv").out)))
    assert row["question"].startswith("'=HYPERLINK")


def test_extract_shows_chunks_with_their_places(english: CommandLine, tmp_path: Path) -> None:
    """Issue: `extract FILE`: file, verdict, chunks with id, text, place."""
    file = write_documents(tmp_path, DOCUMENTS["ja"]) / "利用規約.md"
    shown = english("extract", file, "--chunk-limit", "80", "--json").json
    assert (shown["file"], shown["verdict"]) == (str(file), "accepted")
    assert [chunk["id"] for chunk in shown["chunks"]] == ["chunk_1", "chunk_2"]
    assert "第13条（月額プランの解約）" in shown["chunks"][1]["place"]
    assert shown["chunks"][1]["text"] in english("extract", file, "--chunk-limit", "80").out


def test_extract_of_a_refused_file_says_its_verdict_in_both_streams(
    english: CommandLine, tmp_path: Path
) -> None:
    """A refusal has its exit code, and its verdict for people and for programs."""
    file = tmp_path / "空.txt"
    file.write_bytes("　\n　".encode())
    ran = english("extract", file, "--json")
    assert (ran.code, ran.json["verdict"], ran.json["chunks"]) == (4, "empty", [])
    assert "[empty]" in ran.err


def test_config_shows_sets_and_unsets(english: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue: `config`: the workspace's settings."""
    assert english("config", "set", "chunk_limit", "900").code == 0
    shown = english("config", "--json").json["settings"]
    assert shown["chunk_limit"] == {"value": 900, "origin": "file"}
    assert shown["max_leaves"] == {"value": 30, "origin": "default"}
    monkeypatch.setenv("CORPUS2SKILL_CHUNK_LIMIT", "700")
    assert english("config", "--json").json["settings"]["chunk_limit"]["origin"] == "environment"
    monkeypatch.delenv("CORPUS2SKILL_CHUNK_LIMIT")
    assert english("config", "unset", "chunk_limit").code == 0
    assert "chunk_limit          1500" in english("config").out


def test_doctor_says_what_there_is_and_that_all_is_sound(
    compiled: CommandLine, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: `doctor`: what is installed, which keys and engines there are, whether the workspace is sound."""
    compiled("ask", ANNUAL[language])
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-shown")
    ran = compiled("doctor", "--json")
    assert ran.code == 0
    assert ran.json["workspace"]["is_sound"]
    assert ran.json["workspace"]["records"]["records"] == 1
    assert ran.json["installation"]["keys"] == {"ANTHROPIC_API_KEY": False, "OPENAI_API_KEY": True}
    assert "sk-not-to-be-shown" not in ran.out + compiled("doctor").out


def test_eval_scores_a_pack_and_writes_its_run(cli: CommandLine, tmp_path: Path, language: str) -> None:
    """Issue: `eval PACK [--questions FILE] [--out RUN.jsonl] [--limit N]`."""
    pack = tmp_path / "pack"
    write_documents(pack / "corpus", DOCUMENTS[language])
    source = {"ja": "利用規約.md", "en": "terms.md"}[language]
    questions = [
        {"id": "q1", "question": ANNUAL[language], "gold_docs": [source], "unanswerable": False},
        {"id": "q2", "question": UNKNOWN[language], "gold_docs": [], "unanswerable": True},
    ]
    lines = "".join(json.dumps(question, ensure_ascii=False) + "\n" for question in questions)
    (pack / "questions.jsonl").write_text(lines, encoding="utf-8")
    ran = cli("eval", pack, "--out", tmp_path / "run.jsonl", "--json")
    assert (ran.code, ran.json["scores"]["questions"], ran.json["scores"]["doc_hit"]) == (0, 2, 1.0)
    written = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text("utf-8").splitlines()]
    assert [(line["id"], line["not_found"]) for line in written] == [("q1", False), ("q2", True)]
    assert "doc_hit" in cli("eval", pack, "--limit", "1").out
