"""Archives: the documents within them, under names their makers would know, within bounds."""

from __future__ import annotations

import struct
import unicodedata
import zipfile
import zlib
from email.message import EmailMessage
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.member_names import safe_name
from corpus2skill.adapters.extract.members import Member, members_of
from corpus2skill.domain.corpus import SourceFile, SourceReport
from corpus2skill.errors import SourceRefused
from corpus2skill.messages import message
from tests.fakes.archives import zip_file, zip_with_raw_name

TEXT = "第1条 契約者は解約の届け出を行う。".encode()


def opened(data: bytes, limits: Limits = Limits(), name: str = "a.zip") -> list[Member]:
    return list(members_of(name, data, limits))


def summary(members: list[Member]) -> list[tuple[str, str]]:
    return [
        (member.source, "file" if isinstance(member, SourceFile) else member.verdict) for member in members
    ]


def refused(data: bytes, limits: Limits = Limits()) -> tuple[str, str | None]:
    with pytest.raises(SourceRefused) as refusal:
        opened(data, limits)
    return refusal.value.verdict, refusal.value.detail


def test_the_documents_of_an_archive_are_named_below_it_and_the_archive_is_told_last() -> None:
    """Issue 3, formats: .zip of these."""
    found = opened(zip_file({"規約/本則.txt": TEXT, "料金.csv": "a,b"}), name="資料/a.zip")
    assert summary(found) == [
        ("資料/a.zip/規約/本則.txt", "file"),
        ("資料/a.zip/料金.csv", "file"),
        ("資料/a.zip", "archive"),
    ]
    assert isinstance(found[0], SourceFile)
    assert found[0].data == TEXT


@pytest.mark.parametrize(
    "raw",
    [
        "表/ソ能予.txt".encode("cp932"),
        "表/ソ能予.txt".encode(),
        unicodedata.normalize("NFD", "表/ソ能予.txt").encode(),
    ],
)
def test_names_from_japanese_windows_and_from_macs_are_read(raw: bytes) -> None:
    """Issue 3: cp932 and UTF-8 without the flag; the second byte of 表 and 能 is a backslash in CP932."""
    assert summary(opened(zip_with_raw_name(raw, TEXT)))[0] == ("a.zip/表/ソ能予.txt", "file")


def test_a_name_in_the_unicode_field_goes_before_the_raw_one() -> None:
    """Info-ZIP's field, which Japanese archivers write."""
    raw = "規約.txt".encode("cp932")
    wanted = "規約①.txt"
    field = b"\1" + zlib.crc32(raw).to_bytes(4, "little") + wanted.encode()
    entry = zipfile.ZipInfo("n" * len(raw))
    entry.extra = struct.pack("<HH", 0x7075, len(field)) + field
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(entry, TEXT)
    assert summary(opened(data.getvalue().replace(b"n" * len(raw), raw)))[0][0] == f"a.zip/{wanted}"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("/etc/passwd", "etc/passwd"),
        ("C:\\Windows\\規約.txt", "Windows/規約.txt"),
        ("a/./b//c.txt", "a/b/c.txt"),
        ("a\x00\x1b\u202eb.txt", "ab.txt"),
        ("..", ""),
    ],
)
def test_no_name_leads_out_of_its_archive(name: str, shown: str) -> None:
    """Field report 15: path confinement."""
    assert safe_name(name) == shown


@given(st.text(alphabet="ab規.:/\\\0 \u3000", max_size=40))
def test_no_name_of_any_kind_leads_up_or_out(name: str) -> None:
    """Field report 15."""
    parts = safe_name(name).split("/")
    assert not {"..", "."} & set(parts)
    assert "\\" not in safe_name(name)
    assert safe_name(name) == "" or "" not in parts


def test_two_documents_of_one_name_are_told_apart() -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = zip_file([("規約.txt", "a"), ("規約.txt", "b")])
    assert [source for source, _ in summary(opened(data))] == [
        "a.zip/規約.txt",
        "a.zip/規約 (2).txt",
        "a.zip",
    ]


def test_what_systems_leave_behind_is_passed_over() -> None:
    """As in folders."""
    data = zip_file(
        {
            "__MACOSX/._a.txt": "x",
            ".DS_Store": "x",
            "~$a.docx": "x",
            "Thumbs.db": "x",
            "a.txt": TEXT,
            "d/": "",
        }
    )
    assert summary(opened(data)) == [("a.zip/a.txt", "file"), ("a.zip", "archive")]


def test_an_archive_in_an_archive_is_opened_and_a_broken_one_stops_nothing() -> None:
    """Issue 3, bad input: an archive in an archive."""
    data = zip_file({"b.zip": zip_file({"c.txt": TEXT}), "broken.zip": b"PK\x03\x04 cut", "d.txt": TEXT})
    assert summary(opened(data)) == [
        ("a.zip/b.zip/c.txt", "file"),
        ("a.zip/b.zip", "archive"),
        ("a.zip/broken.zip", "file"),
        ("a.zip/d.txt", "file"),
        ("a.zip", "archive"),
    ]


