"""Texts in languages other than the product's two."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.command_line import CommandLine, write_documents

DOCUMENTS = {
    "ar.md": "# شروط الإلغاء\n\nيمكن إلغاء الخطة السنوية من صفحة إدارة العقد، ويبقى الاستخدام متاحا حتى نهاية مدة العقد.\n\n# الأسعار\n\nالرسوم الشهرية عشرة دولارات.\n",
    "ko.md": "# 해지 조건\n\n연간 요금제의 해지는 계약 관리 화면에서 신청하며 계약 기간 말일까지 이용할 수 있습니다.\n\n# 요금\n\n월간 요금은 만원입니다.\n",
    "zh.md": "# 取消条件\n\n年度套餐可在合同管理页面申请取消，取消之后仍可使用至合同期末，已经支付的费用不予退还。\n\n# 价格\n\n每月费用为一百元。\n",
    "ru.md": "# Условия отмены\n\nГодовой план можно отменить на странице управления договором; доступ сохраняется до конца срока договора.\n",
}


@pytest.mark.parametrize(
    ("question", "source"),
    [
        ("كيف يمكن إلغاء الخطة السنوية؟", "ar.md"),
        ("연간 요금제의 해지는 어떻게 합니까?", "ko.md"),
        ("年度套餐如何取消？", "zh.md"),
        ("Как отменить годовой план?", "ru.md"),
    ],
)
def test_a_question_in_another_language_is_answered_from_the_text_in_it(
    cli: CommandLine, tmp_path: Path, question: str, source: str
) -> None:
    """Issue 3, bad input: text in other languages is kept, grouped and answered; right-to-left text too."""
    assert cli("compile", write_documents(tmp_path / "d", DOCUMENTS)).code == 0
    ran = cli("ask", question, "--json")
    assert ran.code == 0
    assert [citation["source"] for citation in ran.json["citations"]][:1] == [source]
