"""Step 1 for PDF: paragraphs, tables and headings out of placed characters."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from fpdf import FPDF

from corpus2skill.adapters.extract.extractors import extract_document
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.pdf_glyphs import cleaned, has_controls, is_garbage
from corpus2skill.adapters.extract.pdf_join import LineJoiner, joined_lines
from corpus2skill.domain.corpus import ExtractedText
from corpus2skill.errors import SourceRefused
from tests.fakes.hostile_documents import pdf_with_circular_tree, pdf_with_countless_pages

JAPANESE_FONTS = (
    Path("/usr/share/fonts/opentype/ipafont-gothic/ipag.ttf"),
    Path("/usr/share/fonts/truetype/fonts-japanese-gothic.ttf"),
    Path("/usr/share/fonts/opentype/ipaexfont-gothic/ipaexg.ttf"),
)
LINE = 6.0
"""Millimetres from line to line."""


class Sheets:
    """Writes lines where a test wants them."""

    def __init__(self, *, family: str = "helvetica") -> None:
        self.pdf = FPDF()
        self.pdf.set_auto_page_break(auto=False)
        self.family = family
        self.y = 20.0
        if family == "ja":
            font = next((path for path in JAPANESE_FONTS if path.exists()), None)
            if font is None:
                pytest.skip("no Japanese font on this machine")
            self.pdf.add_font("ja", fname=str(font))

    def page(self) -> Sheets:
        self.pdf.add_page()
        self.y = 20.0
        return self

    def line(
        self, text: str, *, x: float = 20.0, size: float = 11, bold: bool = False, gap: float = 0.0
    ) -> Sheets:
        self.y += LINE + gap
        return self.at(x, self.y, text, size=size, bold=bold)

    def at(self, x: float, y: float, text: str, *, size: float = 11, bold: bool = False) -> Sheets:
        self.pdf.set_font(self.family, "B" if bold else "", size)
        self.pdf.text(x, y, text)
        return self

    def read(self, limits: Limits | None = None) -> ExtractedText:
        return extract_document("a.pdf", bytes(self.pdf.output()), limits or Limits())


def english(sheets: Sheets, sentences: int = 3) -> Sheets:
    """Write lines of one paragraph, all but the last of them full."""
    for number in range(sentences):
        sheets.line(f"Line {number} of a paragraph that goes on and on until the right margin is met here")
    return sheets.line("and then it ends.")


ONE = (
    "Line 0 of a paragraph that goes on and on until the right margin is met here "
    "Line 1 of a paragraph that goes on and on until the right margin is met here "
    "Line 2 of a paragraph that goes on and on until the right margin is met here and then it ends."
)


def test_wrapped_lines_make_paragraphs_and_gaps_part_them() -> None:
    """Step 1: paragraphs by line gaps, Latin lines joined with a space."""
    sheets = english(Sheets().page())
    sheets.y += 6
    assert english(sheets).read().text == f"{ONE}\n\n{ONE}"


def test_wrapped_japanese_lines_join_without_a_space() -> None:
    """design.md, stack, PDF: wrapped Japanese lines joined without a space."""
    sheets = Sheets(family="ja").page()
    for line in (
        "年額プランの解約は、契約管理画面の「解約申請」から行うものとし、契約期間の末",
        "日までサービスを利用できる。",
    ):
        sheets.line(line)
    sheets.line("　日割りによる返金は行わない。")
    assert sheets.read().text.split("\n\n") == [
        "年額プランの解約は、契約管理画面の「解約申請」から行うものとし、契約期間の末日までサービスを利用できる。",
        "日割りによる返金は行わない。",
    ]


def test_articles_are_headings_though_they_look_like_the_body() -> None:
    """Step 1: headings by patterns such as 第N条 when set apart."""
    sheets = Sheets(family="ja").page()
    sheets.line("利用規約", size=18)
    sheets.line("第3章　解約", gap=8)
    sheets.line("第12条（解約）", gap=6)
    sheets.line("年額プランの解約は、契約管理画面から申請するものとし、契約期間の末日まで利用")
    sheets.line("できる。第3条 の定めは、ここでは用いない。")
    text = sheets.read()
    assert [(heading.level, heading.title) for heading in text.headings] == [
        (1, "利用規約"),
        (2, "第3章 解約"),
        (3, "第12条（解約）"),
    ]
    assert text.title == "利用規約"
    assert text.text.endswith("まで利用できる。第3条 の定めは、ここでは用いない。")


def test_larger_and_bolder_lines_are_headings() -> None:
    """Step 1: headings by font size and weight."""
    sheets = Sheets().page().line("Terms", size=20)
    english(sheets.line("1. Duties", bold=True, gap=6))
    english(sheets.line("2. Fees", bold=True, gap=6))
    text = sheets.read()
    assert [(heading.level, heading.title) for heading in text.headings] == [
        (1, "Terms"),
        (2, "1. Duties"),
        (2, "2. Fees"),
    ]
    for heading in text.headings:
        assert text.text[heading.start : heading.end] == heading.title


def test_list_items_stay_lines_with_their_hanging_indents() -> None:
    """Step 1: paragraphs by indents."""
    sheets = english(Sheets().page())
    sheets.line("(1) The first item is long enough to need a second line before the margin ends")
    sheets.line("it at last;", x=27)
    sheets.line("(2) the second is not.")
    assert sheets.read().text == (
        f"{ONE}\n(1) The first item is long enough to need a second line before the margin ends it at last;\n"
        "(2) the second is not."
    )


def test_cells_that_stand_below_each_other_make_a_table() -> None:
    """Step 1: fee tables must stay readable."""
    sheets = english(Sheets().page())
    sheets.y += 6
    for row in (
        ("Plan", "Monthly", "Yearly"),
        ("Light", "9,800", "98,000"),
        ("Standard", "29,800", "298,000"),
    ):
        sheets.y += LINE
        for x, cell in zip((20, 70, 110), row, strict=True):
            sheets.at(x, sheets.y, cell)
    sheets.y += 8
    text = english(sheets).read()
    assert text.text.split("\n\n")[1] == (
        "| Plan | Monthly | Yearly |\n| --- | --- | --- |\n| Light | 9,800 | 98,000 |\n| Standard | 29,800 | 298,000 |"
    )
    assert [region.kind for region in text.regions] == ["table"]


def test_running_heads_and_page_numbers_are_left_out_and_said() -> None:
    """Step 1: repeated page headers and footers left out and said in a notice."""
    sheets = Sheets()
    for number in range(1, 5):
        sheets.page().at(150, 10, "Sample terms of service").at(100, 290, f"- {number} -", size=9)
        english(sheets)
    text = sheets.read()
    assert text.text.split("\n\n") == ["Sample terms of service", ONE, ONE, ONE, ONE]
    assert [(notice.code, dict(notice.values)) for notice in text.notices] == [
        ("running_heads_left_out", {"lines": 7})
    ]
    assert [(page.label, page.kind) for page in text.pages] == [
        (str(number), "page") for number in range(1, 5)
    ]
    assert [text.text[page.start :][:6] for page in text.pages[1:]] == ["Line 0"] * 3


def test_a_paragraph_runs_on_over_the_end_of_a_page() -> None:
    """A chunk must not end in the middle of a sentence because a page does."""
    sheets = Sheets().page()
    full = "A sentence that is not over when the page is over fills the line to the margin and"
    sheets.line(full).line(full).page().line("goes on overleaf to its end.")
    text = sheets.read()
    assert text.text == f"{full} {full} goes on overleaf to its end."
    assert [text.text[page.start :][:7] for page in text.pages] == ["A sente", "goes on"]


def test_pages_without_text_are_counted() -> None:
    """Field report 9: no text layer on some pages, with their numbers."""
    text = english(Sheets().page().page().page()).read()
    assert [(notice.code, dict(notice.values)) for notice in text.notices] == [
        ("pages_without_text", {"count": 2, "pages": 3, "labels": "1, 2"})
    ]


@pytest.mark.parametrize(
    ("make", "verdict", "detail"),
    [
        (lambda: bytes(Sheets().page().pdf.output()), "empty", "no_text_layer"),
        (lambda: b"%PDF-1.7\nnothing of the kind", "corrupt", None),
        (lambda: "PDF という名のテキスト".encode(), "corrupt", "not_pdf"),
    ],
)
def test_what_cannot_become_text_is_refused(
    make: Callable[[], bytes], verdict: str, detail: str | None
) -> None:
    """design.md, verdicts; field report 9."""
    with pytest.raises(SourceRefused) as refusal:
        extract_document("a.pdf", make(), Limits())
    assert (refusal.value.verdict, refusal.value.detail) == (verdict, detail)


def test_a_password_is_encrypted() -> None:
    """design.md, verdicts."""
    sheets = english(Sheets().page())
    sheets.pdf.set_encryption(owner_password="o", user_password="u")
    with pytest.raises(SourceRefused) as refusal:
        sheets.read()
    assert refusal.value.verdict == "encrypted"


@pytest.mark.parametrize(
    ("limits", "detail"), [(Limits(max_pages=1), "pages"), (Limits(max_characters=99), "characters")]
)
def test_limits_refuse_and_never_cut(limits: Limits, detail: str) -> None:
    """design.md, limits."""
    with pytest.raises(SourceRefused) as refusal:
        english(english(Sheets().page()).page()).read(limits)
    assert (refusal.value.verdict, refusal.value.detail) == ("too_large", detail)


def test_glyph_forms_become_the_characters_they_stand_for() -> None:
    """Field report 11: Kangxi and CJK radical forms mapped to ideographs."""
    assert cleaned(" ⼀⼆⻑⻄⾦ﬁ\uf0b7\xa0a ") == "一二長西金fi・ a"


def test_garbage_is_told_from_foreign_languages() -> None:
    """design.md, stack, PDF: a test for garbage by strange characters of at least three scripts."""
    assert is_garbage(["ꒌ␢͍ೀ᠊ꑟ᳐ঙ଼ᜀ"])
    assert not is_garbage(["이 약관은 서비스 이용에 관한 사항"])
    assert not is_garbage(["年額プランの解約 ①㈱ Zażółć gęślą — “x”"])
    assert has_controls(["3HQ\x03SURVWGN\x03QD"])


def test_divided_words_are_put_together_as_the_document_writes_them() -> None:
    """Step 1: hyphenation."""
    joiner = LineJoiner(["the information of a well-known kind"])
    assert joiner.dehyphenated("infor", "mation is") == "information is"
    assert joiner.dehyphenated("a well", "known fact") == "a well-known fact"
    assert joiner.dehyphenated("unseen be", "fore") == "unseen before"
    assert joiner.dehyphenated("debian", "Maintainers") == "debian-Maintainers"
    assert joined_lines(["年額", "プラン", "A", "B", "の"]) == "年額プランA Bの"
    spaced = LineJoiner(["Debian の Debian を A が"])
    assert spaced.joined("この Debian", "を使う") == "この Debian を使う"
    assert spaced.joined("https://example.com/", "a/b") == "https://example.com/a/b"


def ruled(sheets: Sheets, xs: list[float], ys: list[float]) -> Sheets:
    """Draw the rules of a table, a piece a cell, as programs do."""
    for top, bottom in pairwise(ys):
        for left, right in pairwise(xs):
            sheets.pdf.line(left, top, right, top)
            sheets.pdf.line(left, bottom, right, bottom)
            sheets.pdf.line(left, top, left, bottom)
            sheets.pdf.line(right, top, right, bottom)
    return sheets


def test_cells_that_are_drawn_hold_their_words_however_they_wrap_or_touch() -> None:
    """Issue 3: tables readable as text, a row never cut."""
    sheets = ruled(Sheets().page(), [20, 50, 70, 180], [50, 60, 76, 92])
    for x, y, text in [
        (22, 57, "Plan"), (52, 57, "Fee"), (72, 57, "Who it is for"),
        (22, 70, "annual-business-plan"), (57, 70, "120"), (72, 66, "companies that pay for"), (72, 72, "a whole year"),
        (22, 82, "monthly and"), (22, 88, "weekly"), (52, 85, "12"), (72, 85, "all others"),
    ]:  # fmt: skip
        sheets.at(x, y, text, size=10)
    table = english(sheets).read()
    assert table.text.splitlines()[:4] == [
        "| Plan | Fee | Who it is for |",
        "| --- | --- | --- |",
        "| annual-business-plan | 120 | companies that pay for a whole year |",
        "| monthly and weekly | 12 | all others |",
    ]


def test_a_cell_over_several_rows_is_said_in_each_of_them() -> None:
    """A row that is read alone must tell what it is about."""
    sheets = Sheets().page()
    ruled(sheets, [20, 60], [50, 70])
    ruled(sheets, [60, 100, 150], [50, 60, 70])
    for x, y, text in [
        (22, 62, "annual"),
        (62, 57, "fee"),
        (102, 57, "120"),
        (62, 67, "refund"),
        (102, 67, "no"),
    ]:
        sheets.at(x, y, text, size=10)
    assert english(sheets).read().text.splitlines()[:2] == [
        "| annual | fee | 120 |",
        "| annual | refund | no |",
    ]


def test_a_frame_around_prose_is_no_table() -> None:
    sheets = ruled(english(Sheets().page()), [15, 195], [20, 60, 100])
    assert sheets.read().regions == ()


def test_lines_in_a_typewriters_font_that_stand_apart_are_a_listing() -> None:
    """The lines of a program are never joined, and their indents tell what belongs together."""
    sheets = english(Sheets().page())
    sheets.pdf.set_font("courier", "", 10)
    y = sheets.y + 14
    for number, text in enumerate(["if there:", "    run  --now", "fi"]):
        sheets.pdf.text(20, y + 5 * number, text)
    sheets.y = y + 20
    text = english(sheets).read()
    assert [text.text[region.start : region.end] for region in text.regions] == [
        "if there:\n    run  --now\nfi"
    ]


def test_a_document_all_in_a_typewriters_font_is_prose() -> None:
    """Contracts were typed so; their lines are to be joined."""
    text = english(Sheets(family="courier").page()).read()
    assert text.regions == ()
    assert max(map(len, text.text.splitlines())) > 100


def test_a_line_that_runs_over_the_margin_does_not_part_the_others() -> None:
    """One long path must not make all full lines look short."""
    sheets = Sheets()
    for _ in range(2):
        english(sheets.page(), sentences=34)
    sheets.line("a/very/long/path" * 9, gap=LINE)
    *prose, path = sheets.read().text.split("\n\n")
    assert (len(path), [text.count("\n") for text in prose]) == (144, [0, 0])


def test_pages_that_are_damaged_are_counted_and_a_document_of_only_such_is_corrupt() -> None:
    """design.md, section 7: a verdict per page."""
    text = extract_document("a.pdf", pdf_with_countless_pages(3), Limits())
    assert text.text == "Hello"
    assert [(notice.code, dict(notice.values)["count"]) for notice in text.notices] == [("pages_broken", 2)]
    with pytest.raises(SourceRefused) as refusal:
        extract_document("a.pdf", pdf_with_circular_tree(), Limits())
    assert refusal.value.verdict == "corrupt"


def test_the_title_is_looked_for_on_the_first_page_that_has_words() -> None:
    """A cover may be a picture."""
    sheets = Sheets().page().page().line("Terms of use", size=22, bold=True)
    assert english(sheets).read().title == "Terms of use"


def test_what_follows_a_list_is_no_item_of_it() -> None:
    """Though no gap tells it: the next line has no bullet and does not hang below one."""
    sheets = Sheets().page()
    for item in ("one thing", "another thing", "a last thing"):
        sheets.line(f"\x95 {item}")
    text = english(sheets).read().text
    assert text.startswith("• one thing\n• another thing\n• a last thing\n\nLine 0")


def test_prose_in_columns_written_across_the_page_is_read_column_by_column() -> None:
    """Issue 3, PDF: several columns; what looks like a table and is prose is none."""
    sheets = Sheets().page()
    for number in range(10):
        sheets.y += LINE
        sheets.at(20, sheets.y, f"left {number:02}, the text that goes on, and on", size=9)
        sheets.at(110, sheets.y, f"right {number:02}, another text that goes, and on", size=9)
    text = sheets.read().text
    order = [text.index(f"left {number:02}") for number in range(10)]
    order += [text.index(f"right {number:02}") for number in range(10)]
    assert order == sorted(order)
    assert "|" not in text


def test_lines_of_such_columns_are_joined_and_a_sentence_goes_on_in_the_next_column() -> None:
    """Issue 3, PDF: paragraphs and reading order."""
    left = [
        "解約の申し出は、書面により行い",
        "ます。申し出があったときは、受",
        "付の日から三十日を経た日に終了",
        "します。年の途中の解約でも、返",
    ]
    right = [
        "金は行いません。ただし、当社の",
        "都合で終えるときは、残る月の分",
        "を返します。返金には、十日ほど",
        "かかることがあり、振込先の届け",
    ]
    sheets = Sheets(family="ja").page()
    for number in range(8):
        sheets.y += LINE
        sheets.at(20, sheets.y, left[number % 4], size=9).at(110, sheets.y, right[number % 4], size=9)
    assert sheets.read().text == "".join(left * 2 + right * 2)


def test_a_table_of_two_columns_stays_one() -> None:
    """Tables readable as text: entries do not fill their column."""
    sheets = Sheets().page()
    rows = ["Light", "Standard, with support", "Enterprise", "Trial, for 14 days", "School", "Public office"]
    for number, name in enumerate(rows):
        sheets.y += LINE
        sheets.at(20, sheets.y, name).at(110, sheets.y, f"{number * 12_345:,} yen a month, tax included")
    assert sheets.read().text.count("|") >= 3 * len(rows)
