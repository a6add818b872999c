"""Mails: what stands in them is read, whatever their labels say; what is attached is a document of its own."""

from __future__ import annotations

import base64
from email.message import EmailMessage
from hashlib import sha256

import pytest

from corpus2skill.adapters.extract.extractors import extract_document
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.members import members_of
from corpus2skill.domain.corpus import ExtractedText, SourceFile, SourceReport
from corpus2skill.errors import SourceRefused
from tests.fakes.ole_files import ole_file, outlook_attachment, outlook_mail

BODY = "来月分の解約の届け出は、二十五日までにお願いします。"


def read(data: bytes, name: str = "m.eml") -> ExtractedText:
    return extract_document(name, data, Limits())


def within(data: bytes, name: str = "m.eml") -> dict[str, bytes]:
    return {
        member.source: member.data
        for member in members_of(name, data, Limits())
        if isinstance(member, SourceFile)
    }


def raw_mail(body: bytes, *headers: bytes) -> bytes:
    return b"\r\n".join((*headers, b"", body))


def mail(body: str = BODY, **headers: str) -> EmailMessage:
    message = EmailMessage()
    for name, value in {"Subject": "解約について", "From": "佐藤 <sato@example.jp>", **headers}.items():
        message[name] = value
    message.set_content(body)
    return message


def test_a_mail_reads_as_its_subject_who_wrote_when_and_what() -> None:
    """Issue 3, formats: mail."""
    message = mail(To="窓口 <desk@example.jp>", Date="Fri, 05 Apr 2024 09:30:00 +0900")
    extracted = read(message.as_bytes())
    assert extracted.text == (
        "解約について\n\nFrom: 佐藤 <sato@example.jp>\nTo: 窓口 <desk@example.jp>\n"
        f"Date: 2024-04-05 09:30 +0900\n\n{BODY}"
    )
    assert extracted.title == "解約について"
    assert [heading.title for heading in extracted.headings] == ["解約について"]


@pytest.mark.parametrize("label", [b"us-ascii", b"iso-8859-1", b"utf-8", b"shift_jis", b"x-nothing", b""])
@pytest.mark.parametrize("codec", ["cp932", "euc_jp", "iso2022_jp", "utf-8"])
def test_a_label_that_lies_does_not_spoil_the_words(codec: str, label: bytes) -> None:
    """Issue 3, formats: mail: charset labels that lie."""
    body = (BODY * 3).encode(codec)
    data = raw_mail(body, b"Subject: test", b"Content-Type: text/plain; charset=" + label)
    assert BODY * 3 in read(data).text


def test_headers_in_raw_japanese_are_read_as_those_who_wrote_them_did() -> None:
    """Issue 3: mails from before the standards."""
    subject = "解約のお知らせとお願い"
    for codec in ("cp932", "iso2022_jp", "utf-8"):
        data = raw_mail(b"hello", b"Subject: " + subject.encode(codec))
        assert read(data).title == subject


def test_a_subject_cut_in_the_middle_of_a_character_is_put_together() -> None:
    """RFC 2047 forbids it and mailers do it."""
    raw = "解約のお知らせ".encode()
    pieces = [base64.b64encode(part).decode() for part in (raw[:7], raw[7:])]
    words = "\r\n ".join(f"=?UTF-8?B?{piece}?=" for piece in pieces)
    assert read(raw_mail(b"hello", b"Subject: " + words.encode())).title == "解約のお知らせ"


def test_the_plain_body_is_preferred_and_a_page_is_read_where_there_is_none() -> None:
    """Issue 3, formats: mail."""
    both = mail()
    both.add_alternative(f"<html><body><p>頁の{BODY}</p></body></html>", subtype="html")
    assert "頁の" not in read(both.as_bytes()).text
    page = EmailMessage()
    page["Subject"] = "料金"
    page.set_content(
        "<body><table><tr><th>区分</th><th>月額</th></tr><tr><td>標準</td><td>980円</td></tr></table>",
        subtype="html",
    )
    assert "| 標準 | 980円 |" in read(page.as_bytes()).text


