"""The issue's "Bad input": each a clear message, the right exit code, and nothing lost."""

from __future__ import annotations

import json
import os
import tarfile
import unicodedata
from pathlib import Path

import pytest

from tests.e2e.command_line import CommandLine, Ran, write_documents
from tests.e2e.texts import ANNUAL, DOCUMENTS
from tests.fakes.ordinary_user import ordinary_user


def _refused(ran: Ran, code: int, error: str) -> None:
    """One JSON document that names the fault, one sentence for people, no traceback."""
    assert (ran.code, ran.json["error"]["code"]) == (code, error)
    assert ran.json["error"]["message"] in ran.err
    assert "Traceback" not in ran.err


def test_an_empty_folder_has_nothing_to_compile(cli: CommandLine, tmp_path: Path) -> None:
    """Issue: empty folder."""
    (tmp_path / "empty").mkdir()
    _refused(cli("compile", tmp_path / "empty", "--json"), 4, "no_readable_source")


def test_a_compile_without_any_path_says_how_to_name_one(cli: CommandLine) -> None:
    """Issue: no path."""
    _refused(cli("compile", "--json"), 4, "no_path")


def test_a_path_that_is_not_there_is_named(cli: CommandLine, tmp_path: Path) -> None:
    """Issue: no path."""
    ran = cli("compile", tmp_path / "ない", "--json")
    _refused(ran, 2, "missing_path")
    assert "ない" in ran.err
    assert not cli.workspace.exists()


def test_an_unreadable_file_is_named_and_the_others_go_on(cli: CommandLine, tmp_path: Path) -> None:
    """Issue: unreadable file (tested as an ordinary user)."""
    documents = write_documents(tmp_path / "d", DOCUMENTS["ja"])
    cli("extract", documents / "料金.csv")  # what a command imports must be there before the rights go
    (documents / "料金.csv").chmod(0)
    _open_to_everybody(tmp_path)
    with ordinary_user():
        ran = cli("compile", documents, "--json")
    assert ran.code == 3
    verdicts = {source["source"]: source["verdict"] for source in ran.json["sources"]}
    assert verdicts == {"利用規約.md": "accepted", "料金.csv": "unreadable", "案内/営業時間.txt": "accepted"}


def test_a_file_that_became_unreadable_keeps_its_last_good_text(cli: CommandLine, tmp_path: Path) -> None:
    """design.md: a source that is now unreadable keeps its last good text and is named."""
    documents = write_documents(tmp_path / "d", DOCUMENTS["ja"])
    cli("compile", documents)
    (documents / "料金.csv").write_bytes(b"")
    ran = cli("compile")
    assert ran.code == 3
    assert "  料金.csv: kept - " in ran.out
    assert "98000" in cli("extract", documents / "料金.csv").out + _whole_tree(cli)


def test_names_in_nfd_become_nfc_and_names_that_windows_refuses_are_read(
    cli: CommandLine, tmp_path: Path
) -> None:
    """Issue: names in NFD or that Windows refuses."""
    names = [
        unicodedata.normalize("NFD", "ガイドブック.txt"),
        "aux.txt",
        'a:b?"<>|.md',
        "dots...txt",
        " space .md",
    ]
    texts = {name: f"The text of document number {number}.\n" for number, name in enumerate(names)}
    ran = cli("compile", write_documents(tmp_path / "d", texts), "--json")
    assert ran.code == 0
    sources = {source["source"] for source in ran.json["sources"]}
    assert "ガイドブック.txt" in sources
    assert len(sources) == len(names)
    assert cli("check").code == 0


def test_a_name_that_is_not_utf8_is_read_and_shown(cli: CommandLine, tmp_path: Path) -> None:
    """Old archives hold names in other encodings."""
    documents = write_documents(tmp_path / "d", DOCUMENTS["en"])
    (Path(os.fsdecode(os.fsencode(documents) + b"/\x83K\x83C\x83h.txt"))).write_bytes(
        b"A guide to everything.\n"
    )
    ran = cli("compile", documents, "--json")
    assert (ran.code, len(ran.json["sources"])) == (0, 3)
    assert cli("compile", "-v").code == 0