def test_archives_within_archives_end_at_the_limit_by_its_name() -> None:
    """Issue 3, hostile files: bounded."""
    data = zip_file({"規約.txt": TEXT})
    for _ in range(5):
        data = zip_file({"in.zip": data})
    deepest = opened(data)[0]
    assert not isinstance(deepest, SourceFile)
    assert (deepest.source, deepest.verdict, deepest.detail) == (
        "a.zip/in.zip/in.zip/in.zip",
        "too_large",
        "depth",
    )


def test_a_locked_document_is_refused_and_the_others_go_on() -> None:
    """Issue 3, hostile and broken files: encrypted."""
    locked = bytearray(zip_file({"a.txt": TEXT, "b.txt": TEXT}))
    for mark, flag_at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(mark) + flag_at] |= 1
    assert summary(opened(bytes(locked))) == [
        ("a.zip/a.txt", "encrypted"),
        ("a.zip/b.txt", "file"),
        ("a.zip", "archive"),
    ]


def test_a_damaged_document_is_refused_and_the_others_go_on() -> None:
    """Step 1: a broken one stops nothing."""
    data = bytearray(zip_file({"a.txt": TEXT * 50, "b.txt": TEXT}))
    data[60] ^= 0xFF
    assert summary(opened(bytes(data)))[:2] == [("a.zip/a.txt", "corrupt"), ("a.zip/b.txt", "file")]


def test_a_link_is_not_followed() -> None:
    """Field report 15: symlinks."""
    entry = zipfile.ZipInfo("link")
    entry.external_attr = 0o120777 << 16
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(entry, "/etc/passwd")
    assert summary(opened(data.getvalue()))[0] == ("a.zip/link", "link")


def test_bytes_are_counted_while_they_are_inflated_over_all_documents() -> None:
    """Field report 31: declared sizes lie; nested archives share the bound."""
    bomb = zip_file({f"{number}.txt": bytes(100_000) for number in range(20)})
    assert refused(bomb, Limits(max_member_bytes=1_000_000)) == ("too_large", "archive_bytes")
    nested = zip_file({"a.zip": bomb, "b.zip": bomb})
    assert refused(nested, Limits(max_member_bytes=3_000_000)) == ("too_large", "archive_bytes")


def test_one_document_too_large_is_refused_and_the_others_go_on() -> None:
    data = zip_file({"big.txt": bytes(3_000_000), "a.txt": TEXT})
    found = summary(opened(data, Limits(max_inflated_bytes=1_000_000)))
    assert found == [("a.zip/big.txt", "too_large"), ("a.zip/a.txt", "file"), ("a.zip", "archive")]


def test_more_documents_than_the_limit_refuse_the_archive_by_the_limits_name() -> None:
    data = zip_file({f"{number}.txt": "a" for number in range(4)})
    assert refused(data, Limits(max_members=3)) == ("too_large", "members")


def test_an_archive_of_nothing_is_empty_and_a_broken_one_no_container() -> None:
    assert refused(zip_file({"d/": ""})) == ("empty", None)
    assert opened(b"PK\x03\x04 cut") == []


@pytest.mark.parametrize("name", ["a.docx", "a.jar", "a.txt"])
def test_only_what_is_named_an_archive_is_opened_as_one(name: str) -> None:
    """Disguised files say so when they are read."""
    assert opened(zip_file({"a.txt": TEXT}), name=name) == []


def test_mails_deeper_than_we_look_are_named_and_none_is_missing_in_silence() -> None:
    """Issue 3: nothing is lost without a word."""
    inner = EmailMessage()
    inner["Subject"] = "奥のメール"
    inner.set_content("いちばん奥の本文。")
    for level in range(5):
        outer = EmailMessage()
        outer["Subject"] = f"外側{level}"
        outer.set_content(f"外側{level}の本文。")
        outer.add_attachment(inner)
        inner = outer
    found = list(members_of("a.eml", inner.as_bytes(), Limits()))
    refused = [member for member in found if isinstance(member, SourceReport)]
    assert [(report.verdict, report.detail) for report in refused] == [("too_large", "depth")]
    assert len(found) - len(refused) == Limits().max_depth


@pytest.mark.parametrize(("name", "detail"), [("記録.txt", "inflated"), ("資料.pptx", "inflated_pictures")])
def test_what_is_too_large_is_told_what_can_be_done_about_it(name: str, detail: str) -> None:
    """Pictures can be taken out of slides, and not out of a text."""
    (report,) = (
        each
        for each in opened(zip_file({name: "x" * 2_000}), Limits(max_inflated_bytes=1_000))
        if isinstance(each, SourceReport) and each.verdict == "too_large"
    )
    assert report.detail == detail
    sentence = message("ja", f"refused.too_large.{detail}", **dict(report.values))
    assert ("画像" in sentence) is (detail == "inflated_pictures")