def test_attachments_are_documents_of_their_own_named_below_the_mail() -> None:
    """Issue 3, formats: attachments are documents of their own."""
    message = mail()
    message.add_attachment(
        "第1条 添付の規約。".encode(), maintype="text", subtype="plain", filename="規約.txt"
    )
    message.add_attachment(b"second", maintype="text", subtype="plain", filename="規約.txt")
    message.add_attachment(b"third", maintype="text", subtype="plain", filename="../../etc/passwd")
    found = within(message.as_bytes(), "受信/m.eml")
    assert found == {
        "受信/m.eml/規約.txt": "第1条 添付の規約。".encode(),
        "受信/m.eml/規約 (2).txt": b"second",
        "受信/m.eml/_.._etc_passwd": b"third",
    }
    assert "添付の規約" not in read(message.as_bytes()).text


def test_pictures_of_the_layout_and_signatures_are_no_documents() -> None:
    """Else every mail with a logo would be reported as a picture that cannot be read."""
    message = mail()
    message.add_attachment(
        b"\x89PNG\r\n\x1a\n", maintype="image", subtype="png", filename="logo.png", cid="<logo>"
    )
    message.add_attachment(b"sign", maintype="application", subtype="pkcs7-signature", filename="smime.p7s")
    assert within(message.as_bytes()) == {}


def test_a_forwarded_mail_is_a_mail_below_the_mail_and_its_attachments_below_it() -> None:
    """Issue 3: an archive in an archive."""
    inner = mail("転送された本文です。", Subject="元の件名")
    inner.add_attachment("内側".encode(), maintype="text", subtype="plain", filename="a.txt")
    outer = mail()
    outer.add_attachment(inner)
    found = within(outer.as_bytes())
    assert list(found) == ["m.eml/元の件名.eml", "m.eml/元の件名.eml/a.txt"]
    assert "転送された本文です。" in read(found["m.eml/元の件名.eml"]).text


def test_a_sealed_mail_is_refused_as_encrypted() -> None:
    """design.md, verdicts."""
    data = raw_mail(
        b"MIIB", b"Subject: secret", b"Content-Type: application/pkcs7-mime; smime-type=enveloped-data"
    )
    with pytest.raises(SourceRefused) as refusal:
        read(data)
    assert refusal.value.verdict == "encrypted"


def test_a_mail_without_a_word_is_empty() -> None:
    with pytest.raises(SourceRefused) as refusal:
        read(raw_mail(b" \r\n", b"From: a@example.jp"))
    assert refusal.value.verdict == "empty"


@pytest.mark.parametrize(
    ("header", "detail"),
    [
        (b"To: " + b"a@example.jp, " * 50_000, "headers"),
        (b"Content-Type: text/plain" + b'; a="b"' * 5_000, "headers"),
        (b"X: " + b"a" * 400_000 + b"\r\nY: " + b"a" * 400_000, None),
        ((b"X: " + b"a" * 400_000 + b"\r\n") * 6, "headers"),
        (b"Subject: " + b" ".join([b"=?utf-8?Q?a?="] * 2_900), None),
        (b"Subject: " + b" ".join([b"=?utf-8?Q?a?="] * 3_100), "encoded_words"),
        (b"Subject: " + b"=?" * 3_100, "encoded_words"),
    ],
)
def test_headers_are_bounded_by_name_and_large_ones_are_read(header: bytes, detail: str | None) -> None:
    """Issue 3, hostile files: bounded in time."""
    data = raw_mail(b"hello", b"From: a@example.jp", header)
    if detail is None:
        assert "hello" in read(data).text
        return
    with pytest.raises(SourceRefused) as refusal:
        read(data)
    assert (refusal.value.verdict, refusal.value.detail) == ("too_large", detail)


