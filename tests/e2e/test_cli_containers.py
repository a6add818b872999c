"""Archives and mails from the command line: what is in them is compiled, found and said."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

from tests.e2e.command_line import CommandLine
from tests.fakes.archives import zip_file

TERMS = "# 解約\n\n年額プランの解約の届け出は、更新日の三十日前までに書面で行うものとする。"


def mail() -> bytes:
    message = EmailMessage()
    message["Subject"] = "窓口の時間"
    message["From"] = "窓口 <desk@example.jp>"
    message.set_content("窓口は平日の九時から十七時まで開いています。")
    message.add_attachment(
        "駐車場は三台分あります。".encode(), maintype="text", subtype="plain", filename="駐車場.txt"
    )
    return message.as_bytes()


def folder(path: Path) -> Path:
    documents = path / "文書"
    documents.mkdir()
    packed = zip_file({"規約.md": TERMS, "連絡.eml": mail(), "写真.png": b"\x89PNG\r\n\x1a\n"})
    (documents / "まとめ.zip").write_bytes(packed)
    return documents


def test_what_is_in_an_archive_is_compiled_and_found(cli: CommandLine, tmp_path: Path) -> None:
    """Issue 3, formats: attachments are documents of their own, .zip of these."""
    compiled = cli("compile", folder(tmp_path), "--json")
    assert {source["source"]: source["verdict"] for source in compiled.json["sources"]} == {
        "まとめ.zip/規約.md": "accepted",
        "まとめ.zip/連絡.eml": "accepted",
        "まとめ.zip/連絡.eml/駐車場.txt": "accepted",
        "まとめ.zip/写真.png": "unsupported",
        "まとめ.zip": "archive",
    }
    assert "三台分" in cli("ask", "駐車場は何台分ありますか").out
    again = cli("compile", tmp_path / "文書", "--json")
    assert again.json["is_new"] is False


def test_extract_shows_the_documents_within_a_file(english: CommandLine, tmp_path: Path) -> None:
    """Issue: `extract FILE`: the same shape for every document within it."""
    file = folder(tmp_path) / "まとめ.zip"
    ran = english("extract", file, "--json")
    assert (ran.code, ran.json["verdict"], ran.json["chunks"]) == (0, "archive", [])
    assert [(member["file"], member["verdict"]) for member in ran.json["members"]] == [
        ("まとめ.zip/規約.md", "accepted"),
        ("まとめ.zip/連絡.eml", "accepted"),
        ("まとめ.zip/連絡.eml/駐車場.txt", "accepted"),
        ("まとめ.zip/写真.png", "unsupported"),
    ]
    shown = english("extract", file)
    assert "##### まとめ.zip/規約.md" in shown.out
    assert "まとめ.zip/写真.png" in shown.err
    assert "まとめ.zip: unpacked" in shown.err


def test_an_archive_without_a_document_that_can_be_read_is_no_success(
    english: CommandLine, tmp_path: Path
) -> None:
    """Field report 6: partial is never success."""
    file = tmp_path / "写真.zip"
    file.write_bytes(zip_file({"写真.png": b"\x89PNG\r\n\x1a\n"}))
    assert english("extract", file).code == 4
