"""Text cut into pieces to be spoken, in both languages, however it comes."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.navigator.voice.pieces import LONGEST, PieceCutter, pieces_of

JAPANESE = "年額プランは、契約期間の末日までご利用いただけます。返金はありません！料金は1,980円です。"
ENGLISH = 'The fee is 3.5 percent, e.g. for No. 5 in the U.S. market. Dr. Sato said "It ends. Really." Call at 5 p.m. today?'
FRAGMENTS = (
    *(
        "年額プランの解約",
        "第12条第3項",
        "1,980円",
        "10:30",
        "3.5",
        "。",
        "、",
        "！",
        "？",
        "「",
        "」",
        "（",
        "）",
        '"',
        "\n",
    ),
    *(
        "e.g. ",
        "U.S. ",
        "No. 5",
        "Hello ",
        "world. ",
        "Really?",
        " ",
        ".",
        "!",
        "https://a.example/b?c=1.5",
        "はい。",
    ),
)
TEXTS = st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join) | st.text(max_size=200)


@pytest.mark.requirement("N-55")
@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        (
            "第3.2条をご確認ください。年額は返金されません！",
            ["第3.2条をご確認ください。", "年額は返金されません！"],
        ),
        ("はい。", ["はい。"]),
        ("はい。そうです。", ["はい。", "そうです。"]),
        ("本当ですか！？はい。", ["本当ですか！？", "はい。"]),
        ("「はい。」と答えます。次です。", ["「はい。」と答えます。", "次です。"]),
        ("「はい。」「いいえ。」", ["「はい。」", "「いいえ。」"]),
        ("窓口は平日（祝日を除く。）のみです。", ["窓口は平日（祝日を除く。）のみです。"]),
        ('彼は"はい。"と言った。終わり。', ['彼は"はい。"と言った。', "終わり。"]),
        ("一行目\n二行目", ["一行目", "二行目"]),
        ("終わりです.次です.", ["終わりです.", "次です."]),
        ("営業は10:30から。", ["営業は10:30から。"]),
        ("It costs 3.5 dollars. Pay now.", ["It costs 3.5 dollars.", "Pay now."]),
        ("See No. 5 and Art. 12. Then stop.", ["See No. 5 and Art. 12.", "Then stop."]),
        ("Can I? No. You cannot.", ["Can I?", "No.", "You cannot."]),
        ("In the U.S. it is so, i.e. always.", ["In the U.S. it is so,", "i.e. always."]),
        ("We close at 5 p.m. Come early.", ["We close at 5 p.m.", "Come early."]),
        ("See https://a.example/b.c?d. Thanks!", ["See https://a.example/b.c?d.", "Thanks!"]),
        ('He said "It ends. Really." We know.', ['He said "It ends. Really."', "We know."]),
        ('"Is it?" he asked.', ['"Is it?" he asked.']),
        ("1. First this. 2. Then that.", ["1. First this.", "2. Then that."]),
        ("", []),
        (" \n\u3000", []),
    ],
)
def test_pieces_are_sentences_and_lines(text: str, pieces: list[str]) -> None:
    """Issue 5: after 。！？ and line ends, never inside 「」 or a number; interfaces.md, sentence cutting."""
    assert list(pieces_of(text)) == pieces


@pytest.mark.requirement("N-55")
def test_the_first_piece_may_end_at_a_comma_and_later_ones_do_not() -> None:
    """Issue 5: first piece may end at 、 to begin early."""
    text = "年額プランのご契約の場合、末日まで使えます。月額プランのご契約の場合、月末までです。"
    assert pieces_of(text) == (
        "年額プランのご契約の場合、",
        "末日まで使えます。",
        "月額プランのご契約の場合、月末までです。",
    )
    assert pieces_of("はい、末日まで使えます。") == ("はい、末日まで使えます。",)


@pytest.mark.requirement("N-55")
@pytest.mark.parametrize(
    "text",
    [
        "年額プランをご契約のお客様が契約期間の途中で解約された場合でも、契約期間の末日までサービスを引き続きご利用いただけますのでご安心ください。",
        "解約の際には必ず「契約管理画面の解約申請のページから手続きを行ってください。窓口では承れません。」という案内をよくお読みください。",
        "本サービスの利用料金の支払いを遅延した契約者は年率十四パーセントの遅延損害金を当社に対して支払うものとし第12条第3項に従う",
    ],
)
def test_a_long_sentence_is_cut_outside_quotes_numbers_and_words(text: str) -> None:
    """Issue 5: at most 60 characters, never inside 「」 or a number."""
    pieces = pieces_of(text)
    assert len(pieces) > 1
    assert all(piece.count("「") == piece.count("」") for piece in pieces)
    assert "第12条第3項" not in text or any("第12条第3項" in piece for piece in pieces)
    assert all(piece[0] not in "、。ー」）っゃゅょ" for piece in pieces)


@pytest.mark.requirement("N-55")
def test_a_number_is_not_cut_by_the_limit() -> None:
    """Issue 5: never inside a number, here one that lies across the sixtieth character."""
    for before in range(50, 62):
        text = "あ" * before + "1,234,567円" + "い" * 30
        assert any("1,234,567円" in piece for piece in pieces_of(text)), before


@pytest.mark.requirement("N-55")
def test_a_quotation_that_is_too_long_is_cut_at_its_own_sentences() -> None:
    """The limit is a hard one: some browsers' voices fall silent after 14 seconds."""
    quoted = "「" + "契約期間の末日まで利用できる。" * 6 + "」"
    assert all(len(piece) <= LONGEST and piece[-1] in "。」" for piece in pieces_of(quoted))


