"""Versions: compared, switched, gone back from, removed; by two people at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, StorageState, expect

from tests.browser.conftest import ScreenOf
from tests.browser.knowledge import HOLIDAYS, TRAVEL, added_version, asked, made_corpus
from tests.browser.screen import Screen
from tests.e2e.serving import ServerProcess

FIRST = {"休暇規程.md": f"# 休暇規程\n\n{HOLIDAYS}"}
SECOND = {
    "旅費規程.md": f"# 旅費規程\n\n{TRAVEL}",
    "休暇規程.md": f"# 休暇規程\n\n{HOLIDAYS.replace('人事部', '総務部')}",
}


def two_versions(screen: Screen, corpus: str, *, is_activated: bool = True) -> None:
    made_corpus(screen, corpus, "社内規程", FIRST)
    added_version(screen, corpus, SECOND, is_activated=is_activated)


def activated_by_another(screen: Screen, corpus: str, version: int, seen: int) -> None:
    answer = screen.page.request.put(
        f"{screen.base}/v1/corpora/{corpus}/active",
        data={"version": version},
        headers={"Origin": screen.base, "If-Match": f'"{seen}"'},
    )
    assert answer.ok, answer.text()


def row(page: Page, version: int) -> Locator:
    return page.get_by_role("row").filter(
        has=page.get_by_role("link", name=f"バージョン {version}", exact=True)
    )


@pytest.mark.requirement("W-59")
def test_a_switch_names_what_changes_and_is_undone_in_one_action(screen: Screen) -> None:
    """Field report 10: publish, roll back in one action; an old answer still opens its version's text."""
    two_versions(screen, "switched", is_activated=False)
    old = asked(screen, "switched", "年次有給休暇は何日ですか")
    page = screen.open("/c/switched/versions")
    expect(row(page, 1)).to_contain_text("公開中")
    page.get_by_role("button", name="バージョン 2 に切り替える").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("バージョンが 1 から 2 に")
    expect(dialog.locator("#switch-summary")).to_contain_text("追加された文書 1 件")
    dialog.get_by_role("button", name="切り替える").click()
    expect(row(page, 2)).to_contain_text("公開中")
    expect(page.locator("#live")).to_contain_text("v2")
    new = asked(screen, "switched", "年次有給休暇は何日ですか")
    back = page.get_by_role("button", name="バージョン 1 に戻す")
    back.click()
    page.get_by_role("dialog").get_by_role("button", name="やめる").click()
    expect(back).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="戻す").click()
    expect(row(page, 1)).to_contain_text("公開中")
    assert (old["version"], new["version"]) == (1, 2)
    for run, words in ((old, "人事部"), (new, "総務部")):
        cited = run["citations"][0]["doc_id"]
        page = screen.open(f"/c/switched/versions/{run['version']}/leaves/{cited}?run={run['run_id']}")
        expect(page.locator(".original .here")).to_contain_text(words)


@pytest.mark.requirement("W-59")
def test_a_conversation_goes_on_with_the_new_version_and_its_old_answers_keep_theirs(screen: Screen) -> None:
    """Field report 11: no run mixes two versions, and each says which one it used."""
    two_versions(screen, "mixed", is_activated=False)
    page = screen.open("/talk?corpus=mixed")
    for version in (1, 2):
        page.locator("#question").fill("慶弔休暇の申請はどこへ行いますか")
        page.keyboard.press("Enter")
        expect(page.locator(".turn:not([aria-busy])")).to_have_count(version)
        hrefs = page.locator(".turn").last.locator(".sources a").evaluate_all("all => all.map(a => a.href)")
        assert hrefs
        assert all(f"/versions/{version}/leaves/" in href for href in hrefs)
        if version == 1:
            activated_by_another(screen, "mixed", 2, seen=1)
    first = page.locator(".turn").first.locator(".sources a").first
    assert "/versions/1/leaves/" in str(first.get_attribute("href"))


@pytest.mark.requirement("W-60")
def test_who_was_slower_is_told_and_sees_what_is_there_now(screen: Screen) -> None:
    """Issue 7, bad input: a version is activated by another while the dialog is open."""
    screen.allowed.append("status of 412")
    two_versions(screen, "raced")
    added_version(screen, "raced", {"追記.md": "# 追記\n\n本日は晴天なり。会議は中止とする。"})
    page = screen.open("/c/raced/versions")
    page.get_by_role("button", name="バージョン 1 に切り替える").click()
    activated_by_another(screen, "raced", 2, seen=3)
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="切り替える").click()
    told = page.get_by_role("dialog", name="ほかの人が先に切り替えました")
    expect(told).to_contain_text("ほかの人が 2 に切り替えました")
    told.get_by_role("button", name="読み直す").click()
    expect(row(page, 2)).to_contain_text("公開中")
    assert screen.api("GET", "/corpora/raced/active")["version"] == 2
    page.get_by_role("button", name="バージョン 1 に切り替える").click()
    page.get_by_role("dialog").get_by_role("button", name="切り替える").click()
    expect(row(page, 1)).to_contain_text("公開中")


