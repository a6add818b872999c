"""Step 1 for Word: what a reader of the document reads, in its order."""

from __future__ import annotations

from io import BytesIO

import docx
import pytest

from corpus2skill.adapters.extract.docx import extract_docx
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.numerals import numeral
from corpus2skill.domain.corpus import ExtractedText
from corpus2skill.errors import SourceRefused
from tests.fakes.word_documents import (
    level,
    numbered_list,
    paragraph,
    run,
    sequence,
    style,
    table,
    word_document,
)


def extracted(body: str, **parts: str) -> ExtractedText:
    return extract_docx(word_document(body, **parts), Limits())


def paragraphs(body: str, **parts: str) -> list[str]:
    return extracted(body, **parts).text.split("\n\n")


def test_automatic_article_numbers_are_computed_and_make_headings() -> None:
    """design.md, stack, Word: 第N条 must be computed."""
    text = extracted(
        paragraph("総則", number="1")
        + paragraph("（目的）", number="1", level=1)
        + paragraph("この規約は、利用の条件を定める。")
        + paragraph("（適用）", number="1", level=1)
        + paragraph("解約", number="1")
        + paragraph("（年額）", number="1", level=1),
        numbering=sequence("0", level(0, "第%1章"), level(1, "第%2条", inside='<w:lvlRestart w:val="0"/>'))
        + numbered_list("1", "0"),
    )
    assert text.text.split("\n\n") == [
        "第1章 総則",
        "第1条（目的）",
        "この規約は、利用の条件を定める。",
        "第2条（適用）",
        "第2章 解約",
        "第3条（年額）",
    ]
    assert [(heading.level, heading.title) for heading in text.headings] == [
        (1, "第1章 総則"),
        (2, "第1条（目的）"),
        (2, "第2条（適用）"),
        (1, "第2章 解約"),
        (2, "第3条（年額）"),
    ]


def test_lower_levels_restart_and_show_the_numbers_above_them() -> None:
    """design.md, stack, Word: automatic numbering."""
    levels = (level(0, "%1."), level(1, "%1.%2"), level(2, "(%3)", "lowerLetter"))
    items = [("A", 0), ("B", 1), ("C", 2), ("D", 2), ("E", 0), ("F", 1), ("G", 2)]
    text = extracted(
        "".join(paragraph(name, number="5", level=at) for name, at in items),
        numbering=sequence("0", *levels) + numbered_list("5", "0"),
    ).text
    assert text.split("\n") == ["1. A", "1.1 B", "(a) C", "(b) D", "2. E", "2.1 F", "(a) G"]


def test_a_list_may_start_anew_and_two_lists_may_go_on_counting() -> None:
    """design.md, stack, Word: numbering restarts."""
    anew = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'
    text = extracted(
        "".join(
            paragraph(name, number=number)
            for name, number in (("a", "1"), ("b", "2"), ("c", "3"), ("d", "1"))
        ),
        numbering=sequence("0", level(0, "%1)"))
        + numbered_list("1", "0")
        + numbered_list("2", "0")
        + numbered_list("3", "0", inside=anew),
    ).text
    assert text.split("\n") == ["1) a", "2) b", "1) c", "2) d"]


def test_a_style_may_bring_the_number_with_it() -> None:
    """design.md, stack, Word: style-linked numbering."""
    linked = '<w:numPr><w:numId w:val="1"/></w:numPr>'
    text = extracted(
        paragraph("目的", style="H1") + paragraph("範囲", style="H2") + paragraph("用語", style="H2"),
        styles=style("H1", "heading 1", inside=linked) + style("H2", "heading 2", inside=linked),
        numbering=sequence(
            "0",
            level(0, "%1", inside='<w:pStyle w:val="H1"/>'),
            level(1, "%1-%2", inside='<w:pStyle w:val="H2"/>'),
        )
        + numbered_list("1", "0"),
    )
    assert [(heading.level, heading.title) for heading in text.headings] == [
        (1, "1 目的"),
        (2, "1-1 範囲"),
        (2, "1-2 用語"),
    ]


