"""Which sentences are quoted from the leaves that were read."""

from __future__ import annotations

import pytest

from corpus2skill.adapters.offline.passages import PASSAGE_LIMIT, best_passages
from corpus2skill.adapters.offline.question import understand
from corpus2skill.adapters.offline.walk import ReadLeaf

ANNUAL = (
    "年額プランを途中で解約したら、残りの期間の料金は返金されますか？",
    (
        "## 解約\n\n### 年額プランを途中で解約したら、残りの期間の料金は返金されますか？\n\n"
        "返金はありません。年額プランは日割りによる返金を行わない代わりに、契約期間の末日までご利用いただけます。"
    ),
)
PRICES = (
    "1. 基本料金",
    (
        "1. 基本料金\n\n年額プランは12か月分を一括でお支払いいただくもので、月額プラン10か月分に相当する金額です。\n\n"
        "| エディション | 月額プラン（1か月） | 年額プラン（12か月） |\n| --- | --- | --- |\n"
        "| ライト | 9,800円 | 98,000円 |\n| スタンダード | 29,800円 | 298,000円 |\n\n"
        "初期費用はかかりません。月額プランの途中での解約については、日割りによる返金を行いません。"
    ),
)
WHICH = (
    "年額プランと月額プランは、どちらがお得ですか？",
    (
        "### 年額プランと月額プランは、どちらがお得ですか？\n\n"
        "年額プランの基本料金は月額プラン10か月分に相当します。一方、年額プランは途中で解約しても返金がありません。"
    ),
)
REGULAR = ("正社員", "### 正社員\n\n有給休暇は、入社6か月後に10日付与します。")
PART_TIME = ("アルバイト", "### アルバイト\n\n週の勤務日数に応じて、有給休暇を5日付与します。")


def quoted(question: str, *leaves: tuple[str, str], most_sentences: int = 3) -> list[str]:
    """The passages for `question`, best first, where every leaf but the first fits a little less."""
    read = [
        ReadLeaf(doc_id=f"doc_chunk_{number}", path=f"doc_chunk_{number}.md", title=title, body=body)
        for number, (title, body) in enumerate(leaves)
    ]
    fit = {leaf.path: 1 - number / 10 for number, leaf in enumerate(read)}
    found = best_passages(understand(question), read, fit, lambda _: 1.0, most_sentences=most_sentences)
    return [passage.text for passage in found]


def test_a_sentence_about_the_sibling_of_what_was_asked_loses() -> None:
    """Asked about 月額, the rules of 年額 are not the answer, however well the rest fits."""
    first, *_ = quoted("月額プランを途中で解約したら返金されますか", ANNUAL, WHICH, PRICES)
    assert first == "月額プランの途中での解約については、日割りによる返金を行いません。"
    first, *_ = quoted("年額プランを途中で解約したら返金されますか", ANNUAL, PRICES)
    assert first.startswith("返金はありません。")


@pytest.mark.parametrize("leaves", [(REGULAR, PART_TIME), (PART_TIME, REGULAR)])
def test_a_subject_that_only_the_heading_names_counts(leaves: tuple[tuple[str, str], ...]) -> None:
    """アルバイト stands in the heading, the days in the sentence below it."""
    assert "5日" in quoted("アルバイトの有給休暇は何日ですか？", *leaves)[0]
    assert "10日" in quoted("正社員の有給休暇は何日ですか？", *leaves)[0]


def test_sections_of_one_leaf_are_told_apart_by_their_headings() -> None:
    """The same where both stand in one text."""
    both = ("休暇", f"## 休暇\n\n{REGULAR[1]}\n\n{PART_TIME[1]}")
    assert quoted("アルバイトの有給休暇は何日ですか？", both) == [
        "週の勤務日数に応じて、有給休暇を5日付与します。"
    ]


def test_english_plans_are_not_mixed_either() -> None:
    """monthly plan beside annual plan."""
    leaves = (
        ("Refunds", "If you cancel the annual plan early, the fee is refunded in part."),
        ("Renewal", "If you cancel the monthly plan early, nothing is paid back."),
    )
    assert "monthly plan" in quoted("Is the fee refunded when I cancel the monthly plan?", *leaves)[0]


@pytest.mark.parametrize("question", ["年額プランの料金はいくらですか", "月額プランの料金は？"])
def test_a_price_is_answered_with_the_header_and_the_rows_that_hold_it(question: str) -> None:
    """Never the header alone, each row on its own line."""
    assert quoted(question, WHICH, ANNUAL, PRICES)[0].split("\n") == [
        "エディション / 月額プラン（1か月） / 年額プラン（12か月）",
        "ライト / 9,800円 / 98,000円",
        "スタンダード / 29,800円 / 298,000円",
    ]


