"""Quotations of an answer, held against the leaves read."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.domain.run import Quotation
from corpus2skill.navigator.quotation import SHORTEST, check_quotations, quoted_in

ANNUAL = (
    "第12条（解約）\n年額プランの解約は、契約管理画面の「解約申請」から行うものとし、契約期間の末日まで\n"
    "利用できる。日割り返金は行わない。"
)
ENGLISH = (
    'The annual plan is cancelled from the "Cancel plan" page.\nIt can be used until the last day of the\n'
    "contract period, and there is **no** refund by the day."
)
LEAVES = {"doc_chunk_7": ANNUAL, "doc_chunk_9": ENGLISH}


def held(answer: str, *, names: tuple[str, ...] = (), question: str = "") -> list[tuple[str, str | None]]:
    return [(found.text, found.doc_id) for found in check_quotations(answer, LEAVES, names, question)]


@pytest.mark.requirement("N-50")
@pytest.mark.parametrize(
    "quoted",
    [
        "年額プランの解約は、契約管理画面の「解約申請」から行うものとし",
        "年額プランの解約は、契約管理画面の『解約申請』から行うものとし",  # inner quotes are written so
        "契約期間の末日まで利用できる。日割り返金は行わない。",  # the line was wrapped
        "契約期間の 末日まで　利用できる",
        "第１２条(解約)年額プランの解約は",
        "年額プランの解約は、…契約期間の末日まで利用できる",
        "年額プランの解約は（中略）日割り返金は行わない",
        "……契約期間の末日まで利用できる……",
        "末日まで利用できる。日割り返金は**行わない**",
    ],
)
def test_a_quotation_that_stands_in_a_leaf_holds(quoted: str) -> None:
    """N-50. Issue: quotations of 12 characters or more are checked verbatim against the leaves read."""
    for opening, closing in ("「」", "『』", "“”", '""'):
        if closing in quoted or (opening == '"' and '"' in quoted):
            continue
        assert held(f"規約には{opening}{quoted}{closing}とあります。") == [(quoted, "doc_chunk_7")]


@pytest.mark.requirement("N-50")
@pytest.mark.parametrize(
    "quoted",
    [
        "年額プランの解約は、契約管理画面から行うものとし",  # words left out and not said so
        "年額プランの解約は、契約管理画面の「解約申請」から行うものとする",
        "日割り返金は行わない…年額プランの解約は",  # not in this order
        "契約期間の末日まで利用できない",
        "年額プランの解約は…contract period",  # of two leaves
    ],
)
def test_a_quotation_that_stands_in_no_leaf_does_not_hold(quoted: str) -> None:
    """N-50. One changed word is a changed quotation."""
    assert held(f"規約には「{quoted}」とあります。") == [(quoted, None)]
    assert not check_quotations(f"「{quoted}」", LEAVES)[0].holds


@pytest.mark.requirement("N-50")
def test_english_quotations_are_checked_alike() -> None:
    """N-50. Issue: “...” and straight quotes; punctuation at the ends belongs to the sentence around."""
    assert held('It ends "until the last day of the contract period," and') == [
        ("until the last day of the contract period,", "doc_chunk_9")
    ]
    assert held("“cancelled from the ‘Cancel plan’ page.”") == [
        ("cancelled from the ‘Cancel plan’ page.", "doc_chunk_9")
    ]
    assert held('"there is no refund ... by the day"') == [
        ("there is no refund ... by the day", "doc_chunk_9")
    ]
    assert held('"There is no refund by the day"') == [("There is no refund by the day", None)]


@pytest.mark.requirement("N-50")
@pytest.mark.parametrize(
    ("answer", "quoted"),
    [
        ("「解約申請」を押します。", []),
        ("「一二三四五六七八九十一」", []),
        ("「一二三四五六七八九十一二」", ["一二三四五六七八九十一二"]),
        ("「  十二字に満たないもの　 」", []),
        (
            "「外側は『内側の十二文字以上の引用』を含む」と続く",
            ["外側は『内側の十二文字以上の引用』を含む"],
        ),
        ("「閉じない「十二文字以上ある引用の例」です", ["十二文字以上ある引用の例"]),
        ("閉じるだけ」「十二文字以上ある引用の例」", ["十二文字以上ある引用の例"]),
        ('A 6" pipe and a 12" pipe fit.', []),
        ('A 6" pipe is "wide enough for water".', ["wide enough for water"]),
        (
            'It says "this is number one" and "this is number two".',
            ["this is number one", "this is number two"],
        ),
        ('規約は"末日まで利用できる。"と定める', []),
        ('規約は"契約期間の末日まで利用できる"と定める', ["契約期間の末日まで利用できる"]),
        ('An "unclosed one\n\nnext paragraph" here', []),
        ('"first one, closed" then an "open end', ["first one, closed"]),
        ("", []),
    ],
)
def test_what_counts_as_a_quotation(answer: str, quoted: list[str]) -> None:
    """N-50. Shorter ones are words that are talked of; inner ones stand in the outer one's text."""
    assert list(quoted_in(answer)) == quoted