@pytest.mark.parametrize(
    ("form", "number", "written"),
    [
        ("japaneseCounting", 12, "十二"),
        ("japaneseCounting", 120, "百二十"),
        ("japaneseLegal", 11, "壱拾壱"),
        ("ideographDigital", 105, "一〇五"),
        ("aiueoFullWidth", 3, "ウ"),
        ("irohaFullWidth", 3, "ハ"),
        ("iroha", 2, "ﾛ"),
        ("decimalFullWidth", 15, "１５"),
        ("decimalEnclosedCircle", 20, "⑳"),
        ("decimalEnclosedCircle", 21, "㉑"),
        ("decimalEnclosedCircle", 51, "(51)"),
        ("ideographTraditional", 2, "乙"),
        ("lowerLetter", 27, "aa"),
        ("upperRoman", 14, "XIV"),
        ("decimalZero", 3, "03"),
        ("ordinal", 12, "12th"),
        ("none", 4, ""),
        ("a form of the future", 4, "4"),
    ],
)
def test_numbers_are_written_in_the_form_of_the_list(form: str, number: int, written: str) -> None:
    """design.md, stack, Word: automatic numbering in Japanese forms."""
    assert numeral(number, form) == written


def test_headings_are_known_by_outline_and_by_names_in_both_languages() -> None:
    """design.md, stack, Word: headings by style name or outline level."""
    text = extracted(
        paragraph("規約", style="T")
        + paragraph("一", style="A")
        + paragraph("二", style="B")
        + paragraph("三", style="C")
        + paragraph("四", style="D"),
        styles=style("T", "表題")
        + style("A", "見出し 1")
        + style("B", "社内見出し", outline=1)
        + style("C", "独自", based_on="A")
        + style("D", "本文", outline=9),
    )
    assert text.title == "規約"
    assert [(heading.title, heading.level) for heading in text.headings] == [
        ("規約", 1),
        ("一", 1),
        ("二", 2),
        ("三", 1),
    ]


def test_tables_are_rows_with_merged_cells_repeated_downwards() -> None:
    """Step 1: merged cells sensible, a row is a line."""
    begins = f'<w:tcPr><w:vMerge w:val="restart"/></w:tcPr>{paragraph("年額")}'
    goes_on = f"<w:tcPr><w:vMerge/></w:tcPr>{paragraph('')}"
    text = extracted(
        table(
            ("プラン", "項目", "額"),
            (begins, "基本", "98,000円"),
            (goes_on, "追加|分", "800円"),
            first_row=True,
        )
    )
    assert text.text.split("\n") == [
        "| プラン | 項目 | 額 |",
        "| --- | --- | --- |",
        "| 年額 | 基本 | 98,000円 |",
        "| 年額 | 追加\\|分 | 800円 |",
    ]
    (region,) = text.regions
    assert text.text[region.start : region.header_end] == "| プラン | 項目 | 額 |\n| --- | --- | --- |"
    assert region.end == len(text.text)


def test_a_table_in_a_cell_is_flattened_and_a_frame_is_no_table() -> None:
    """Step 1: nested tables flattened."""
    inner = table(("a", "b"), ("c", "d"))
    assert paragraphs(table(("外", inner))) == ["| 外 | a b c d |"]
    assert paragraphs(table((paragraph("一") + paragraph("二"),))) == ["一", "二"]


def test_a_text_box_is_read_once() -> None:
    """design.md, stack, Word: text boxes once, not twice."""
    box = f"<w:txbxContent>{paragraph('箱の中')}</w:txbxContent>"
    choice = f"<mc:Choice Requires='wps'><w:drawing><wps:txbx>{box}</wps:txbx></w:drawing></mc:Choice>"
    fallback = f"<mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict></mc:Fallback>"
    body = f"<w:p>{run('本文')}<w:r><mc:AlternateContent>{choice}{fallback}</mc:AlternateContent></w:r></w:p>"
    assert paragraphs(body) == ["本文", "箱の中"]


