"""When the offline engine takes a question for answered by the documents, however few they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from corpus2skill.adapters.offline.kana_words import hidden_words, joined_pairs, kana_words
from corpus2skill.adapters.offline.lexical_index import OfflineLexicalIndex
from corpus2skill.adapters.offline.mapped_index import MappedIndex
from corpus2skill.adapters.offline.navigator import NOT_FOUND_BELOW
from corpus2skill.adapters.offline.numerals import in_digits
from corpus2skill.adapters.offline.question import understand
from corpus2skill.adapters.offline.telling import telling_weights
from corpus2skill.adapters.offline.words import fold, index_words
from corpus2skill.ports.lexical_index import IndexedLeaf

ROOMS = "| Room | Floor | Chairs |\n| --- | --- | --- |\n| Elm 137 | 1 | 24 |\n| Maple 204 | 2 | 6 |"
ENGLISH = (
    ROOMS,
    "Lost and stolen laptops are reported to the service desk within an hour.",
    "The annual plan is $120, paid in advance. The monthly plan is $14.",
    "Train travel is second class. Meals on trips are paid up to $35 a day.",
)
JAPANESE = (
    "| 部署 | 内線番号 | 場所 |\n| --- | --- | --- |\n| 経理課 | 2110 | 本館2階 |\n| 人事課 | 2105 | 本館1階 |",
    "第十二条（解約） 契約を途中で解約するときは、三か月前までに書面で申し出る。満十六歳以上の方に限る。",
    "育児休業は、子が二歳に達するまで取ることができる。申し込みは人事課へ。",
    "しゃもじは440円、計量カップは330円です。引き落としは毎月二十七日です。",
)


def opened(folder: Path, texts: Sequence[str]) -> MappedIndex:
    folder.mkdir(exist_ok=True)
    leaves = [
        IndexedLeaf(path=f"doc_chunk_{number}.md", title="", headings=(), source="a.md", text=text)
        for number, text in enumerate(texts)
    ]
    for name, data in OfflineLexicalIndex().write(leaves):
        (folder / name).write_bytes(data)
    return MappedIndex(folder)


def match(index: MappedIndex, question: str) -> float:
    return index.rank(understand(question), 10).match


@pytest.mark.parametrize(
    "question",
    [
        "How many chairs has room 137?",
        "How much is the annual plan?",
        "What's the price of the monthly plan?",
        "What do I do when my laptop gets stolen?",
        "Can't I spend more on meals?",
    ],
)
def test_an_english_question_asked_as_people_ask_is_found_in_a_few_leaves(
    tmp_path: Path, question: str
) -> None:
    """Issue 3: verbs, measures and shortened words of the question need not be in the text."""
    assert match(opened(tmp_path, ENGLISH), question) >= NOT_FOUND_BELOW


@pytest.mark.parametrize(
    "question",
    [
        "経理の内線番号は？",
        "契約を途中でやめるには何か月前に言えばいいですか",
        "第12条には何が書いてありますか",
        "第１２条",
        "第 十二 条",
        "16歳から契約できますか",
        "育休は子どもが何歳になるまで取れますか",
        "申込みはどこにすればいいですか",
        "しゃもじだけだといくらですか",
        "引落しは何日ですか",
    ],
)
def test_a_japanese_question_is_found_in_whatever_spelling(tmp_path: Path, question: str) -> None:
    """Issue 3: numerals, widths, endings left out, words in hiragana alone, abbreviations by their signs."""
    assert match(opened(tmp_path, JAPANESE), question) >= NOT_FOUND_BELOW


@pytest.mark.parametrize(
    ("texts", "question"),
    [
        (ENGLISH, "Is there private health insurance?"),
        (ENGLISH, "Which beans do you recommend?"),
        (ENGLISH, "How much is the parking permit?"),
        (JAPANESE, "社宅の家賃はいくらですか"),
        (JAPANESE, "予防接種は受けられますか"),
        (JAPANESE, "ストックオプションはありますか"),
    ],
)
def test_what_a_few_leaves_do_not_say_is_not_found(
    tmp_path: Path, texts: Sequence[str], question: str
) -> None:
    """N-15 for a small corpus: nouns that no text has are missed, whatever else is there."""
    assert match(opened(tmp_path, texts), question) < NOT_FOUND_BELOW


def test_a_number_that_is_not_there_makes_a_match_weaker(tmp_path: Path) -> None:
    """Room 410 is not room 137."""
    index = opened(tmp_path, ENGLISH)
    assert match(index, "How many chairs has room 410?") < 0.8 * match(index, "How many chairs has room 137?")


def test_the_best_of_many_leaves_has_to_have_more_than_the_best_of_few(tmp_path: Path) -> None:
    """Among thousands of leaves one has half of any question by chance."""
    question = "How much is the annual parking permit?"
    few = opened(tmp_path / "few", ENGLISH)
    many = opened(tmp_path / "many", (*ENGLISH, *(f"Shelf {number} is green." for number in range(600))))
    assert match(many, question) < match(few, question)


def test_a_guess_at_a_word_in_hiragana_never_weakens_a_match(tmp_path: Path) -> None:
    """Endings look like words: one that no leaf has says nothing."""
    index = opened(tmp_path, JAPANESE)
    assert match(index, "解約をぜひともおもいたちたく") == match(index, "解約を")
    assert match(index, "ふとんたたき") == 0.0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=15)
@given(
    st.lists(
        st.lists(
            st.sampled_from(
                ["解約", "年額プラン", "内線番号", "第十二条", "しゃもじ", "refund", "room 137", "二十七日"]
            ),
            min_size=1,
            max_size=6,
        ),
        min_size=1,
        max_size=12,
    ),
    st.data(),
)
def test_a_leaf_asked_for_with_its_own_words_is_found(
    tmp_path: Path, texts: list[list[str]], data: st.DataObject
) -> None:
    """Whatever else there is: who names all that a text has is not turned away."""
    asked = data.draw(st.sampled_from(texts))
    index = opened(tmp_path, ["、".join(text) for text in texts])
    assert match(index, "、".join(asked)) >= NOT_FOUND_BELOW


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("第十二条の二第一項", "第12条の2第1項"),
        ("満十六歳", "満16歳"),
        ("二〇二四年", "2024年"),
        ("一万二千円", "12000円"),
        ("１万２千円", "12000円"),
        ("三か月前", "3か月前"),
        ("1,980円", "1980円"),
        ("十分な一般の千葉", "十分な一般の千葉"),
        ("前条の一部", "前条の一部"),
    ],
)
def test_counted_numbers_are_the_same_in_kanji_and_in_digits(written: str, folded: str) -> None:
    """Characters that are a part of a word stay."""
    assert fold(written) == folded


def in_kanji(number: int) -> str:
    """`number` below 100 million as it is written: 12,345 is 一万二千三百四十五."""
    big, small = divmod(number, 10_000)
    return (
        (in_kanji(big) + "万" if big else "")
        + "".join(
            ("" if digit == 1 and unit else "一二三四五六七八九"[digit - 1]) + unit
            for unit, digit in zip(
                "千百十", (small // 1000, small // 100 % 10, small // 10 % 10), strict=True
            )
            if digit
        )
        + ("一二三四五六七八九"[small % 10 - 1] if small % 10 else "")
    )


@given(st.integers(min_value=1, max_value=99_999_999))
@example(10_000)
@example(10)
@example(20_305)
def test_any_number_in_kanji_is_that_number(number: int) -> None:
    """第十二条 is 第12条, for every number."""
    assert in_digits(f"第{in_kanji(number)}条") == f"第{number}条"
    assert in_digits(f"金{in_kanji(number)}円") == f"金{number}円"


@given(
    st.text(
        alphabet=st.sampled_from("第条の円年分十二百千万億〇一0123456789.,か月 申し込みをはが"), max_size=60
    )
)
@example("第十二条" * 20)
@example("億万億万億万円")
@example("十分の一分")
def test_any_text_is_folded_once_and_for_all(text: str) -> None:
    """What is folded stays as it is, and its words are those of the text."""
    assert in_digits(in_digits(text)) == in_digits(text)
    assert all(weight > 0 for weight in telling_weights(text).values())
    assert hidden_words(text) == hidden_words(fold(text))


def test_an_article_named_by_its_number_is_a_word() -> None:
    """12 stands in many texts, 第12条 in few."""
    assert "第12条" in index_words("第十二条（会則の変更）")
    assert "第12条の2" in index_words("第 12 条の２")


def test_kanji_that_a_letter_parts_are_joined_in_texts() -> None:
    """申込 finds 申し込み, 取消 finds 取り消し."""
    assert joined_pairs("申し込みと取り消し、引き落とし") == ["申込", "取消", "引落"]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("しゃもじだけ買う", "しゃもじ"),
        ("でんちはどこに捨てる", "でんち"),
        ("プールのふかさは", "ふかさ"),
        ("名刺をもうしこむには", "もうしこむ"),
        ("ごはんがかたい", "ごはん"),
    ],
)
def test_a_word_in_hiragana_is_guessed_between_particles(text: str, word: str) -> None:
    """No dictionary: what stands between particles may be a word."""
    assert word in kana_words(text)


@pytest.mark.parametrize("text", ["確認してください", "使えません", "申し込んでいます", "なりません"])
def test_endings_are_no_words(text: str) -> None:
    """What follows a kanji without a particle is its ending."""
    assert kana_words(text) == []


def test_a_loanword_is_the_same_with_and_without_its_last_long_vowel() -> None:
    """エレベーター is エレベータ; short words keep theirs."""
    assert index_words("エレベーター") == index_words("エレベータ")
    assert index_words("コピー") != index_words("コピ")
