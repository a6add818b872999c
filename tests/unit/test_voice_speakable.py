"""What can be spoken of a text."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.domain.language import Language
from corpus2skill.domain.run import OUTCOMES
from corpus2skill.messages import message
from corpus2skill.navigator.outcome import fixed_sentence
from corpus2skill.navigator.voice.fillers import MARKS
from corpus2skill.navigator.voice.pieces import LONGEST, pieces_of
from corpus2skill.navigator.voice.speakable import speakable

LANGUAGES: tuple[Language, ...] = ("ja", "en")
UNSPEAKABLE = re.compile(
    r"://|www\.|chunk_\d|SKILL\.md|\*\*|`|~~|__|\]\(|\||\[\d{1,3}\]|<br|^\s*(?:#{1,6}|[-*+>])\s",
    re.MULTILINE | re.IGNORECASE,
)
FRAGMENTS = (
    *(
        "# ",
        "- ",
        "* ",
        "1. ",
        "①",
        "> ",
        "**",
        "`",
        "```\n",
        "|",
        "---",
        "\n",
        "[1]",
        "[",
        "]",
        "(",
        ")",
        "~~",
        "_",
    ),
    *(
        "https://a.example/b?c=1",
        "www.example.jp",
        "://",
        "doc_chunk_7",
        "[doc_chunk_7]",
        "doc_",
        "chunk_",
        "７",
        "SKILL.md",
    ),
    *(
        "年額プラン",
        "解約",
        "。",
        "、",
        "「",
        "」",
        "1,980円",
        "10:30",
        "～",
        "→",
        "※",
        "<br>",
        "&lt;",
        "&amp;",
        " ",
        "x",
    ),
)
TEXTS = st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join) | st.text(max_size=60)


@pytest.mark.requirement("N-56")
@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("末日まで使えます[1][2]。", "末日まで使えます。"),
        ("末日まで使えます [doc_chunk_7]。", "末日まで使えます。"),
        ("末日まで使えます（根拠: doc_chunk_7、doc_chunk_9）。", "末日まで使えます。"),
        ("# 結論\n\n**年額**は `申請` から。", "結論\n年額は 申請 から。"),
        ("- 年額\n- 月額\n・従量", "年額\n月額\n従量"),
        ("1. 申請する\n2) 待つ\n(3) 終わる", "申請する\n待つ\n終わる"),
        ("| 区分 | 料金 |\n|---|---|\n| 年額 | 1,980円 |", "区分、料金\n年額、1,980円"),
        ("[契約画面](https://a.example/b)から。", "契約画面から。"),
        ("詳しくは https://a.example/b をご覧ください。", "詳しくはウェブページをご覧ください。"),
        ("受付は平日です（https://a.example/b）。", "受付は平日です。"),
        ("※ 9:00～17:00に受け付けます。", "9:00から17:00に受け付けます。"),
        ("設定→契約→解約と進みます。", "設定、契約、解約と進みます。"),
        ("ﾌﾟﾗﾝをｶｸﾆﾝ", "プランをカクニン"),
        ("はい😀👍🏽", "はい"),
        ("2 * 3 は6です。", "2×3 は6です。"),
        (
            "第12条第3項により、4月1日から1,980円（3.5%）です。",
            "第12条第3項により、4月1日から1,980円（3.5%）です。",
        ),
        ("3.5倍です。\n10:30からです。", "3.5倍です。\n10:30からです。"),
        ("cancellation/annual/SKILL.md を見ました。", "を見ました。"),
        ("A&amp;B<br>C", "A&B\nC"),
        ("8.", "8."),
        ("https://a.example/b", ""),
        ("[1]", ""),
        ("", ""),
    ],
)
def test_marks_for_the_eye_are_gone_and_the_words_are_there(text: str, spoken: str) -> None:
    """Issue 5: no Markdown, ids or URLs; field report 25 of the second list."""
    assert speakable(text, "ja") == spoken


@pytest.mark.requirement("N-56")
def test_english_gets_english_words() -> None:
    """design.md, section 7: Japanese and English."""
    text = "Open 9 ~ 5 [1]. Go to Settings -> Plans, see https://a.example/b for more."
    assert speakable(text, "en") == "Open 9 to 5. Go to Settings, Plans, see the web page for more."


@pytest.mark.requirement("N-56")
@given(text=TEXTS, language=st.sampled_from(LANGUAGES))
@example(text="[https://a.example](doc_chunk_7)", language="ja")
@example(text="doc_[1]chunk_7", language="ja")
@example(text="htt`ps://a.example", language="en")
def test_no_mark_up_address_or_id_is_ever_spoken(text: str, language: Language) -> None:
    """Issue 5: whatever the model writes."""
    spoken = speakable(text, language)
    assert not UNSPEAKABLE.search(spoken)
    assert speakable(spoken, language) == spoken


@pytest.mark.requirement("N-56")
@given(text=st.text(alphabet="あいう年額プラン解約1234。、「」！？", max_size=80))
def test_plain_words_are_spoken_as_they_are(text: str) -> None:
    """Nothing is lost that has a sound."""
    spoken = speakable(text, "ja")
    assert [char for char in spoken if char.isalnum()] == [char for char in text if char.isalnum()]


@pytest.mark.requirement("N-56")
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_fixed_sentence_can_be_spoken_and_is_short(language: Language) -> None:
    """design.md, outcomes: one fixed sentence per language and channel."""
    sentences = [fixed_sentence(outcome, language, "voice") for outcome in OUTCOMES if outcome != "answered"]
    sentences += [message(language, f"voice.filler.{kind}", place="解約手続き") for _, kind in MARKS]
    sentences += [message(language, f"voice.{name}") for name in ("filler.looking", "not_speakable")]
    for sentence in sentences:
        assert speakable(sentence, language) == sentence
        assert len(sentence) <= (LONGEST if language == "ja" else 2 * LONGEST)
        assert len(pieces_of(sentence)) <= 4