def test_a_row_that_is_asked_for_is_quoted_without_the_others() -> None:
    """The header says what its figures are."""
    (text,) = quoted("スタンダードの年額プランはいくらですか", PRICES)
    assert text.split("\n") == [
        "エディション / 月額プラン（1か月） / 年額プラン（12か月）",
        "スタンダード / 29,800円 / 298,000円",
    ]


def test_a_row_that_names_what_is_asked_stands_without_the_others_of_its_table() -> None:
    """The heading above names it too, for all rows alike."""
    body = "## Annual plan\n\n| Plan | Price |\n| --- | --- |\n| Monthly | $9 |\n| Annual | $90 |"
    assert quoted("How much is the annual plan?", ("Annual plan", body)) == ["Plan / Price\nAnnual / $90"]


def test_the_answer_to_another_question_is_no_answer() -> None:
    """A FAQ that asks for more than was asked answers something else."""
    article = ("第12条", "第12条\n\n年額プランの解約は、契約管理画面から行います。")
    assert quoted("年額プランを解約する方法は", article, ANNUAL)[0] == article[1].partition("\n\n")[2]
    assert quoted("年額プランを解約する方法は", ANNUAL, article)[0] == article[1].partition("\n\n")[2]


def test_the_rule_is_quoted_before_its_example() -> None:
    """An example has the same words and more of them."""
    text = "年額プランの解約は画面から行います。手数料はありません。"
    body = f"{text}\n\nたとえば、年額プランの解約を4月に行った場合は3月に終了します。"
    assert quoted("年額プランの解約", ("解約", body))[0] == "年額プランの解約は画面から行います。"


def test_a_question_about_refunds_is_not_answered_with_prices() -> None:
    """料金 alone does not ask for an amount."""
    (text,) = quoted("月額プランを途中で解約したら料金は返金されますか", PRICES)
    assert "9,800円" not in text


def test_neither_headings_nor_questions_are_quoted() -> None:
    """「一般会員返品できません。」 stands in no document."""
    rules = "一般会員\n返品できません。\n\nプレミアム会員\n30日以内なら返品できます。送料は当社が負担します。"
    assert quoted("一般会員は返品できますか", ("返品規定", rules)) == ["返品できません。"]
    assert quoted("プレミアム会員は返品できますか", ("返品規定", rules)) == ["30日以内なら返品できます。"]
    faq = "Q1. 返金されますか？\nA1. 返金はありません。"
    assert quoted("返金されますか？", ("返金されますか？", faq)) == ["返金はありません。"]


def test_a_quotation_of_prose_stands_in_the_text_as_it_is() -> None:
    """Sentences are joined only within one paragraph."""
    for question in ("年額プランの返金と契約期間", "返金 料金 末日 一括 初期費用"):
        for text in quoted(question, ANNUAL, PRICES, WHICH):
            assert text in "".join((ANNUAL[1], PRICES[1], WHICH[1])) or " / " in text


def test_a_sentence_that_leads_in_a_list_is_quoted_with_its_lines() -> None:
    """「次のとおりです。」 alone answers nothing."""
    body = "## 手順\n\n返品の手順は次のとおりです。\n\n- フォームに入力する\n- 商品を送る\n\n以上です。"
    assert quoted("返品の手順は", ("返品規定: 手順", body)) == [
        "返品の手順は次のとおりです。\nフォームに入力する\n商品を送る"
    ]


@pytest.mark.parametrize("question", ["第12条", "第１２条を教えてください", "第12条の内容"])
def test_an_article_asked_for_by_its_number_is_quoted_from_its_beginning(question: str) -> None:
    """Not the 12 months of another article, nor 第12条の2."""
    rules = ("第5条（更新）", "第5条（更新）\n\n利用契約は第12条の場合を除き12か月更新されます。")
    second = ("第12条の2（特則）", "第12条の2（特則）\n\n第12条の申請は12日以内とします。")
    article = (
        "第12条（解約）",
        "第12条（解約）\n\n解約は画面から行います。返金は行いません。\n\n２　第5条の12か月は更新されます。",
    )
    assert quoted(question, rules, second, article)[0].startswith("解約は画面から行います。")


def test_a_quotation_keeps_its_length() -> None:
    """Long tables too."""
    rows = "\n".join(f"| プラン{number} | {number}00円 |" for number in range(60))
    (text,) = quoted("プランはいくらですか", ("料金", f"| プラン | 料金 |\n| --- | --- |\n{rows}"))
    assert len(text) <= PASSAGE_LIMIT
    assert text.startswith("プラン / 料金\n")


def test_a_leaf_of_headings_alone_is_quoted_all_the_same() -> None:
    """There is nothing else."""
    assert quoted("解約", ("解約", "# 解約")) == ["解約"]
    assert quoted("解約", ("解約", "")) == []