def test_insertions_are_in_and_deletions_comments_codes_and_hidden_text_out() -> None:
    """design.md, stack, Word: tracked deletions out."""
    body = (
        f"<w:p>{run('年額は')}<w:ins>{run('日割り')}</w:ins><w:del><w:r><w:delText>月割り</w:delText></w:r></w:del>"
        f"<w:moveFrom>{run('よそ')}</w:moveFrom>{run('で返金しない。')}"
        "<w:r><w:commentReference w:id='1'/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>隠し</w:t></w:r></w:p>"
    )
    assert paragraphs(body) == ["年額は日割りで返金しない。"]


def test_a_deleted_paragraph_does_not_count() -> None:
    """design.md, stack, Word: tracked deletions out, numbering computed."""
    listed = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    gone = f"<w:p><w:pPr>{listed}<w:rPr><w:del/></w:rPr></w:pPr><w:del><w:r><w:delText>旧</w:delText></w:r></w:del></w:p>"
    text = extracted(
        paragraph("一", number="1") + gone + paragraph("二", number="1"),
        numbering=sequence("0", level(0, "%1.")) + numbered_list("1", "0"),
    ).text
    assert text == "1. 一\n2. 二"


def test_footnotes_follow_the_paragraph_that_refers_to_them() -> None:
    """Step 1: footnotes."""
    body = f"<w:p>{run('解約')}<w:r><w:footnoteReference w:id='7'/></w:r></w:p>" + paragraph("次")
    note = f"<w:footnote w:id='7'>{paragraph('末日まで使える。')}</w:footnote>"
    assert paragraphs(body, footnotes=note) == ["解約[^1]", "[^1]: 末日まで使える。", "次"]


def test_the_lines_of_a_table_of_contents_are_left_out() -> None:
    """Step 1: a list of contents only repeats the headings."""
    body = paragraph("第1章 総則 3", style="TOC1") + paragraph("本文")
    assert paragraphs(body, styles=style("TOC1", "toc 1")) == ["本文"]


def test_breaks_tabs_and_ruby_are_read_as_text() -> None:
    """Step 1: DOCX text."""
    ruby = f"<w:r><w:ruby><w:rt>{run('よみ')}</w:rt><w:rubyBase>{run('読')}</w:rubyBase></w:ruby></w:r>"
    body = f"<w:p>{run('一')}<w:r><w:br/></w:r>{run('二')}<w:r><w:tab/></w:r>{ruby}</w:p>"
    assert extracted(body).text == "一\n二\t読"


@pytest.mark.parametrize(
    "head", ['<!DOCTYPE d [<!ENTITY x "y">]>', '<!DOCTYPE d SYSTEM "file:///etc/passwd">']
)
def test_a_document_with_a_dtd_is_hostile(head: str) -> None:
    """design.md, stack, hostile files: no DTD in Office parts."""
    with pytest.raises(SourceRefused) as refusal:
        extracted(paragraph("a"), head=head)
    assert refusal.value.verdict == "hostile"


def test_inflated_sizes_are_counted_while_inflating() -> None:
    """design.md, stack, hostile files: zip sizes counted while inflating."""
    with pytest.raises(SourceRefused) as refusal:
        extract_docx(word_document(paragraph("あ" * 100_000)), Limits(max_inflated_bytes=50_000))
    assert (refusal.value.verdict, refusal.value.detail) == ("too_large", "inflated")


@pytest.mark.parametrize(
    "data", [b"PK\x03\x04 no archive", word_document("<w:p>")[:-200], word_document("<w:p")]
)
def test_a_damaged_document_is_corrupt(data: bytes) -> None:
    """design.md, verdicts."""
    with pytest.raises(SourceRefused) as refusal:
        extract_docx(data, Limits())
    assert refusal.value.verdict == "corrupt"


def test_a_document_of_another_library_is_read() -> None:
    """Step 1: Word files are read as they are found."""
    document = docx.Document()
    document.add_heading("解約", level=1)
    document.add_paragraph("申請した月の末日で終わる。")
    document.add_paragraph("申請する", style="List Bullet")
    document.add_paragraph("待つ", style="List Bullet")
    data = BytesIO()
    document.save(data)
    text = extract_docx(data.getvalue(), Limits())
    assert text.text == "解約\n\n申請した月の末日で終わる。\n\n・ 申請する\n・ 待つ"
    assert [(heading.title, heading.level) for heading in text.headings] == [("解約", 1)]
