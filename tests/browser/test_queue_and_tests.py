"""From a question without an answer to a test that the next version passes."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ScreenOf
from tests.browser.knowledge import HOLIDAYS, TRAVEL, added_version, asked, made_corpus
from tests.browser.screen import Screen

MISSING = "昼食の補助はいくらですか"


@pytest.mark.requirement("W-46")
def test_an_unanswered_question_becomes_a_test_that_the_next_version_passes(screen: Screen) -> None:
    """S13 and S14: the loop of unanswered, test, mended."""
    made_corpus(screen, "loop", "社内規程", {"休暇規程.md": f"# 休暇規程\n\n{HOLIDAYS}"})
    assert asked(screen, "loop", MISSING)["outcome"] == "not_found"
    page = screen.open("/queue?corpus=loop")
    page.get_by_role("button", name="テストに追加", exact=True).click()
    dialog = page.locator("dialog")
    dialog.get_by_label("読むべき出典").fill("福利厚生.md")
    dialog.get_by_role("button", name="テストに追加").click()
    expect(page.locator(".entry")).to_contain_text("テストに追加済み")
    page.get_by_role("link", name="テスト質問を見る").click()
    expect(page.locator("tbody tr")).to_contain_text("福利厚生.md")
    run_tests(screen, "v1（公開中）")
    expect(page.locator("tbody tr")).to_contain_text("不合格")
    added_version(screen, "loop", {"福利厚生.md": "# 昼食の補助\n\n昼食の補助は1食につき300円とする。"})
    run_tests(screen, "v2（公開中）")
    expect(page.locator("tbody tr")).to_contain_text("良くなった")
    expect(page.locator(".fact")).to_have_text("1 問中 1 問合格")


def run_tests(screen: Screen, version: str) -> None:
    page = screen.open("/tests?corpus=loop&tab=runs")
    page.get_by_label("バージョン").select_option(label=version)
    page.get_by_role("button", name="テストを実行").click()
    expect(page.locator(".card .badge", has_text="完了")).to_be_visible(timeout=30_000)


@pytest.mark.requirement("W-46")
def test_what_was_settled_stands_under_its_state_with_the_note(screen: Screen) -> None:
    """S13: to-dos are found again, and put back."""
    made_corpus(screen, "settling", "旅費", {"旅費規程.md": f"# 旅費規程\n\n{TRAVEL}"})
    asked(screen, "settling", MISSING)
    page = screen.open("/queue?corpus=settling")
    page.locator(".entry").get_by_role("button", name="文書が足りない").click()
    page.locator("dialog").get_by_label("メモ（任意）").fill("福利厚生の規程を足す")
    page.locator("dialog").get_by_role("button", name="保存").click()
    expect(page.get_by_role("link", name="文書を登録する")).to_be_visible()
    page.get_by_role("button", name="文書が足りない", exact=True).click()
    expect(page.locator(".entry .notice")).to_have_text("福利厚生の規程を足す")
    assert "state=to_do" in page.url
    page.get_by_role("button", name="未対応に戻す").click()
    expect(page.locator(".entry .badge.good")).to_have_text("未対応")
    screen.open("/queue?corpus=settling")
    expect(page.locator(".entry")).to_have_count(1)


@pytest.mark.requirement("W-47")
def test_questions_are_made_changed_imported_and_removed(screen: Screen, compiled: str) -> None:
    """S14."""
    screen.allowed.append("status of 422")
    page = screen.open(f"/tests?corpus={compiled}")
    page.get_by_role("button", name="質問を追加").click()
    dialog = page.locator("dialog")
    dialog.get_by_label("質問", exact=True).fill("年額プランの解約方法")
    dialog.get_by_role("button", name="保存").click()
    expect(dialog.locator(".notice")).to_be_visible()  # nothing is expected of it yet
    dialog.get_by_label("読むべき出典").fill("利用規約.docx")
    dialog.get_by_role("button", name="保存").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    table = (
        "question,expected_sources,expects_not_found,note\n返金はありますか,よくある質問.md,,\n火星,,true,\n"
    )
    file = {"name": "q.csv", "mimeType": "text/csv", "buffer": table.encode("utf-8")}
    page.locator("input[type=file]").set_input_files(files=[file])  # type: ignore[list-item]
    expect(page.locator("tbody tr")).to_have_count(3)
    page.get_by_role("button", name="「火星」を外す").click()
    dialog.get_by_role("button", name="外す").click()
    expect(page.locator("tbody tr")).to_have_count(2)


@pytest.mark.requirement("W-48")
def test_who_changes_a_question_second_is_told_and_loses_nothing(screen_of: ScreenOf, compiled: str) -> None:
    """Issue 7, bad input: two people editing the same thing."""
    first, second = screen_of(), screen_of()
    second.allowed.append("status of 412")
    question = "二人で直す質問"
    path = f"/corpora/{compiled}/test-questions"
    first.api("POST", path, {"question": question, "expects_not_found": True})
    for one in (first, second):
        one.open(f"/tests?corpus={compiled}").get_by_role("button", name=f"「{question}」を編集").click()
    for one, words in ((first, "一人目の直し"), (second, "二人目の直し")):
        one.page.locator("dialog").get_by_label("質問", exact=True).fill(words)
        one.page.locator("dialog").get_by_role("button", name="保存").click()
    dialog = second.page.locator("dialog")
    expect(dialog.locator(".notice.bad")).to_be_visible()
    expect(dialog.get_by_label("質問", exact=True)).to_have_value("二人目の直し")
    expect(second.page.locator("tbody")).to_contain_text("一人目の直し")
    dialog.get_by_role("button", name="やめる").click()
    second.page.get_by_role("button", name="「一人目の直し」を編集").click()
    dialog.get_by_label("質問", exact=True).fill("二人目の直し")
    dialog.get_by_role("button", name="保存").click()
    expect(second.page.locator("tbody")).to_contain_text("二人目の直し")
