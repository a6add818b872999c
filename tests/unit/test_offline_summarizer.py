"""Titles and summaries taken from the chunk itself."""

from __future__ import annotations

import pytest

from corpus2skill.adapters.offline.summarizer import OfflineSummarizer
from corpus2skill.domain.chunk import Chunk, ChunkSummary, Place

pytestmark = pytest.mark.anyio


async def said(
    text: str, *headings: str, table_header: str | None = None, choices: bool = False
) -> ChunkSummary:
    chunk = Chunk(
        chunk_id="chunk_1",
        source="利用規約.docx",
        start=0,
        end=len(text),
        text=text,
        place=Place(headings=headings),
        table_header=table_header,
        is_choices_only=choices,
    )
    (summary,) = [summary async for summary in OfflineSummarizer().summarize([chunk])]
    return summary


async def test_the_articles_chunk_is_called_by_its_heading() -> None:
    """The example of the article's Step 3."""
    text = "第12条（解約）\n年額プランの解約は、契約管理画面の「解約申請」から行うものとし、契約期間の末日までサービスを利用できる。日割りによる返金は行わない。"
    summary = await said(text, "第3章 解約", "第12条（解約）")
    assert summary.title == "第12条（解約）"
    assert summary.summary == (
        "年額プランの解約は、契約管理画面の「解約申請」から行うものとし、契約期間の末日までサービスを利用できる。日割りによる返金は行わない。"
    )


async def test_a_heading_within_plain_text_is_known_by_its_look() -> None:
    """A text file says no headings; 第12条（解約） is one all the same."""
    assert (await said("第12条（解約）\n解約は画面から行う。")).title == "第12条（解約）"
    assert (await said("# 料金\n\n料金は月末に請求する。")).title == "料金"


async def test_later_chunks_under_one_heading_say_what_is_special_about_them() -> None:
    """Several chunks share a heading: a list of equal titles would help nobody."""
    first = await said("前項の続きである。\n\n### 月額の場合\n申請した月の末日で終了する。", "解約")
    second = await said("前項の申請は取り消すことができない。", "解約")
    assert first.title == "解約: 月額の場合"
    assert second.title == "解約: 前項の申請は取り消すことができない"


async def test_a_heading_that_says_nothing_alone_is_joined_to_the_one_above() -> None:
    """「概要」 is the title of too many chunks."""
    assert (
        await said("概要\n年額プランは一年ごとの契約です。", "年額プラン", "概要")
    ).title == "年額プラン: 概要"


@pytest.mark.parametrize(
    "text",
    [
        "Q. 解約はどこからできますか？\nA. 契約管理画面の「解約申請」からできます。",
        "Q1：解約はどこからできますか？\n契約管理画面の「解約申請」からできます。",
        "### 質問\n\n解約はどこからできますか？\n\n### 回答\n\n契約管理画面の「解約申請」からできます。",
        "【質問】\n解約はどこからできますか？\n\n契約管理画面の「解約申請」からできます。",
    ],
)
async def test_the_title_of_a_faq_is_its_question(text: str) -> None:
    """FAQ chunks are chosen by what they ask."""
    summary = await said(text)
    assert summary.title == "解約はどこからできますか？"
    assert "契約管理画面の「解約申請」からできます。" in summary.summary


async def test_without_a_heading_the_first_sentence_is_the_title() -> None:
    """Cut at a word end where it is long."""
    assert (await said("お支払いは月末です。翌月に領収書を送ります。")).title == "お支払いは月末です"
    long = await said("The annual plan renews every year on the day on which it was first bought by you.")
    assert long.title == "The annual plan renews every year on…"


async def test_a_summary_is_whole_sentences_in_the_order_of_the_text() -> None:
    """Lead sentence first, then what carries most, never cut where whole ones fit."""
    text = (
        "年額プランの料金は9,800円です。" + "この点はまた別の話です。" * 12 + "月額プランの料金は980円です。"
    )
    summary = (await said(text)).summary
    assert summary.startswith("年額プランの料金は9,800円です。")
    assert "月額プランの料金は980円です。" in summary
    assert summary.endswith("。")


async def test_a_table_is_told_with_its_header() -> None:
    """A continued table keeps its header row beside it."""
    summary = (await said("| 年額 | 9,800円 |", table_header="| プラン | 料金 |")).summary
    assert "プラン" in summary
    assert "年額 / 9,800円" in summary


@pytest.mark.requirement("C-14")
async def test_bare_choices_are_said_to_be_bare() -> None:
    """C-14, in the chunk's language."""
    assert (await said("ア 年額\nイ 月額", choices=True)).summary.startswith("選択肢や見出しを並べただけで")
    assert (await said("a) annual\nb) monthly", choices=True)).summary.startswith("Only lists choices")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("年度计划可以随时取消。退款需要七天。", "年度计划可以随时取消"),
        (
            "연간 요금제는 언제든지 해지할 수 있습니다. 환불은 없습니다.",
            "연간 요금제는 언제든지 해지할 수 있습니다",
        ),
        ("يمكن إلغاء الاشتراك السنوي في أي وقت. لا يوجد استرداد.", "يمكن إلغاء الاشتراك السنوي في أي وقت"),
    ],
)
async def test_other_languages_are_told_in_their_own(text: str, title: str) -> None:
    """The chunk's language, whatever it is."""
    summary = await said(text)
    assert summary.title == title
    assert summary.summary == text


async def test_rows_lines_and_headings_are_never_glued_to_what_follows() -> None:
    """A word that is in no document must not arise in a summary: 監視システム + モニター."""
    table = "| 部品 | 用途 |\n| --- | --- |\n| 制御 | 監視システム |\n| モニター | 表示 |\n\nモニターは5台まで使えます。"
    summary = (await said(table)).summary
    assert "監視システム" in summary
    assert "モニターは5台まで使えます。" in summary
    assert "システムモニター" not in summary
    assert "表示モニター" not in summary
    assert (
        "会員返品" not in (await said("一般会員\n返品できません。\n\nプレミアム会員\n返品できます。")).summary
    )
    assert "システムモニター" not in (await said("監視システム\nモニター\nキーボード")).summary


async def test_wrapped_lines_of_japanese_stay_one_sentence() -> None:
    """Only lines that ended are parted; a wrapped one goes on."""
    text = "年額プランの解約は、契約管理画面の「解約申\n請」から行うものとする。"
    assert (await said(text)).summary == text.replace("\n", "")


async def test_the_cells_of_a_continued_tables_header_stay_apart() -> None:
    """Two neighbouring cells are not a pair of words."""
    summary = (await said("| Annual | $90 |", table_header="| Plan | Price |")).summary
    assert summary == "Plan / Price: Annual / $90"


@pytest.mark.parametrize("text", ["．", "# ．", "。"])
async def test_a_text_of_one_full_stop_has_a_title_all_the_same(text: str) -> None:
    """C-18: a title is never empty."""
    assert (await said(text)).title
