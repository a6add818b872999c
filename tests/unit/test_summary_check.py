"""What a title and summary must be before they are believed."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from corpus2skill.adapters.offline.summarizer import OfflineSummarizer
from corpus2skill.compiler.summary_check import faults_of, finished, is_in_language_of
from corpus2skill.domain.chunk import SUMMARY_LIMIT, TITLE_LIMIT, Chunk, Place

JAPANESE = "年額プランの解約は、契約管理画面から行う。"
ENGLISH = "Annual plans are cancelled in the contract screen."


def chunk(text: str, *headings: str, choices: bool = False) -> Chunk:
    place = Place(headings=headings)
    return Chunk(
        chunk_id="chunk_1",
        source="a",
        start=0,
        end=len(text),
        text=text,
        place=place,
        is_choices_only=choices,
    )


def codes(summary: str, source: str, *headings: str, title: str = "") -> list[str]:
    title = title or ("解約" if "約" in source else "Cancelling")
    return [fault.code for fault in faults_of(title, summary, chunk(source, *headings))]


@pytest.mark.parametrize(
    ("text", "source"),
    [
        (JAPANESE, JAPANESE),
        (ENGLISH, ENGLISH),
        (
            "AWS Lambda で S3 の event を処理する。",
            "AWS Lambda は Amazon S3 の event notification を処理します。",
        ),
        ("設定例。Set cookie を有効にする。", "set-cookie: enable; path=/; secure; # クッキー"),
        ("Sets a cookie.", "set-cookie: enable; path=/; secure; # クッキー"),
        ("株式会社サンプルの住所。", "株式会社サンプル 東京都千代田区"),
        ("年度计划可以取消。", "年度计划可以随时取消。退款需要七天。"),
        ("연간 요금제는 해지할 수 있습니다.", "연간 요금제는 언제든지 해지할 수 있습니다."),
        ("Годовой план можно отменить.", "Годовой план можно отменить в любое время."),
        ("يمكن إلغاء الاشتراك", "يمكن إلغاء الاشتراك السنوي في أي وقت."),
        ("料金の表。980、9,800。", "980 | 9,800"),
        ("ｶﾀｶﾅの説明", "ｶﾀｶﾅ ﾉ ｾﾂﾒｲ ﾃﾞｽ"),
        ("NX-200", "NX-200"),
    ],
)
def test_a_summary_in_the_sources_own_script_is_in_its_language(text: str, source: str) -> None:
    """field-reports.md, 14: names and code of another script are no other language."""
    assert is_in_language_of(text, source)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        (ENGLISH, JAPANESE),
        (JAPANESE, ENGLISH),
        ("Korean plan terms", "연간 요금제는 언제든지 해지할 수 있습니다."),
        ("年額プランの解約", "연간 요금제는 언제든지 해지할 수 있습니다."),
        ("Annual plan cancellation", "Годовой план можно отменить в любое время."),
        (
            "Handles S3 events with AWS Lambda.",
            "Lambda で S3 のイベントを受け取り、画像の縮小版を作って保存します。",
        ),
    ],
)
def test_a_summary_in_another_script_is_in_another_language(text: str, source: str) -> None:
    """field-reports.md, 14: checked by script ratio."""
    assert not is_in_language_of(text, source)


def test_what_the_source_has_itself_is_no_fault() -> None:
    """Links, figures and marks may be quoted."""
    source = "問い合わせは https://example.jp/help か a@example.jp へ。解約は第12条の [様式](form.docx) で。**必須** です。"
    assert codes("問い合わせは https://example.jp/help か a@example.jp へ。**必須** は第12条。", source) == []
    assert codes("解約は form.docx で。", source) == []
    assert codes("版は 2.1、名前は a_b.txt。", "解約の版は 2\\.1、名前は a\\_b.txt です。") == []
    assert codes("第3章の解約。", "解約は画面から。", "第三章 解約") == []


@pytest.mark.parametrize(
    "summary",
    [
        "Use e.g. the screen.",
        "It ends at 5 p.m.",
        "解約は画面で行う。Ver.A も同じ。",
        "解約（年額）[注]。",
        "解約は A/B で。",
    ],
)
def test_dots_and_brackets_of_plain_prose_are_no_links(summary: str) -> None:
    """Each false alarm costs a call."""
    source = (
        "Use the screen for 解約 until 5 p.m. on A/B." if summary.isascii() else "解約は画面で A/B 行う。"
    )
    assert "summary_link" not in codes(summary, source)


@pytest.mark.parametrize(
    "letter", ["\x00", "\x1b", "\t", "\u200b", "\u202e", "\ufffd", "\ue000", "\U000e0041"]
)
def test_characters_that_nobody_sees_are_a_fault_unless_the_source_has_them(letter: str) -> None:
    """They are how words are hidden from a reader and shown to a model."""
    assert "summary_characters" in codes(f"解約{letter}できる。", JAPANESE)
    assert "summary_characters" not in codes(f"解約{letter}できる。", JAPANESE + letter)


@pytest.mark.parametrize("title", ["../料金", "..\\料金", "./解約", "~/解約", "解約/..", "..", "．．／料金"])
def test_a_title_that_is_a_path_is_a_fault_unless_the_source_has_it(title: str) -> None:
    """A title is shown beside paths and becomes a slug: it may not look like another place."""
    assert "title_path" in codes("解約の窓口。", JAPANESE, title=title)
    assert "title_path" not in codes("解約の窓口。", f"{JAPANESE} {title}", title=title)


@pytest.mark.parametrize("title", ["解約/料金", "TCP/IPの解約", "以下略...", "/etc の解約", "ver.2の解約"])
def test_a_slash_or_dots_in_a_title_are_no_path(title: str) -> None:
    """Plain Japanese has both."""
    assert "title_path" not in codes("解約の窓口。", JAPANESE, title=title)


def test_wide_blanks_and_line_ends_are_none() -> None:
    """They are folded."""
    assert codes("解約は\u3000画面から\nできる。", JAPANESE) == []
    assert (
        finished("解約", "解約は\u3000画面から\nできる。", chunk(JAPANESE)).summary
        == "解約は 画面から できる。"
    )


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.text(max_size=300), st.text(max_size=300), st.text(max_size=300), st.booleans())
@example("「年額」", "年額プランの解約。" * 40, JAPANESE, True)
def test_what_is_without_fault_keeps_the_form_of_a_summary(
    title: str, summary: str, source: str, choices: bool
) -> None:
    """C-18: one line, never empty, 40 and 160 characters at most."""
    about = chunk(source, choices=choices)
    faults = {fault.code for fault in faults_of(title, summary, about)}
    if faults <= {"summary_too_long"}:
        result = finished(title, summary, about)
        assert 1 <= len(result.title) <= TITLE_LIMIT
        assert 1 <= len(result.summary) <= SUMMARY_LIMIT
        assert (result.title + result.summary).isprintable()


@pytest.mark.anyio
async def test_sentences_of_the_source_itself_are_never_a_fault() -> None:
    """An honest summary must pass: the offline extract is one."""
    texts = [
        "第12条（解約）\n年額プランの解約は、契約管理画面の「解約申請」から行う。料金は１２，０００円（税込）とする。",
        "Annual plans cost $1,200.50 as of 2024-04-01. See https://example.com/plans (section 2.1) for details.",
        "| プラン | 料金 |\n|---|---|\n| 年額 | 9,800円 |\n| 月額 | 980円 |",
    ]
    chunks = [chunk(text, "第十二条 解約") for text in texts]
    summaries = [summary async for summary in OfflineSummarizer().summarize(chunks)]
    for about, said in zip(chunks, summaries, strict=True):
        assert list(faults_of(said.title, said.summary, about)) == []
