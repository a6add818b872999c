"""The first run, home, all corpora, and the settings of one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import StorageState, expect

from tests.browser.conftest import ScreenOf
from tests.browser.screen import Screen
from tests.e2e.serving import ServerProcess

NewServer = Callable[..., tuple[ServerProcess, StorageState]]
_PATIENCE = 60_000


@pytest.mark.requirement("W-10")
def test_the_first_run_ends_in_a_corpus_that_answers(new_server: NewServer, screen_of: ScreenOf) -> None:
    """S1: from the empty workspace through the samples to the conversation, without a key."""
    server, state = new_server()
    page = screen_of(server=server, state=state).page
    page.goto(f"{server.told['url']}/")
    page.wait_for_url("**/welcome")
    expect(page.locator(".steps h3")).to_have_text(
        ["1. プロバイダーのキー（任意）", "2. コーパスを作る", "3. 文書を登録"]
    )
    page.get_by_role("button", name="サンプルで試す").click()
    page.wait_for_url("**/jobs/**")
    page.get_by_role("link", name="質問する").click(timeout=_PATIENCE)
    expect(page).to_have_url(f"{server.told['url']}/talk?corpus=sample-ja")


@pytest.mark.requirement("W-16")
def test_home_tells_four_facts(screen: Screen, compiled: str) -> None:
    """S2: live versions, jobs that need somebody, unanswered questions, money; each on its own card."""
    page = screen.open("/")
    facts = page.locator("#page .card")
    expect(facts).to_have_count(4)
    for name in ("公開中のバージョン", "対応待ちのジョブ", "今日の未回答", "今月の支出"):
        expect(page.get_by_role("region", name=name).locator(".fact")).to_be_visible()
    assert compiled


@pytest.mark.requirement("W-15")
def test_a_corpus_is_made_set_and_deleted(screen: Screen, compiled: str) -> None:
    """Issue 7: everything on the screen; deleting asks for the name."""
    page = screen.open("/knowledge")
    page.get_by_role("button", name="コーパスを作成").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("表示名").fill("Travel Rules 2026")
    expect(dialog.get_by_label("名前", exact=True)).to_have_value("travel-rules-2026")
    dialog.get_by_role("button", name="作成").click()
    page.wait_for_url("**/c/travel-rules-2026/documents")
    screen.open("/c/travel-rules-2026/settings")
    page.get_by_label("担当者の連絡先").fill("mailto:help@example.jp")
    page.get_by_label("テスト質問に合格したバージョンだけを公開する").check()
    page.get_by_role("button", name="保存").click()
    expect(page.locator("#notes")).to_contain_text("保存しました")
    saved = screen.api("GET", "/corpora/travel-rules-2026")
    assert (saved["hand_off"], saved["tests_required"]) == ("mailto:help@example.jp", True)
    page.get_by_role("button", name="コーパスを削除").click()
    page.get_by_role("dialog").get_by_role("textbox").fill("travel-rules-2026")
    page.get_by_role("dialog").get_by_role("button", name="コーパスを削除").click()
    page.wait_for_url("**/knowledge")
    expect(page.locator(".corpora")).not_to_contain_text("travel-rules-2026")
    assert compiled


@pytest.mark.requirement("W-17")
def test_who_may_only_read_sees_no_button_that_would_be_refused(
    browser_of_viewer: Screen, compiled: str
) -> None:
    """Issue 7: what one may not do is not offered, and who may is said."""
    page = browser_of_viewer.open(f"/c/{compiled}/documents")
    expect(page.locator("tbody tr").first).to_be_visible()
    expect(page.get_by_role("button", name="ファイルを選ぶ")).to_have_count(0)
    browser_of_viewer.open(f"/c/{compiled}/compile")
    expect(page.locator(".empty")).to_contain_text("オーナー")
    browser_of_viewer.open("/")
    expect(page.locator("#page .card")).to_have_count(2)


@pytest.fixture
def browser_of_viewer(screen: Screen, screen_of: ScreenOf) -> Screen:
    """Somebody who was invited to look."""
    link = str(screen.api("POST", "/invitations", {"name": "見る人", "role": "viewer"})["url"])
    viewer = screen_of(state={"cookies": [], "origins": []})
    viewer.page.goto(link)
    viewer.page.locator("main input[type=password]").fill("correct horse battery staple")
    viewer.page.locator("main button").click()
    viewer.page.wait_for_load_state()
    return viewer