def test_a_read_only_workspace_is_read_and_not_written(english: CommandLine, tmp_path: Path) -> None:
    """Issue: a workspace on a read-only disk, as an ordinary user meets it."""
    documents = write_documents(tmp_path / "d", DOCUMENTS["en"])
    for command in (("ask", ANNUAL["en"]), ("doctor",)):
        english(*command)  # what it imports must be there before the rights go
    _open_to_everybody(tmp_path)
    _close_to_writing(english.workspace)
    with ordinary_user():
        assert english("tree").code == 0
        assert english("check").code == 0
        assert english("get", "SKILL.md").code == 0
        _refused(english("compile", documents, "--json"), 8, "no_rights")
        _refused(english("config", "set", "corpus", "terms", "--json"), 8, "no_rights")
        assert english("ask", ANNUAL["en"]).code == 8
        assert english("doctor", "--json").json["workspace"]["is_writable"] is False


def test_a_workspace_that_may_not_be_entered_is_named(english: CommandLine, tmp_path: Path) -> None:
    """Somebody else's workspace is no workspace without corpora."""
    _open_to_everybody(tmp_path)
    english.workspace.chmod(0)
    with ordinary_user():
        for command in (("tree",), ("doctor",), ("config",)):
            _refused(english(*command, "--json"), 8, "no_rights")
    english.workspace.chmod(0o755)


def test_a_path_that_only_looks_like_a_home_is_no_fault(cli: CommandLine) -> None:
    """`~` is resolved where it names a home, else it is a name like any other."""
    _refused(cli("compile", "~nobody-of-that-name/docs", "--json"), 2, "missing_path")


def test_a_workspace_that_cannot_be_made_is_named(cli: CommandLine, tmp_path: Path) -> None:
    """A file lies where the workspace should be."""
    documents = write_documents(tmp_path / "d", DOCUMENTS["en"])
    cli.workspace.write_text("not a folder", encoding="utf-8")
    ran = cli("compile", documents, "--json")
    assert ran.code == 8
    assert str(cli.workspace) in ran.err


def test_a_workspace_of_a_newer_release_is_refused(english: CommandLine) -> None:
    """Issue: a workspace written by a newer release."""
    (english.workspace / "workspace.json").write_text('{"format": 99}\n', encoding="utf-8")
    for command in (("tree",), ("compile",), ("versions",), ("ask", ANNUAL["en"])):
        _refused(english(*command, "--json"), 8, "workspace_newer")
    doctor = english("doctor", "--json")
    assert (doctor.code, doctor.json["workspace"]["error"]["code"]) == (8, "workspace_newer")


def test_a_hand_edited_version_is_found_and_the_file_named(english: CommandLine) -> None:
    """Issue: a damaged or hand-edited version (`check` names the file)."""
    english("compile", "--chunk-limit", "100")
    leaf = next((english.workspace / "corpora/default/versions/1/tree").rglob("doc_chunk_*.md"))
    leaf.write_text(leaf.read_text(encoding="utf-8") + "added by hand\n", encoding="utf-8")
    ran = english("check", "1", "--json")
    assert ran.code == 7
    assert leaf.name in ran.json["faults"][0]["file"]
    assert leaf.name in english("check", "1").out
    _refused(english("activate", "1", "--json"), 7, "version_damaged")
    assert english("corpora", "--json").json[0]["active"] == 2
    assert english("check").code == 0


def test_doctor_finds_damaged_results_of_paid_calls(english: CommandLine) -> None:
    """Issue 4, bad input: nothing lost, and what to do is named, before a compile meets it."""
    english.workspace.joinpath("results.db").write_bytes(b"no database" * 1_000)
    ran = english("doctor", "--json")
    assert (ran.code, ran.json["workspace"]["error"]["code"]) == (7, "results_damaged")


def test_doctor_finds_a_damaged_active_version(english: CommandLine) -> None:
    """Issue: `doctor`: whether the workspace is sound."""
    root = english.workspace / "corpora/default/versions/1/tree/default/SKILL.md"
    root.write_bytes(b"\xff\xfe")
    ran = english("doctor")
    assert ran.code == 7
    assert "SKILL.md" in ran.out
    assert english("get", "SKILL.md").code == 7
    assert english("ask", ANNUAL["en"]).code in {7, 10}


