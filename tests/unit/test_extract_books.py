"""Books (EPUB): the chapters in the order of reading."""

from __future__ import annotations

import pytest

from corpus2skill.adapters.extract.extractors import extract_document
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.domain.corpus import ExtractedText
from corpus2skill.errors import SourceRefused
from tests.fakes.archives import zip_file

CONTAINER = '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'


def book(chapters: dict[str, str], *, head: str = "", extra: dict[str, str] | None = None) -> bytes:
    """Return an .epub with these chapters, last in the archive first in the spine; `head` begins its book.opf."""
    items = "".join(
        f'<item id="{name}" href="text/{name}.xhtml" media-type="application/xhtml+xml"'
        f"{' properties=' + chr(34) + 'nav' + chr(34) if name == 'nav' else ''}/>"
        for name in chapters
    )
    spine = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OPS/book.opf": f'{head}<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>利用の手引き</dc:title></metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
        **{
            f"OPS/text/{name}.xhtml": f'<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>{body}</body></html>'
            for name, body in reversed(chapters.items())
        },
        **(extra or {}),
    }
    return zip_file(parts)


def read(data: bytes) -> ExtractedText:
    return extract_document("a.epub", data, Limits())


def test_a_book_is_its_chapters_in_the_order_of_its_spine() -> None:
    """Issue 3, formats: .epub."""
    extracted = read(
        book(
            {
                "nav": "<nav><ol><li><a href='one.xhtml'>第1章</a></li></ol></nav>",
                "one": "<h1>第1章 契約</h1><p><a id='p1'/>申込みは<ruby>書面<rt>しょめん</rt></ruby>による。</p>",
                "two": "<h1>第2章 解約</h1><p>届け出る。</p>",
            }
        )
    )
    assert extracted.text == "第1章 契約\n\n申込みは書面による。\n\n第2章 解約\n\n届け出る。"
    assert extracted.title == "利用の手引き"
    assert [heading.title for heading in extracted.headings] == ["第1章 契約", "第2章 解約"]


def test_a_chapter_that_is_missing_stops_nothing_else() -> None:
    data = book({"one": "<p>本文。</p>", "two": "<p>続き。</p>"})
    assert read(data.replace(b"text/two.xhtml", b"text/tow.xhtml")).text == "本文。"


def test_old_books_declare_a_dtd_and_entities_of_their_own_are_hostile() -> None:
    """Issue 3, hostile files: external entities."""
    assert read(
        book({"one": "<p>本文。</p>"}, head='<!DOCTYPE package PUBLIC "-//X" "http://x.example/x.dtd">')
    ).text
    with pytest.raises(SourceRefused) as refusal:
        read(
            book(
                {"one": "<p>本文。</p>"}, head='<!DOCTYPE package [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
            )
        )
    assert refusal.value.verdict == "hostile"


def test_a_book_protected_against_copying_is_encrypted_and_locked_fonts_are_not() -> None:
    """design.md, verdicts."""
    locked = '<encryption><EncryptedData><CipherData><CipherReference URI="{}"/></CipherData></EncryptedData></encryption>'
    fonts = {"META-INF/encryption.xml": locked.format("OPS/fonts/a.otf")}
    assert read(book({"one": "<p>本文。</p>"}, extra=fonts)).text == "本文。"
    with pytest.raises(SourceRefused) as refusal:
        read(
            book(
                {"one": "<p>本文。</p>"},
                extra={"META-INF/encryption.xml": locked.format("OPS/text/one.xhtml")},
            )
        )
    assert refusal.value.verdict == "encrypted"


def test_a_book_without_a_book_is_corrupt() -> None:
    with pytest.raises(SourceRefused) as refusal:
        read(zip_file({"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER}))
    assert (refusal.value.verdict, refusal.value.detail) == ("corrupt", "not_as_named")
