"""The words that the offline engine compares texts by."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.adapters.offline.question import understand
from corpus2skill.adapters.offline.romaji import romanise
from corpus2skill.adapters.offline.sentences import sentences
from corpus2skill.adapters.offline.telling_terms import contrasting, terms
from corpus2skill.adapters.offline.words import index_words
from corpus2skill.domain.shortening import one_line, shortened


def test_kanji_give_pairs_and_singles_and_katakana_whole_words() -> None:
    """Promised by the design of the offline engine: no dictionary, script runs."""
    assert index_words("年額プランの解約") == ["年", "額", "年額", "プラン", "解", "約", "解約"]


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("Ｓ３バケット", "S3 バケット"),
        ("ﾌﾟﾗﾝ", "プラン"),
        ("1,980円", "1980円"),
        ("cancellations", "Cancellation"),
        ("Café", "cafe"),
        ("Straße", "STRASSE"),
        ("한국어 문장", "한국어문장"),
    ],
)
def test_spellings_of_the_same_word_meet(written: str, asked: str) -> None:
    """Width, case, accents, thousands and English endings make no difference."""
    assert set(index_words(written)) & set(index_words(asked))


def test_a_joined_name_is_found_by_its_parts() -> None:
    """`BatchGetItem` is found by "batch get item" and by itself."""
    assert {"batch", "item", "batchgetitem"} <= set(index_words("BatchGetItem"))


@pytest.mark.parametrize(
    "text", ["Привет мир", "مرحبا بالعالم", "नमस्ते दुनिया", "中文文档", "สวัสดี", "καλημέρα"]
)
def test_every_script_gives_words(text: str) -> None:
    """Other languages are kept, grouped and answered."""
    assert index_words(text)


@given(st.text(max_size=300))
@example("年額プランの解約は1,980円 GroundTruth's")
@example("\ud800\u0301")
def test_any_text_has_words_that_are_the_same_each_time(text: str) -> None:
    """C-27: nothing depends on chance."""
    assert index_words(text) == index_words(text)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("年額プランとは何ですか？", {"年", "額", "年額", "プラン"}),
        ("解約はどのようにすればいいか教えてください", {"解", "約", "解約"}),
        ("What does the annual plan cost?", {"annual", "plan", "cost"}),
        ("How can I cancel?", {"cancel"}),
    ],
)
def test_question_words_without_meaning_are_not_looked_for(question: str, words: set[str]) -> None:
    """Promised by the design of the offline engine."""
    assert {word for word, _ in understand(question).words} == words


def test_a_question_of_nothing_but_question_words_keeps_them() -> None:
    """Better a poor word than none."""
    assert understand("何円ですか").words


def test_a_short_question_that_refers_back_takes_the_words_of_the_one_before_lightly() -> None:
    """「それ」「さっきの」 are understood; a question that stands by itself is not touched."""
    earlier = "年額プランの解約方法は？"
    weights = dict(understand("それは返金されますか？", earlier).words)
    assert 0 < weights["解約"] < weights["返金"]
    assert "解約" not in dict(understand("支払い方法の一覧を見たい", earlier).words)
    assert "年額" in dict(understand("では、月額は？", "年額の料金は？").words)


@pytest.mark.parametrize(
    ("kana", "latin"),
    [
        ("プラン", "puran"),
        ("キャンセル", "kyanseru"),
        ("シャッター", "shatta"),
        ("マッチ", "matchi"),
        ("ファイル", "fairu"),
        ("ふるさと", "furusato"),
        ("データベース", "detabesu"),
        ("チェック", "chekku"),
        ("年額 A", "年額 A"),
    ],
)
def test_kana_are_romanised_by_hepburn(kana: str, latin: str) -> None:
    """C-23: slugs come from romanised kana."""
    assert romanise(kana) == latin


@given(st.text(max_size=200), st.integers(min_value=4, max_value=160))
@example("年額プランは契約管理画面の解約申請から手続きする。日割り返金は行わない。", 25)
@example("a" * 50, 10)
def test_a_shortened_text_is_never_too_long_and_begins_as_the_text_does(text: str, limit: int) -> None:
    """C-18: cut with an ellipsis, only where needed."""
    cut = shortened(text, limit)
    assert len(cut) <= limit
    assert cut == text if len(text) <= limit else text.startswith(cut.rstrip("…"))


def test_a_text_is_cut_at_a_sentence_end_or_word_end() -> None:
    """Whole sentences preferred."""
    assert (
        shortened("年額は末日まで使える。日割りの返金は行わない。ただし例外がある。", 26)
        == "年額は末日まで使える。日割りの返金は行わない。"
    )
    assert shortened("one two three four five six", 20) == "one two three four…"


@given(st.text(max_size=400))
@example("# 見出し\n\n本文。次の文。\n\n- 一つ\n- 二つ\n\n| a | b |\n|---|---|\n```\ncode\n```\n")
def test_sentences_are_single_lines(text: str) -> None:
    """Promised by the module: each piece in one line."""
    for sentence in sentences(text):
        assert sentence.text
        assert one_line(sentence.text) == sentence.text


def test_sentences_know_headings_items_and_rows() -> None:
    """A heading is no sentence, a row is not cut, brackets do not end one."""
    text = "## 第2章 解約\n年額は（月額を除く。以下同じ。）末日まで。返金はない。\n\n- 申請する\n\n| プラン | 料金 |\n|---|---|\n| 年額 | 9,800円 |"
    assert [(piece.kind, piece.text) for piece in sentences(text)] == [
        ("heading", "第2章 解約"),
        ("sentence", "年額は（月額を除く。以下同じ。）末日まで。"),
        ("sentence", "返金はない。"),
        ("item", "申請する"),
        ("row", "プラン / 料金"),
        ("row", "年額 / 9,800円"),
    ]


def test_terms_are_whole_words_and_what_tells_siblings_apart_comes_first() -> None:
    """The longest runs, not pairs of characters."""
    assert terms("年額プランの解約申請は契約管理画面から") == ["年額プラン", "解約申請", "契約管理画面"]
    own = {"プラン": 3, "年額": 3}
    everywhere = {"プラン": 9, "年額": 3}
    assert contrasting(own, everywhere, 1) == ["年額"]