def test_a_damaged_pointer_is_named_and_mended_by_activate(english: CommandLine) -> None:
    """Nothing is guessed, and there is a way out."""
    (english.workspace / "corpora/default/active").write_bytes(b"\x00\x01")
    _refused(english("tree", "--json"), 7, "pointer_damaged")
    assert english("activate", "1").code == 0
    assert english("tree").code == 0


HOSTILE_PATHS = (
    "../1/tree/default/SKILL.md",
    "../../2/tree/default/SKILL.md",
    "terms/../SKILL.md",
    "%2e%2e/SKILL.md",
    "..%2f..%2fworkspace.json",
    "SKILL.md\x00",
    "..\\..\\workspace.json",
    "/etc/passwd",
    "chunks.jsonl",
    "‥/SKILL.md",
    "x" * 100_000,
)


@pytest.mark.parametrize("path", HOSTILE_PATHS, ids=lambda path: ascii(path)[:40])
def test_a_path_that_would_leave_the_tree_is_no_such_node(english: CommandLine, path: str) -> None:
    """Issue: a path with `..`, `%2e`, NUL, backslash or another version in it."""
    ran = english("get", path, "--json")
    _refused(ran, 5, "node_not_found")
    assert ran.json["error"]["values"]["children"] == english("get", "SKILL.md", "--json").json["children"]
    assert "\x00" not in ran.err


def test_an_unknown_path_brings_the_children_of_the_nearest_node(compiled: CommandLine) -> None:
    """Issue: an unknown path (the valid children come back)."""
    branch = next(node for node in compiled("tree", "--json").json["nodes"][1:] if not node["is_leaf"])
    ran = compiled("get", branch["path"].replace("SKILL.md", "doc_chunk_999.md"), "--json")
    _refused(ran, 5, "node_not_found")
    children = compiled("get", branch["path"], "--json").json["children"]
    assert (ran.json["error"]["values"]["at"], ran.json["error"]["values"]["children"]) == (
        branch["path"],
        children,
    )


@pytest.mark.parametrize("question", ["", "   ", "\u3000\n"])
def test_an_empty_question_is_refused(english: CommandLine, question: str) -> None:
    """Issue: an empty question."""
    _refused(english("ask", question, "--json"), 2, "empty_question")
    assert english("records", "--json").json == []


def test_a_question_of_100_000_characters_is_refused(english: CommandLine) -> None:
    """Issue: one of 100,000 characters."""
    ran = english("ask", "返金" * 50_000, "--json")
    _refused(ran, 2, "question_too_long")
    assert len(ran.err) < 1000


def test_a_question_that_is_no_text_is_refused(english: CommandLine) -> None:
    """Bytes of another encoding are not guessed at."""
    _refused(english.apart("ask", "-", "--json", stdin=b"\xff\xfe\x80"), 2, "question_undecodable")
    _refused(english("ask", "refund \udc80?", "--json"), 2, "question_undecodable")


def test_what_is_named_and_not_there_gives_code_5(english: CommandLine, tmp_path: Path) -> None:
    """The exit codes are documented."""
    _refused(english("tree", "--corpus", "nope", "--json"), 5, "corpus_not_found")
    _refused(english("tree", "--at", "9", "--json"), 5, "version_not_found")
    _refused(english("check", "9", "--json"), 5, "version_not_found")
    _refused(english("activate", "9", "--json"), 5, "version_not_found")
    _refused(english("rollback", "--json"), 5, "no_previous_version")
    _refused(english("records", "show", "run_none", "--json"), 5, "record_not_found")
    _refused(CommandLine(workspace=tmp_path / "none")("tree", "--json"), 5, "no_corpus")


