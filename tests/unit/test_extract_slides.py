"""Slides: the title a heading, what stands on a slide in the order of reading, tables, charts and notes."""

from __future__ import annotations

import zipfile
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.presentation import Presentation as Deck
from pptx.slide import Slide
from pptx.util import Cm

from corpus2skill.adapters.extract.extractors import extract_document
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.reading_order import Box, in_reading_order
from corpus2skill.domain.corpus import ExtractedText
from corpus2skill.errors import SourceRefused
from tests.fakes.archives import zip_file

TITLE_ONLY, TITLE_AND_BODY, BLANK = 5, 1, 6


def read(deck: Deck | bytes, limits: Limits = Limits()) -> ExtractedText:
    data = BytesIO(deck if isinstance(deck, bytes) else b"")
    if not isinstance(deck, bytes):
        deck.save(data)
    return extract_document("a.pptx", data.getvalue(), limits)


def new_slide(deck: Deck, layout: int, title: str = "") -> Slide:
    slide = deck.slides.add_slide(deck.slide_layouts[layout])
    if title:
        assert slide.shapes.title is not None
        slide.shapes.title.text = title
    return slide


def text_box(slide: Slide, words: str, left: float, top: float, width: float = 5, height: float = 1) -> None:
    box = slide.shapes.add_textbox(Cm(left), Cm(top), Cm(width), Cm(height))
    box.text_frame.text = words


def test_a_slide_is_a_page_with_its_title_as_heading_and_its_body_as_list() -> None:
    """Issue 3, formats: .pptx."""
    deck = Presentation()
    first = new_slide(deck, TITLE_AND_BODY, "解約のご案内")
    frame = first.placeholders[1].text_frame  # type: ignore[attr-defined]
    frame.text = "届け出は25日まで"
    for words, level in (("書面による", 1), ("手数料は無料", 0)):
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = words, level
    new_slide(deck, TITLE_ONLY, "料金")
    extracted = read(deck)
    assert extracted.text == "解約のご案内\n\n- 届け出は25日まで\n  - 書面による\n- 手数料は無料\n\n料金"
    assert extracted.title == "解約のご案内"
    assert [(page.start, page.kind, page.label) for page in extracted.pages] == [
        (0, "slide", "1"),
        (40, "slide", "2"),
    ]
    assert [(heading.title, heading.level) for heading in extracted.headings] == [
        ("解約のご案内", 1),
        ("料金", 1),
    ]


def test_shapes_are_read_by_where_they_stand_and_groups_as_one() -> None:
    """Design, section 7: shapes by position, groups."""
    deck = Presentation()
    slide = new_slide(deck, BLANK)
    text_box(slide, "下", 1, 15)
    group = slide.shapes.add_group_shape()
    for words, top in (("群の二", 6), ("群の一", 5)):
        group.shapes.add_textbox(Cm(12), Cm(top), Cm(3), Cm(0.8)).text_frame.text = words
    text_box(slide, "左", 1, 5.5)
    text_box(slide, "上", 1, 1)
    assert read(deck).text == "上\n\n左\n\n群の一\n\n群の二\n\n下"


def test_columns_are_read_one_after_the_other_and_labels_beside_their_texts() -> None:
    """A comparison of the old and the new terms makes no sense row by row."""
    deck = Presentation()
    slide = new_slide(deck, BLANK)
    for left, name in ((13, "新"), (1, "旧")):
        text_box(slide, f"{name}制度", left, 2, 10)
        text_box(slide, f"{name}制度の説明", left, 4, 10, 5)
    rows = new_slide(deck, BLANK)
    for top, words in ((2, "一"), (5, "二")):
        text_box(rows, f"手順{words}", 1, top, 3)
        text_box(rows, f"手順{words}の説明", 5, top, 15)
    assert read(deck).text.split("\n\n") == [
        "旧制度",
        "旧制度の説明",
        "新制度",
        "新制度の説明",
        "手順一",
        "手順一の説明",
        "手順二",
        "手順二の説明",
    ]


def test_tables_are_rows_and_merged_cells_say_themselves_in_each() -> None:
    """Issue 3: tables readable as text."""
    deck = Presentation()
    table = new_slide(deck, TITLE_ONLY, "料金").shapes.add_table(3, 3, Cm(1), Cm(4), Cm(20), Cm(5)).table
    for row, cells in enumerate(
        (("区分", "プラン", "月額"), ("個人", "標準", "980円"), ("", "年額", "9,800円"))
    ):
        for column, words in enumerate(cells):
            table.cell(row, column).text = words
    table.cell(1, 0).merge(table.cell(2, 0))
    extracted = read(deck)
    assert extracted.text == (
        "料金\n\n| 区分 | プラン | 月額 |\n| --- | --- | --- |\n| 個人 | 標準 | 980円 |\n| 個人 | 年額 | 9,800円 |"
    )
    assert [region.kind for region in extracted.regions] == ["table"]