@pytest.mark.requirement("N-50")
@pytest.mark.parametrize(
    ("original", "quoted"),
    [
        (
            "詳細は「[解約手続きの案内](/articles/cancel)」を参照してください。",
            "詳細は「解約手続きの案内」を参照してください",
        ),
        (
            "詳細は[解約手続きの案内](/a)を参照してください。",
            "詳細は[解約手続きの案内](/a)を参照してください",
        ),
        (
            "| プラン | 料金 |\n|---|---|\n| 年額プラン | 98,000円 | 一括前払い |",
            "年額プラン 98,000円 一括前払い",
        ),
        (
            "## 解約の手続き\n\n- 契約管理画面を開く\n- 解約申請を押す",
            "解約の手続き 契約管理画面を開く 解約申請を押す",
        ),
        (
            "> 「契約の期間」とは、**申込みの日**から一年間をいう。",
            "『契約の期間』とは、申込みの日から一年間をいう",
        ),
    ],
)
def test_the_marks_of_markdown_are_no_part_of_the_words(original: str, quoted: str) -> None:
    """N-50. What is shown of a link is its text; nobody quotes a cell's border."""
    (quotation,) = check_quotations(f"「{quoted}」", {"doc_chunk_1": original})
    assert quotation.doc_id == "doc_chunk_1"


@pytest.mark.requirement("N-50")
def test_names_and_the_askers_words_hold_in_no_leaf() -> None:
    """N-50. A title in brackets is no quotation of a text; nor is what the asker said."""
    title = "年額プランの解約条件と返金の扱い"
    (named,) = check_quotations(f"詳しくは「{title}」にあります。", LEAVES, [title])
    assert named == Quotation(text=title, is_name=True)
    assert named.holds
    asked = "途中で解約したらいつまで使えますか"
    (own,) = check_quotations(f"「{asked}」については、", LEAVES, [], f"年額プランを{asked}？")
    assert own == Quotation(text=asked, is_name=True)


def test_the_same_quotation_is_told_once_and_the_first_leaf_wins() -> None:
    """Promised by the function."""
    text = "契約期間の末日まで利用できる"
    leaves = {"doc_chunk_1": "別の規程。", "doc_chunk_2": text, "doc_chunk_3": text}
    answer = f"「{text}」とあり、別の箇所にも「{text}」とあります。"
    assert check_quotations(answer, leaves) == (Quotation(text=text, doc_id="doc_chunk_2"),)


@given(leaf=st.text(max_size=80), answer=st.text(alphabet='「」『』“”" 。…\n年額プランabc12', max_size=80))
@example(leaf="𩸽の塩焼き定食の値段は千円です", answer="「𩸽の塩焼き定食の値段は千円です」")
@example(leaf="ﾌﾟﾗﾝ\u200b変更は翌月から適用されます", answer="「プラン変更は翌月から適用されます」")
def test_any_text_can_be_checked(leaf: str, answer: str) -> None:
    """N-50. Whatever a model writes, a quotation is a piece of it, long enough, and checked."""
    for quotation in check_quotations(answer, {"doc_chunk_1": leaf}):
        assert quotation.text in answer
        assert len(unicodedata.normalize("NFKC", quotation.text)) >= SHORTEST


@given(st.text(alphabet="年額プランの解約 は\n、。abc DEF12３\u3000", min_size=12, max_size=60))
def test_what_was_copied_from_a_leaf_holds(text: str) -> None:
    """N-50. A quotation that is the leaf itself always holds, however its lines are wrapped."""
    for quotation in check_quotations(f"「{text}」", {"doc_chunk_1": f"前。{text}後。"}):
        assert quotation.holds
