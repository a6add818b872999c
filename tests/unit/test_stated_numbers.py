"""Numbers that a summary states and its source does not."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.compiler.stated_numbers import numbers_not_in


@pytest.mark.parametrize(
    ("summary", "source"),
    [
        ("第12条", "第十二条"),
        ("第十二条", "第12条"),
        ("第12条", "第１２条"),
        ("第１２条", "第12条"),
        ("料金は9,800円", "料金は9800円"),
        ("料金は9800円", "料金は９，８００円"),
        ("12,000円", "1万2千円"),
        ("1万2千円", "12,000円"),
        ("5万円", "50,000円"),
        ("2億3000万円", "230,000,000円"),
        ("1.5億円", "1億5千万円"),
        ("2024年4月1日", "2024-04-01"),
        ("2024年", "二〇二四年"),
        ("24時間", "二十四時間"),
        ("三十日以内", "30日以内"),
        ("350円", "三百五十円"),
        ("0.5%", "０．５％"),
        ("1.50倍", "1.5倍"),
        ("版は1.2", "版は1.2.3"),
        ("2024.4.1から", "2024年4月1日から"),
        ("手順3", "③ 保存する"),
        ("第4章", "第Ⅳ章"),
        ("3つのプランがある", "年額、月額、従量課金"),
        ("2種類のプラン", "年額と月額"),
        ("within 30 days", "within thirty days"),
        ("24 hours", "twenty-four hours"),
        ("on day 1", "on the first day"),
        ("電話は03-1234-5678", "TEL:（03）1234-5678"),
        ("型番NX-200", "NX200"),
        ("一部の機能、一度だけ、万一の際、十分な確認、唯一", "機能"),
        ("第三者に開示しない", "他人に見せない"),
        ("no figures at all", ""),
        ("面積は20m²", "面積は20平方メートル"),
        ("1" * 6000, "1" * 6000),
    ],
)
def test_a_number_of_the_source_may_be_written_otherwise(summary: str, source: str) -> None:
    """第十二条 and 12, full-width digits, commas, units and words are the same numbers."""
    assert numbers_not_in(summary, source) == ()


@pytest.mark.parametrize(
    ("summary", "source", "made_up"),
    [
        ("30日以内に返金する", "14日以内に返金する", ("30",)),
        ("料金は9,800円", "料金は8,900円", ("9,800",)),
        ("第13条", "第十二条", ("13",)),
        ("第十三条", "第12条", ("十三",)),
        ("三十日以内", "十三日以内", ("三十",)),
        ("5万円", "5千円", ("5万",)),
        ("3日前まで", "前日まで", ("3",)),
        ("年額9,800円、月額980円、日額32円", "年額9,800円、月額980円", ("32",)),
        ("12か月", "1年", ("12",)),
        ("10 types of plan", "annual and monthly", ("10",)),
        ("版は1.3", "版は1.2.3", ("1.3",)),
        ("１５件まで", "5件まで", ("15",)),
        ("7回、7回", "", ("7",)),
    ],
)
def test_a_made_up_number_is_seen(summary: str, source: str, made_up: tuple[str, ...]) -> None:
    """Such a summary leads a reader to a wrong answer."""
    assert numbers_not_in(summary, source) == made_up


@given(st.text(max_size=200))
@example("第十二条の２、1万2千円、①〜③、1,,2..3、千万億兆、٣٤")
@example("三三三十十万万兆")
def test_a_text_states_no_number_that_it_does_not_have(text: str) -> None:
    """Whatever is in it, and without an error."""
    assert numbers_not_in(text, text) == ()