@pytest.mark.requirement("W-61")
def test_where_tests_are_required_an_owner_may_go_past_them_with_a_reason(screen: Screen) -> None:
    """screens.md: a publish can require a pass."""
    screen.allowed.append("status of 409")
    two_versions(screen, "gated", is_activated=False)
    screen.api("PATCH", "/corpora/gated", {"tests_required": True})
    page = screen.open("/c/gated/versions")
    page.get_by_role("button", name="バージョン 2 に切り替える").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="切り替える").click()
    expect(dialog.get_by_role("alert")).to_contain_text("テスト質問が合格している必要があります")
    reason = dialog.get_by_label("それでも切り替える理由")
    expect(reason).to_be_focused()
    reason.fill("法改正への対応を急ぐため")
    dialog.get_by_role("button", name="切り替える").click()
    expect(row(page, 2)).to_contain_text("公開中")
    noted = screen.api("GET", "/audit-events?limit=1")["data"][0]
    assert "法改正への対応を急ぐため" in str(noted)


@pytest.mark.requirement("W-62")
def test_versions_are_removed_after_a_question(screen: Screen) -> None:
    """screens.md S8: remove, and a dry run of clearing out."""
    screen.allowed.append("status of 409")
    two_versions(screen, "removed")
    asked(screen, "removed", "年次有給休暇は何日ですか")
    for n in range(2):
        added_version(screen, "removed", {f"追記{n}.md": f"# 追記{n}\n\n会議{n}は中止とする。"})
    page = screen.open("/c/removed/versions")
    page.get_by_role("button", name="古いバージョンを整理").click()
    dialog = page.get_by_role("dialog", name="古いバージョン 1 件を削除しますか")
    expect(dialog).to_contain_text("バージョン 1 (")
    dialog.get_by_role("button", name="削除").click()
    expect(row(page, 1)).to_have_count(0)
    expect(row(page, 2)).to_have_count(1)
    page.get_by_role("button", name="バージョン 2 を削除").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="削除").click()
    expect(dialog.get_by_role("alert")).to_contain_text("残っている記録が使っている")
    dialog.get_by_label("記録の出典が開けなくなってもよいので").check()
    dialog.get_by_role("button", name="削除").click()
    expect(row(page, 2)).to_have_count(0)
    assert [one["version"] for one in screen.api("GET", "/corpora/removed/versions")["data"]] == [4, 3]


@pytest.mark.requirement("W-63")
def test_two_versions_are_compared_in_plain_words_with_texts_on_demand(screen_of: ScreenOf) -> None:
    """screens.md S8: a summary line, a tree diff, and a text diff per node with unchanged parts folded."""
    screen = screen_of()
    two_versions(screen, "compared")
    page = screen.open("/c/compared/versions")
    page.get_by_role("button", name="比べる").click()
    expect(page.locator("#diff-summary")).to_contain_text("追加された文書 1 件、内容が変わった文書 1 件")
    expect(page.get_by_role("region", name="文書")).to_contain_text("旅費規程.md")
    leaves = page.get_by_role("region", name="葉")
    leaves.locator("summary", has_text="第1条 交通費").click()
    expect(leaves.locator(".diff-text ins").first).to_contain_text("交通費")
    wording = page.get_by_role("region", name="文面が変わったノード")
    wording.locator("summary").first.click()
    expect(wording.locator(".diff-text").first).to_contain_text("旅費規程")
    assert screen.axe() == []
    page.get_by_role("link", name="前後を入れ替える").click()
    expect(page.locator("#diff-summary")).to_contain_text("なくなった文書 1 件")
    page = screen.open("/c/compared/versions/2/diff/2")
    expect(page.locator("#diff-summary")).to_have_text("違いはありません。")


@pytest.mark.requirement("W-62")
def test_who_may_only_read_sees_versions_and_who_may_change_them(
    screen_of: ScreenOf, new_server: Callable[..., tuple[ServerProcess, StorageState]]
) -> None:
    """Issue 7: everyone sees what they may do, and who may do the rest."""
    server, owner = new_server()
    screen = screen_of(server=server, state=owner)
    two_versions(screen, "looked-at")
    link = screen.api("POST", "/invitations", {"name": "viewer", "role": "viewer"})["url"]
    guest = screen_of(server=server, state={"cookies": [], "origins": []})
    guest.page.goto(link)
    guest.page.locator("#password").fill("a long enough sentence 42")
    guest.page.locator("main button").click()
    guest.page.wait_for_url(f"{guest.base}/**")
    page = guest.open("/c/looked-at/versions")
    expect(page.get_by_text("編集できる人（編集者・所有者）が行えます")).to_be_visible()
    expect(row(page, 1)).to_have_count(1)
    expect(page.locator("#page").get_by_role("button", name="切り替える")).to_have_count(0)
    expect(page.get_by_role("button", name="古いバージョンを整理")).to_have_count(0)
    expect(guest.open("/c/looked-at/tree").get_by_role("treeitem").first).to_be_visible()