@pytest.mark.requirement("N-55")
@given(text=TEXTS)
@example(text=JAPANESE)
@example(text=ENGLISH)
@example(text="「" * 70)
@example(text="1" * 130)
def test_the_pieces_together_are_the_text_and_none_is_too_long(text: str) -> None:
    """Issue 5; house-style.md, rule 39."""
    pieces = pieces_of(text)
    assert _without_spaces("".join(pieces)) == _without_spaces(text)
    assert all(0 < len(piece) <= LONGEST for piece in pieces)


@pytest.mark.requirement("N-55")
@given(text=TEXTS, data=st.data())
@example(text=JAPANESE, data=None)
@example(text=ENGLISH, data=None)
def test_the_pieces_do_not_depend_on_how_the_text_comes(text: str, data: st.DataObject | None) -> None:
    """Providers cut their deltas anywhere."""
    places = range(len(text) + 1) if data is None else data.draw(st.lists(st.integers(0, len(text))))
    cuts = [0, *sorted(places), len(text)]
    cutter = PieceCutter()
    pieces = [piece for start, end in pairwise(cuts) for piece in cutter.feed(text[start:end])]
    assert (*pieces, *cutter.flush()) == pieces_of(text)


@pytest.mark.requirement("N-55")
@given(
    words=st.lists(
        st.sampled_from(("年額", "解約", "。", "！", "、", "1,980円", "3.5", "末日まで")), max_size=9
    )
)
def test_what_stands_in_a_short_quotation_stays_together(words: list[str]) -> None:
    """Issue 5: never inside 「」."""
    quotation = f"「{''.join(words)}」"
    text = f"規約には{quotation}とあります。続きです。"
    if len(quotation) < LONGEST:
        assert any(quotation in piece for piece in pieces_of(text))


@pytest.mark.requirement("N-55")
def test_a_piece_is_given_out_with_the_character_after_it() -> None:
    """Speaking begins before the text is whole."""
    cutter = PieceCutter()
    assert cutter.feed("末日までです。") == []
    assert cutter.feed("返") == ["末日までです。"]
    assert cutter.flush() == ["返"]


def _without_spaces(text: str) -> str:
    return re.sub(r"\s", "", text)
