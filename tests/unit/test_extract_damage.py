"""Damage of any kind: a document is read or refused, and nothing else ever happens."""

from __future__ import annotations

import zipfile
from contextlib import suppress
from email.message import EmailMessage
from io import BytesIO

import pytest
import xlsxwriter
import xlwt
from hypothesis import given, settings
from hypothesis import strategies as st
from pptx import Presentation

from corpus2skill.adapters.extract.extractors import extract_document
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.members import members_of
from corpus2skill.domain.corpus import SourceFile
from corpus2skill.errors import SourceRefused
from tests.fakes.archives import zip_file
from tests.fakes.ole_files import ole_file, outlook_attachment, outlook_mail

LIMITS = Limits(max_characters=1_000_000, max_inflated_bytes=10_000_000, max_member_bytes=10_000_000)


def slides() -> bytes:
    deck, data = Presentation(), BytesIO()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    assert slide.shapes.title is not None
    slide.shapes.title.text = "解約のご案内"
    slide.shapes.add_table(2, 2, 0, 0, 1, 1).table.cell(0, 0).text = "区分"
    deck.save(data)
    return data.getvalue()


def sheets() -> bytes:
    data = BytesIO()
    with xlsxwriter.Workbook(data, {"in_memory": True}) as book:
        book.add_worksheet("料金").write_row(0, 0, ["区分", "月額", 980, 0.5, True])
    return data.getvalue()


def old_sheets() -> bytes:
    book, data = xlwt.Workbook(encoding="utf-8"), BytesIO()
    sheet = book.add_sheet("料金")
    for column, value in enumerate(("区分", 980, 0.5, True, xlwt.Formula("A1"))):
        sheet.write(0, column, value)
    book.save(data)
    return data.getvalue()


def mail() -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"] = "解約について", "窓口 <desk@example.jp>"
    message.set_content("届け出は書面で。", charset="iso-2022-jp")
    message.add_alternative("<p>届け出は書面で。</p>", subtype="html")
    message.add_attachment(b"a,b", maintype="text", subtype="csv", filename="料金.csv")
    return message.as_bytes()


def outlook() -> bytes:
    return ole_file(
        outlook_mail(
            {0x0037: "解約について", 0x1000: "本文。"},
            attachments=[outlook_attachment("a.txt", b"a" * 5_000)],
        )
    )


WHOLE = {
    "a.pptx": slides(),
    "a.xlsx": sheets(),
    "a.xls": old_sheets(),
    "a.eml": mail(),
    "a.msg": outlook(),
    "a.zip": zip_file(
        {"規約.txt": "第1条 解約。", "b.zip": zip_file({"c.eml": mail()}), "d.xls": old_sheets()}
    ),
}
"""One whole document of each kind, by its name."""


def read(name: str, data: bytes) -> None:
    """Read a document and all that is in it, as a compile does; a refusal is a fine end."""
    with suppress(SourceRefused):
        for member in members_of(name, data, LIMITS):
            if isinstance(member, SourceFile):
                read_text(member.source, member.data)
    read_text(name, data)


def read_text(name: str, data: bytes) -> None:
    with suppress(SourceRefused):
        extract_document(name, data, LIMITS)


def damaged(data: bytes, places: list[tuple[float, int]], cut: float) -> bytes:
    """Return `data` with bytes changed at relative places, cut off behind the share `cut` of it."""
    changed = bytearray(data)
    for place, byte in places:
        changed[int(place * len(changed))] = byte
    return bytes(changed[: max(int(cut * len(changed)), 1)])


DAMAGE = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=12)
CUT = st.one_of(st.just(1.0), st.just(1.0), st.floats(0, 1))


def test_a_null_character_in_the_charset_of_an_attachment_s_name_is_looked_past() -> None:
    """Issue 3, broken files: found by changing one byte of a mail."""
    data = WHOLE["a.eml"]
    read("a.eml", damaged(data, [(0.8984375, 0)], 1.0))


@pytest.mark.parametrize("name", WHOLE)
@settings(max_examples=60, deadline=None)
@given(places=DAMAGE, cut=CUT)
def test_damaged_bytes_are_read_or_refused(name: str, places: list[tuple[float, int]], cut: float) -> None:
    """Issue 3, hostile and broken files: truncated, damaged; the others go on."""
    read(name, damaged(WHOLE[name], places, cut))


@pytest.mark.parametrize("name", ["a.pptx", "a.xlsx"])
@settings(max_examples=60, deadline=None)
@given(part=st.floats(0, 1, exclude_max=True), places=DAMAGE, cut=CUT)
def test_a_package_with_one_damaged_part_is_read_or_refused(
    name: str, part: float, places: list[tuple[float, int]], cut: float
) -> None:
    """The same behind a ZIP that is whole: checksums do not save the reader."""
    with zipfile.ZipFile(BytesIO(WHOLE[name])) as archive:
        parts = {each: archive.read(each) for each in archive.namelist()}
    chosen = sorted(each for each in parts if each.endswith((".xml", ".rels")))[int(part * len(parts)) % 20]
    parts[chosen] = damaged(parts[chosen], places, cut)
    read(name, zip_file(parts))