@pytest.mark.parametrize(
    "arguments",
    [
        ("compile", "--chunk-limit", "nine"),
        ("compile", "--language", "fr"),
        ("nope",),
        ("get",),
        ("tree", "--depth", "-1"),
        ("records", "--export", "xml"),
    ],
    ids=" ".join,
)
def test_bad_usage_gives_code_2_and_json_where_it_was_asked_for(
    english: CommandLine, arguments: tuple[str, ...]
) -> None:
    """Scripts can read every failure."""
    _refused(english(*arguments, "--json"), 2, "usage")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("config", "set", "nope", "1"), "unknown_setting"),
        (("config", "set", "chunk_limit", "0"), "setting_value"),
        (("config", "set", "last_word", "shout"), "setting_value"),
        (("compile", "--model", "gpt-99"), "unknown_model"),
        (("ask", "refund?", "--model", "gpt-99"), "unknown_model"),
        (("compile", "--corpus", "日本語"), "invalid_corpus_name"),
        (("compile", ".", "--corpus", "日本語"), "invalid_corpus_name"),
        (("compile", ".", "--corpus", "../up"), "invalid_corpus_name"),
        (("compile", "--chunk-limit", "10", "--chunk-minimum", "20"), "chunk_sizes"),
        (("compile", "--max-children", "1"), "limits_too_small"),
        (("extract", "."), "file_wanted"),
        (("extract", "nothing.txt"), "missing_path"),
        (("eval", "."), "pack_questions"),
        (("eval", "nodir"), "pack_missing"),
        (("eval", __file__), "pack_not_folder"),
        (("eval", ".", "--questions", "nofile.jsonl"), "missing_path"),
        (("compile", ""), "empty_path"),
        (("extract", ""), "empty_path"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_what_cannot_be_done_as_asked_is_refused(
    english: CommandLine, arguments: tuple[str, ...], error: str
) -> None:
    """house-style.md, rule 20: refuse bad input before anything is begun."""
    ran = english(*arguments, "--json")
    _refused(ran, 2, error)
    assert english("corpora", "--json").json == [
        {"corpus": "default", "active": 1, "versions": 1, "error": None}
    ]


def test_a_broken_settings_file_is_named(english: CommandLine) -> None:
    """Whoever edits the file by hand is told where it is."""
    (english.workspace / "settings.toml").write_text("chunk_limit = = 3\n", encoding="utf-8")
    ran = english("tree", "--json")
    _refused(ran, 2, "settings_unreadable")
    assert "settings.toml" in ran.err


def test_a_line_of_a_pack_that_is_no_question_is_named(cli: CommandLine, tmp_path: Path) -> None:
    """Nothing is compiled for a pack that cannot be asked."""
    write_documents(tmp_path / "pack/corpus", DOCUMENTS["en"])
    (tmp_path / "pack/questions.jsonl").write_text(
        '{"id": "1", "question": "?"}\n{"id": 2}\n', encoding="utf-8"
    )
    ran = cli("eval", tmp_path / "pack", "--json")
    _refused(ran, 2, "question_line")
    assert ran.json["error"]["values"]["line"] == 2
    assert not cli.workspace.exists()


@pytest.mark.parametrize("question", ["", "   ", "x" * 100_000, "\udcff"])
def test_a_question_of_a_pack_that_cannot_be_asked_is_named_before_any_is_asked(
    cli: CommandLine, tmp_path: Path, question: str
) -> None:
    """An evaluation of an hour does not end at its last line."""
    write_documents(tmp_path / "pack/corpus", DOCUMENTS["en"])
    lines = [{"id": "1", "question": ANNUAL["en"]}, {"id": "2", "question": question}]
    (tmp_path / "pack/questions.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    ran = cli("eval", tmp_path / "pack", "--json")
    _refused(ran, 2, "question_line")
    assert ran.json["error"]["values"]["line"] == 2


def test_a_pack_may_have_a_byte_order_mark_blank_lines_and_line_ends_within_a_question(
    cli: CommandLine, tmp_path: Path
) -> None:
    """Packs are made on other machines."""
    write_documents(tmp_path / "pack/corpus", DOCUMENTS["en"])
    line = json.dumps({"id": "1", "question": f"{ANNUAL['en']}\u2028\u0085"}, ensure_ascii=False)
    (tmp_path / "pack/questions.jsonl").write_bytes(f"\ufeff{line}\r\n\r\n".encode())
    ran = cli("eval", tmp_path / "pack", "--json")
    assert (ran.code, ran.json["scores"]["questions"]) == (0, 1), ran.err


@pytest.mark.parametrize("damage", ["none", "cut", "not one", "leads out", "empty"])
def test_a_packs_archive_is_unpacked_whole_or_refused(cli: CommandLine, tmp_path: Path, damage: str) -> None:
    """Nothing half unpacked is ever compiled, and nothing is written elsewhere."""
    pack = tmp_path / "pack"
    folder = write_documents(tmp_path / "made/corpus", DOCUMENTS["en"])
    pack.mkdir()
    (pack / "questions.jsonl").write_text(json.dumps({"id": "1", "question": ANNUAL["en"]}), encoding="utf-8")
    archive = pack / "corpus.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for file in [] if damage == "empty" else sorted(folder.rglob("*.*")):
            tar.add(file, f"corpus/{file.name}")
        if damage == "leads out":
            tar.add(folder / "terms.md", "../../outside.md")
    data = archive.read_bytes()
    archive.write_bytes({"cut": data[: len(data) // 2], "not one": b"no archive"}.get(damage, data))
    ran = cli("eval", pack, "--json")
    if damage == "none":
        assert ran.code == 0, ran.err
    elif damage == "empty":
        _refused(ran, 5, "pack_corpus")
    else:
        _refused(ran, 2, "pack_archive")
        assert not list((cli.workspace / "packs").iterdir())
        assert not list(tmp_path.rglob("outside.md"))


@pytest.mark.parametrize("command", ["compile", "extract", "eval"])
def test_a_path_that_may_not_even_be_looked_at_is_said(
    cli: CommandLine, english: CommandLine, tmp_path: Path, command: str
) -> None:
    """Issue, bad input: an unreadable file, tested as an ordinary user."""
    closed = write_documents(tmp_path / "closed/documents", {"a.txt": "Something that nobody may read."})
    english("compile", closed, "--corpus", "warm", "--yes")  # what is imported late is imported as root
    tmp_path.chmod(0o777)
    (tmp_path / "closed").chmod(0)
    with ordinary_user():
        ran = cli(command, closed if command == "eval" else closed / "a.txt")
    (tmp_path / "closed").chmod(0o755)
    assert ran.code == (2 if command == "eval" else 4)
    assert "Traceback" not in ran.err


def test_extract_refuses_sizes_that_cannot_be_used(english: CommandLine, tmp_path: Path) -> None:
    """Issue, extract: as compile does."""
    file = write_documents(tmp_path, {"a.txt": "Some text."}) / "a.txt"
    _refused(english("extract", file, "--chunk-limit", "10", "--json"), 2, "chunk_sizes")
    assert english("extract", file, "--chunk-limit", "10", "--chunk-minimum", "0").code == 0


def test_a_changed_record_is_found(english: CommandLine) -> None:
    """design.md: a changed, missing or reordered record shows."""
    import sqlite3

    english("ask", ANNUAL["en"])
    with sqlite3.connect(english.workspace / "records.db") as database:
        table = next(
            name
            for (name,) in database.execute("select name from sqlite_master where type = 'table'")
            if any(column[1] == "payload" for column in database.execute(f"pragma table_info({name})"))
        )
        database.execute(f"update {table} set payload = replace(payload, 'refund', 'REFUND')")
    database.close()
    ran = english("records", "verify", "--json")
    assert (ran.code, ran.json["faults"][0]["code"]) == (7, "record_changed")
    assert english("doctor").code == 7


def _whole_tree(cli: CommandLine) -> str:
    nodes = cli("tree", "--json").json["nodes"]
    return "".join(json.dumps(cli("get", node["path"], "--json").json, ensure_ascii=False) for node in nodes)


def _open_to_everybody(folder: Path) -> None:
    """Let an ordinary user in: into the test's folder and those above it."""
    for above in (folder, *folder.parents):
        if above.name.startswith(("pytest-", "test_")):
            above.chmod(above.stat().st_mode | 0o777)


def _close_to_writing(workspace: Path) -> None:
    for path in (workspace, *workspace.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