def test_an_attached_mail_whose_kind_is_damaged_stops_nothing() -> None:
    """A NUL in a charset's name makes the library fail, though nothing asked for the words."""
    part = b'--b\r\nContent-Type: message/delivery-status; charset="a\0b"\r\n\r\n\x93\xfa\r\n--b--'
    plain = b'Content-Type: text/plain; charset="a\0b"'
    assert read(raw_mail("日本語の本文です。".encode("cp932"), b"Subject: a", plain)).text
    within(raw_mail(part, b"Content-Type: multipart/mixed; boundary=b"))


def test_a_list_of_a_thousand_people_is_read() -> None:
    """A bound must let through what people send."""
    names = ", ".join(f"=?UTF-8?B?5L2Q6Jek?= <sato{number}@example.jp>" for number in range(1_000))
    assert read(raw_mail(b"hello", b"To: " + names.encode())).text.count("佐藤") == 1_000


def test_a_mail_of_more_parts_than_the_limit_is_refused_and_never_cut() -> None:
    """design.md, limits: never cut."""
    data = raw_mail(b"--b\r\n\r\nx\r\n" * 2_001, b"Content-Type: multipart/mixed; boundary=b")
    with pytest.raises(SourceRefused) as refusal:
        read(data)
    assert (refusal.value.verdict, refusal.value.detail) == ("too_large", "members")


def test_an_outlook_mail_reads_as_one_that_travelled() -> None:
    """Issue 3, formats: .msg."""
    tree = outlook_mail(
        {
            0x0037: "解約について",
            0x1000: BODY,
            0x0E04: "窓口",
            0x007D: "From: =?utf-8?B?5L2Q6Jek?= <sato@example.jp>\r\nDate: Fri, 05 Apr 2024 09:30:00 +0900\r\n",
        }
    )
    extracted = read(ole_file(tree), "m.msg")
    assert extracted.text == (
        f"解約について\n\nFrom: 佐藤 <sato@example.jp>\nTo: 窓口\nDate: 2024-04-05 09:30 +0900\n\n{BODY}"
    )


def test_an_outlook_mail_of_eight_bits_is_read_by_its_code_page_or_its_look() -> None:
    """Issue 3: charset labels that lie; Japanese Outlook before Unicode."""
    for page in (932, 1252):
        tree = outlook_mail(
            {0x0037: "解約について".encode("cp932"), 0x1000: (BODY * 2).encode("cp932")},
            numbers={0x3FFD: page},
        )
        assert BODY * 2 in read(ole_file(tree), "m.msg").text


def test_attachments_of_an_outlook_mail_are_documents_and_a_mail_among_them_too() -> None:
    """Issue 3, formats: attachments are documents of their own."""
    attached = ("第1条 添付の規約。" * 400).encode()
    inner = outlook_mail({0x0037: "元の件名", 0x1000: "転送された本文です。"}, header=24)
    tree = outlook_mail(
        {0x0037: "件名", 0x1000: BODY},
        attachments=[outlook_attachment("規約.txt", attached), outlook_attachment("元の件名", inner)],
    )
    found = within(ole_file(tree), "m.msg")
    assert found["m.msg/規約.txt"] == attached
    assert "転送された本文です。" in read(found["m.msg/元の件名.eml"]).text


def test_a_member_says_its_own_content_by_its_hash() -> None:
    """ports/extractor.py: members are sources like any other."""
    message = mail()
    message.add_attachment(b"data", maintype="text", subtype="plain", filename="a.txt")
    member = next(iter(members_of("m.eml", message.as_bytes(), Limits())))
    assert isinstance(member, SourceFile)
    assert member.sha256 == sha256(b"data").hexdigest()


def test_more_attachments_than_the_limit_refuse_the_mail_by_the_limits_name() -> None:
    """Issue 3, hostile files: bounded."""
    message = mail()
    for number in range(3):
        message.add_attachment(b"a", maintype="text", subtype="plain", filename=f"{number}.txt")
    with pytest.raises(SourceRefused) as refusal:
        list(members_of("m.eml", message.as_bytes(), Limits(max_members=2)))
    assert (refusal.value.verdict, refusal.value.detail) == ("too_large", "members")
    assert not any(
        isinstance(each, SourceReport) for each in members_of("m.eml", mail().as_bytes(), Limits())
    )