def test_a_chart_is_its_title_and_the_table_that_it_draws() -> None:
    """Issue 3: tables readable as text."""
    deck = Presentation()
    data = CategoryChartData()
    data.categories = ["2023年", "2024年"]
    data.add_series("契約数", (120, 345.5))
    chart = (
        new_slide(deck, BLANK)
        .shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Cm(1), Cm(1), Cm(9), Cm(9), data)
        .chart
    )
    chart.has_title = True
    chart.chart_title.text_frame.text = "契約の推移"
    assert (
        read(deck).text == "契約の推移\n\n|  | 契約数 |\n| --- | --- |\n| 2023年 | 120 |\n| 2024年 | 345.5 |"
    )


def test_notes_follow_their_slide_and_hidden_slides_are_left_out_and_said() -> None:
    """Design, section 7: notes. Issue 3: what is left out is said."""
    deck = Presentation()
    notes = new_slide(deck, TITLE_ONLY, "表紙").notes_slide.notes_text_frame
    assert notes is not None
    notes.text = "口頭で補う説明。"
    new_slide(deck, TITLE_ONLY, "没案")._element.set("show", "0")
    new_slide(deck, TITLE_ONLY, "三枚目")
    extracted = read(deck)
    assert extracted.text == "表紙\n\n口頭で補う説明。\n\n三枚目"
    assert [page.label for page in extracted.pages] == ["1", "3"]
    assert [(notice.code, dict(notice.values)) for notice in extracted.notices] == [
        ("slides_hidden", {"count": 1})
    ]


def test_a_deck_of_pictures_only_is_empty() -> None:
    """Field report 9: refused before payment."""
    deck = Presentation()
    new_slide(deck, BLANK)
    with pytest.raises(SourceRefused) as refusal:
        read(deck)
    assert refusal.value.verdict == "empty"


def changed(deck: Deck, part: str, old: bytes, new: bytes) -> bytes:
    """Return a deck one part of which is changed."""
    data = BytesIO()
    deck.save(data)
    with zipfile.ZipFile(data) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert old in parts[part]
    parts[part] = parts[part].replace(old, new)
    return zip_file(parts)


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        (b"<p:sld ", b'<!DOCTYPE p [<!ENTITY a SYSTEM "file:///etc/passwd">]><p:sld ', "hostile"),
        (b"</p:sld>", b"", "corrupt"),
        (b"</p:sld>", b" " * 3_000_000 + b"</p:sld>", "too_large"),
    ],
)
def test_a_hostile_or_broken_slide_refuses_the_deck(old: bytes, new: bytes, verdict: str) -> None:
    """Issue 3, hostile and broken files."""
    deck = Presentation()
    new_slide(deck, TITLE_ONLY, "表紙")
    data = changed(deck, "ppt/slides/slide1.xml", old, new)
    with pytest.raises(SourceRefused) as refusal:
        read(data, Limits(max_inflated_bytes=2_000_000))
    assert refusal.value.verdict == verdict


def test_a_part_that_is_missing_stops_nothing_else() -> None:
    """Programs write decks that point to nothing."""
    deck = Presentation()
    new_slide(deck, TITLE_ONLY, "表紙")
    new_slide(deck, TITLE_ONLY, "二枚目")
    data = changed(deck, "ppt/_rels/presentation.xml.rels", b"slides/slide1.xml", b"slides/none.xml")
    assert read(data).text == "二枚目"


@given(
    st.lists(
        st.builds(
            lambda left, top, width, height: Box(left=left, top=top, width=width, height=height),
            st.integers(-50, 50),
            st.integers(-50, 50),
            st.integers(0, 40),
            st.integers(0, 40),
        ),
        max_size=25,
    )
)
def test_every_box_is_read_once_wherever_it_stands(boxes: list[Box]) -> None:
    """Design, section 7: nothing is lost by the order."""
    order = in_reading_order(list(enumerate(boxes)), lambda item: item[1])
    assert sorted(number for number, _ in order) == list(range(len(boxes)))
