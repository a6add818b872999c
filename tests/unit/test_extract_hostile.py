"""Files made to do harm: each is read or refused within its bounds, by name, and the others go on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from corpus2skill.adapters.extract.child_pool import ChildPool
from corpus2skill.adapters.extract.extractors import Extractors, extract_document
from corpus2skill.adapters.extract.formats import is_light
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.domain.corpus import SourceFile, SourceReport
from corpus2skill.errors import SourceRefused
from corpus2skill.messages import LANGUAGES, message
from tests.fakes import hostile_documents as hostile
from tests.fakes.word_documents import paragraph, word_document

pytestmark = pytest.mark.anyio

LIMITS = Limits(max_seconds=4, max_memory_bytes=250_000_000, max_inflated_bytes=20_000_000, max_pages=1_000)
LAUGH = "<w:p><w:r><w:t>&l11;</w:t></w:r></w:p>"
STEAL = "<w:p><w:r><w:t>&stolen;</w:t></w:r></w:p>"
SECRET = "/etc/hostname"
XHTML = '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>本文 &{};</p></body></html>'
INLINE = '<row><c t="inlineStr"><is><t>&{};</t></is></c></row>'
FRAME = "<w:tbl><w:tr><w:tc>"
REFERENCE = '<w:r><w:footnoteReference w:id="1"/></w:r>'
NOTED = f"<w:p>{REFERENCE}<w:r><w:t>本文</w:t></w:r></w:p>"


@pytest.fixture(scope="module")
def extractors() -> Extractors:
    """One pool for all: what one document does to its process must not touch the next."""
    return Extractors(LIMITS, ChildPool(LIMITS))


async def said(extractors: Extractors, name: str, data: bytes) -> str:
    """Return `text`, or the code of the refusal, once both languages can say it."""
    try:
        await extractors.extract(SourceFile(source=name, data=data, sha256=""))
    except SourceRefused as refusal:
        words = [message(language, refusal.code, **refusal.values) for language in LANGUAGES]
        return refusal.code.removeprefix("refused.") if all(words) else "unsaid"
    return "text"


NO_MEMORY = "too_large.memory hostile.crash"
"""A library that gets no memory may say so or just crash; which of the two is seen depends on the moment."""
HOSTILE: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "word of entities": (
        "a.docx",
        lambda: hostile.word(LAUGH, before=hostile.laughing_doctype("w:document")),
        "hostile.dtd",
    ),
    "word that steals": (
        "a.docx",
        lambda: hostile.word(STEAL, before=hostile.stealing_doctype("w:document", SECRET)),
        "hostile.dtd",
    ),
    "word that inflates": ("a.docx", lambda: hostile.word("あ" * 10_000_000), "too_large.inflated"),
    "word nested without end": ("a.docx", lambda: hostile.word(FRAME * 50_000), "hostile.nesting"),
    "word of frames in frames": (
        "a.docx",
        lambda: hostile.word(FRAME * 80 + "<w:p/>" + "</w:tc></w:tr></w:tbl>" * 80),
        "hostile.nesting",
    ),
    "book of entities": (
        "a.epub",
        lambda: hostile.book(hostile.laughing_doctype("html") + XHTML.format("l11")),
        "hostile.dtd",
    ),
    "book that steals": (
        "a.epub",
        lambda: hostile.book(hostile.stealing_doctype("html", SECRET) + XHTML.format("stolen")),
        "hostile.dtd",
    ),
    "workbook of entities": (
        "a.xlsx",
        lambda: hostile.workbook(
            hostile.sheet_rows(INLINE.format("l11"), before=hostile.laughing_doctype("worksheet"))
        ),
        "hostile.dtd",
    ),
    "workbook of entities among its strings": (
        "a.xlsx",
        lambda: hostile.workbook(
            hostile.sheet_rows("<row/>"),
            strings=hostile.laughing_doctype("sst") + "<sst><si><t>&l11;</t></si></sst>",
        ),
        "hostile.dtd",
    ),
    "workbook nested without end": (
        "a.xlsx",
        lambda: hostile.workbook(hostile.sheet_rows("<row>" * 3_000)),
        "hostile.nesting",
    ),
    "word of one vast text": (
        "a.docx",
        lambda: hostile.word(f"<w:p><w:r><w:t>{'x' * 11_000_000}</w:t></w:r></w:p>"),
        "too_large.element",
    ),
    "word of a note in itself": (
        "a.docx",
        lambda: word_document(NOTED, footnotes=f'<w:footnote w:id="1"><w:p>{REFERENCE}</w:p></w:footnote>'),
        "hostile.nesting",
    ),
    "slides nested without end": (
        "a.pptx",
        lambda: hostile.deck(hostile.slide_shapes("<p:grpSp>" * 3_000)),
        "hostile.nesting",
    ),
    "slides of groups in groups": (
        "a.pptx",
        lambda: hostile.deck(hostile.slide_shapes("<p:grpSp>" * 80 + "</p:grpSp>" * 80)),
        "hostile.nesting",
    ),
    "slides of entities": (
        "a.pptx",
        lambda: hostile.deck(hostile.laughing_doctype("sld") + "<sld>&l11;</sld>"),
        "hostile.dtd",
    ),
    "open sheets of entities": (
        "a.ods",
        lambda: hostile.open_sheets(hostile.laughing_doctype("table") + "<table-row>&l11;</table-row>"),
        "hostile.dtd",
    ),
    "open sheets nested without end": (
        "a.ods",
        lambda: hostile.open_sheets("<table-row>" * 3_000),
        "hostile.nesting",
    ),
    "book nested without end": (
        "a.epub",
        lambda: hostile.book("<div>" * 3_000),
        "hostile.nesting",
    ),
    "mail of parts in parts": ("a.eml", lambda: hostile.nested_mail(200), "hostile.nesting"),
    "mail of parts without end": ("a.eml", lambda: hostile.nested_mail(3_000), "hostile.nesting"),
    "mail of mails without end": (
        "a.eml",
        lambda: hostile.nested_mail(3_000, is_forwarded=True),
        "hostile.nesting",
    ),
    "mail of a vast subject": (
        "a.eml",
        lambda: b"Subject: " + b"\r\n ".join([b"=?UTF-8?B?5L2Q6Jek?="] * 200_000) + b"\r\n\r\nhello",
        "too_large.headers",
    ),
    "mail of encoded words": (
        "a.eml",
        lambda: b"Subject: " + b" ".join([b"=?UTF-8?B?5L2Q6Jek?="] * 20_000) + b"\r\n\r\nhello",
        "too_large.encoded_words",
    ),
    "workbook that inflates": (
        "a.xlsx",
        lambda: hostile.workbook(hostile.sheet_rows(f"<row><c><v>{'1' * 9_000_000}</v></c></row>" * 3)),
        "too_large.inflated",
    ),
    "workbook of one far cell": (
        "a.xlsx",
        lambda: hostile.workbook(hostile.sheet_rows('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')),
        "text",
    ),
    "page nested without end": ("a.html", lambda: b"<div>" * 300_000, "hostile.nesting"),
    "page of comments": ("a.txt", lambda: b"<!---->" * 300_000, "text"),
    "page of a vast cell": (
        "a.html",
        lambda: b"<table><tr><td colspan=99999999 rowspan=99999999>a<td>b",
        "text",
    ),
    "pdf of forms in forms": ("a.pdf", lambda: hostile.pdf_with_laughing_forms(9), NO_MEMORY),
    "pdf of a form in itself": ("a.pdf", lambda: hostile.pdf_with_laughing_forms(1), "empty.no_text_layer"),
    "pdf of a deep tree": ("a.pdf", lambda: hostile.pdf_with_deep_tree(20_000), "corrupt"),
    "pdf of a tree in itself": ("a.pdf", hostile.pdf_with_circular_tree, "corrupt"),
    "pdf of pages that are not there": ("a.pdf", lambda: hostile.pdf_with_countless_pages(999), "text"),
    "pdf of countless pages": (
        "a.pdf",
        lambda: hostile.pdf_with_one_page_again_and_again(10**5),
        "too_large.pages",
    ),
    "pdf that inflates": (
        "a.pdf",
        lambda: hostile.simple_pdf(b" " * 200_000_000, is_packed=True),
        NO_MEMORY,
    ),
    "pdf that never ends": (
        "a.pdf",
        lambda: hostile.simple_pdf(b"0 0 m 9 9 l S " * 3_000_000, is_packed=True),
        NO_MEMORY,
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
async def test_what_is_made_to_do_harm_is_refused_within_its_bounds(
    extractors: Extractors, case: str
) -> None:
    """Issue 3: zip and XML bombs, external entities, a PDF that never ends; the others go on."""
    name, make, expected = HOSTILE[case]
    assert await said(extractors, name, make()) in expected.split()
    assert await said(extractors, "b.docx", word_document(paragraph("次"))) == "text"


async def test_parts_within_parts_are_refused_by_name_where_attachments_are_looked_for(
    extractors: Extractors,
) -> None:
    """Issue 3: hostile files; nobody is to read of a recursion."""
    for is_forwarded in (False, True):
        mail = hostile.nested_mail(200, is_forwarded=is_forwarded)
        with pytest.raises(SourceRefused) as refusal:
            [_ async for _ in extractors.members(SourceFile(source="a.eml", data=mail, sha256=""))]
        assert refusal.value.code == "refused.hostile.nesting"


async def test_a_document_that_takes_too_long_is_refused_by_its_time() -> None:
    """Issue 3: a PDF that never ends, bounded in time: this one keeps a reader busy and needs no memory."""
    limits = Limits(max_seconds=0.4)
    extractors = Extractors(limits, ChildPool(limits, size=1))
    endless = hostile.pdf_with_one_page_again_and_again(4_999)
    assert await said(extractors, "a.pdf", endless) == "too_large.time"
    assert await said(extractors, "b.md", "# 解約\n\n30日前まで".encode()) == "text"


async def test_archives_are_opened_within_bounds_and_a_bomb_in_one_stops_nothing_else(
    extractors: Extractors,
) -> None:
    """Issue 3: zip bombs, an archive in an archive."""
    bombs = {"nest.zip": hostile.nested_archives(30), "zeros.txt": bytes(30_000_000), "良い.txt": "解約"}
    archive = SourceFile(source="a.zip", data=hostile.archive(bombs), sha256="")
    found = [member async for member in extractors.members(archive)]
    reports = {
        each.source: f"{each.verdict}.{each.detail}" for each in found if isinstance(each, SourceReport)
    }
    assert reports["a.zip/zeros.txt"] == "too_large.inflated"
    assert reports["a.zip/nest.zip/29.zip/28.zip"] == "too_large.depth"
    assert [each.source for each in found if isinstance(each, SourceFile)] == ["a.zip/良い.txt"]


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("text.pdf", "解約のご案内".encode(), "corrupt.not_pdf"),
        ("text.docx", "解約のご案内".encode(), "corrupt.not_docx"),
        ("text.xlsx", b"a,b", "corrupt.not_as_named"),
        ("text.epub", b"text", "corrupt.not_as_named"),
        ("text.msg", b"text", "corrupt.not_as_named"),
        ("text.zip", b"text", "corrupt.not_as_named"),
        ("zip.xlsx", hostile.archive({"a.txt": "x"}), "corrupt.not_as_named"),
        ("zip.txt", hostile.archive({"a.txt": "x"}), "corrupt.not_as_named"),
        ("pdf.docx", hostile.simple_pdf(), "text"),
        ("pdf.txt", hostile.simple_pdf(), "text"),
        ("word.pdf", word_document(paragraph("解約")), "text"),
        ("word.zip", word_document(paragraph("解約")), "text"),
        ("page.txt", "<!DOCTYPE html><p>解約".encode(), "text"),
        ("program.txt", b"\x7fELF" + bytes(range(256)) * 8, "undecodable.binary"),
        ("program.md", b"MZ\x90\0" + bytes(200), "undecodable.binary"),
        ("picture.pdf", b"\x89PNG\r\n\x1a\n" + bytes(50), "unsupported.image"),
        ("packed.docx", b"\x1f\x8b\x08" + bytes(50), "unsupported.archive"),
    ],
)
async def test_content_decides_where_the_name_lies(
    extractors: Extractors, name: str, data: bytes, expected: str
) -> None:
    """Issue 3: disguised (a text named .pdf): read as what it is, or refused with what it begins with."""
    assert await said(extractors, name, data) == expected


@pytest.mark.parametrize("share", [1 / 3, 1 / 2, 9 / 10])
async def test_every_format_cut_short_is_refused_or_a_shorter_text(
    extractors: Extractors, share: float
) -> None:
    """Issue 3: truncated. Formats with an index at their end are refused; a cut page or text is a shorter one."""
    long = "第1条 解約は30日前までに申し出る。" * 200
    for name, data in {
        "a.docx": word_document("".join(paragraph(f"{number} {long}") for number in range(9))),
        "a.epub": hostile.book(XHTML.format("amp") + long),
        "a.xlsx": hostile.workbook(hostile.sheet_rows("<row><c><v>1</v></c><c><v>2</v></c></row>" * 300)),
        "a.pdf": hostile.simple_pdf(b"BT /F 12 Tf 72 700 Td " + b"(Hello) Tj 0 -14 Td " * 50 + b"ET"),
    }.items():
        assert (await said(extractors, name, data[: int(len(data) * share)])).startswith("corrupt"), name
    page = f"<!DOCTYPE html><meta charset=utf-8><p>{long}</p>".encode("cp932")
    assert await said(extractors, "a.html", page[: int(len(page) * share) // 2 * 2]) in {
        "text",
        "undecodable",
    }


async def test_every_real_document_cut_short_is_read_or_refused(
    extractors: Extractors, documents: Path
) -> None:
    """Issue 3: truncated; never a fault of the reader (`corrupt.reader`, `hostile.crash`)."""
    wrong: list[tuple[str, float, str]] = []
    for path in sorted((documents / "files").iterdir()):
        data = path.read_bytes()
        for share in (1 / 3, 1 / 2, 9 / 10):
            verdict = await said(extractors, path.name, data[: int(len(data) * share)])
            if verdict in {"corrupt.reader", "hostile.crash"} or verdict.startswith("too_large.t"):
                wrong.append((path.name, share, verdict))
    assert wrong == []


@pytest.mark.parametrize(
    "text",
    [
        "، שלום. يمكن إلغاء الاشتراك قبل ثلاثين يومًا.\n\nلا يتم رد الرسوم.",
        "연간 구독은 30일 전까지 해지할 수 있습니다.\n\n환불되지 않습니다.",
        "年度订阅可在续订日前三十天取消。\n\n费用不予退还。",
        "สามารถยกเลิกได้ภายในสามสิบวัน",
        "Годовую подписку можно отменить.\n\nОплата не возвращается.",
        "\u202bעברית\u202c ו־English ביחד 👨‍👩‍👧 e\u0301",
    ],
)
def test_other_languages_and_right_to_left_text_are_kept_as_they_are(text: str) -> None:
    """Issue 3: text in other languages, right-to-left text."""
    assert extract_document("a.txt", text.encode(), Limits()).text == text


@pytest.mark.parametrize(
    "line", ["解約は30日前まで。", "a" * 80, "| a | b |", "- x", "> ", "```", "1. ", "#", '"', "&lt;<b>"]
)
@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv", "a.tsv"])
def test_a_long_text_without_a_blank_line_costs_no_more_than_its_length(name: str, line: str) -> None:
    """Issue 3: a document without a single blank line. Plain texts are read without a process to kill."""
    assert is_light(name, line.encode())
    for parting in ("\n", ""):
        data = (line + parting).encode() * 8_000
        try:
            verdict = "text" if extract_document(name, data, Limits()).text else "nothing"
        except SourceRefused as refusal:
            verdict = refusal.verdict
        assert verdict in {"text", "corrupt", "empty"}


def test_every_limit_says_what_was_wanted_what_came_and_what_to_do() -> None:
    """House rule: a message for each detail that a bound may give, in both languages."""
    for detail in ("time", "memory", "output"):
        refusal = SourceRefused("too_large", detail, limit=60)
        assert all("60" in message(language, refusal.code, **refusal.values) for language in LANGUAGES)
