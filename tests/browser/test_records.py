"""Records, one record, and what is exported."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ScreenOf
from tests.browser.knowledge import HOLIDAYS, asked, made_corpus
from tests.browser.screen import Screen, fits, heading_levels

ANSWERED = "年額プランの解約方法を教えてください"
MISSING = "火星への出張費は精算できますか"


def exported(page: Page, name: str) -> str:
    with page.expect_download() as begun:
        page.get_by_role("link", name=name, exact=True).click()
    return Path(begun.value.path()).read_text(encoding="utf-8-sig")


@pytest.mark.requirement("W-43")
def test_what_is_filtered_stands_in_the_address_and_is_what_is_exported(
    screen: Screen, compiled: str
) -> None:
    """Field reports, second list, 18 and 19."""
    for question in (ANSWERED, MISSING, MISSING):
        asked(screen, compiled, question)
    page = screen.open("/records")
    page.get_by_label("結果").select_option("not_found")
    page.get_by_label("コーパス").select_option(compiled)
    rows = page.locator("tbody tr")
    expect(rows.filter(has_text="該当なし").first).to_be_visible()
    expect(rows.filter(has_text=ANSWERED)).to_have_count(0)
    assert "outcome=not_found" in page.url
    page.reload()
    expect(page.get_by_label("結果")).to_have_value("not_found")
    expect(rows.first).to_be_visible()
    listed = [
        str(href).rpartition("/")[2]
        for href in rows.locator("th a").evaluate_all("all => all.map(a => a.href)")
    ]
    table = list(csv.DictReader(io.StringIO(exported(page, "CSV"))))
    lines = [json.loads(line) for line in exported(page, "JSONL").splitlines()]
    assert len(table) == len(lines) == len(listed) >= 2
    assert {line["outcome"] for line in table} == {"not_found"}


@pytest.mark.requirement("W-43")
def test_days_are_the_workspaces_and_paging_goes_on_where_it_was(screen: Screen, compiled: str) -> None:
    """screens.md: lists page; a day of Tokyo begins at 15:00 UTC of the day before."""
    asked(screen, compiled, ANSWERED)
    page = screen.page
    with page.expect_request(lambda request: "/v1/records?" in request.url) as sent:
        screen.open("/records?since=2026-11-30&until=2026-11-30")
    assert "since=2026-11-29T15%3A00%3A00.000Z&until=2026-11-30T15%3A00%3A00.000Z" in sent.value.url
    page.context.route(
        "**/v1/records?*", lambda route: route.continue_(url=route.request.url.replace("limit=50", "limit=1"))
    )
    screen.open("/records")
    expect(page.locator("tbody tr")).to_have_count(1)
    asked(screen, compiled, MISSING)
    screen.open("/records")
    page.get_by_role("button", name="さらに表示").click()
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.locator("tbody tr").nth(1).locator("a")).to_be_focused()


@pytest.mark.requirement("W-44")
def test_a_record_shows_the_conversation_first_and_the_rest_at_a_click(screen: Screen, compiled: str) -> None:
    """Field reports, second list, 16."""
    run = asked(screen, compiled, ANSWERED)
    page = screen.open(f"/records/{run['run_id']}")
    expect(page.locator(".question")).to_have_text(ANSWERED)
    expect(page.locator(".answer")).to_contain_text("解約")
    page.get_by_role("link", name="足跡").click()
    expect(page.locator(".trail")).to_contain_text("探索の起点")
    expect(page.locator(".trail")).to_contain_text("選んだ先")
    page.locator(".trail summary").first.click()
    expect(page.locator(".trail details li").first).to_be_visible()
    page.get_by_role("link", name="生の交信").click()
    expect(page.locator(".exchange > .model").first).to_contain_text("SKILL.md")
    page.get_by_role("link", name="記録情報").click()
    expect(page.locator(".badge", has_text="改ざんなし")).to_be_visible()
    expect(page.locator(".facts")).to_contain_text(str(run["run_id"]))
    assert heading_levels(page)[0] == 1


@pytest.mark.requirement("W-44")
def test_a_reason_that_was_not_written_is_not_made_up(screen: Screen, compiled: str) -> None:
    """design.md, section 4: 「理由の記載なし」."""
    run = asked(screen, compiled, ANSWERED)
    record = screen.api("GET", f"/records/{run['run_id']}")
    for visit in record["trail"][1:]:
        visit["reason"] = None
    screen.page.context.route(f"**/v1/records/{run['run_id']}", lambda route: route.fulfill(json=record))
    page = screen.open(f"/records/{run['run_id']}?tab=trail")
    expect(page.locator(".trail .reason").first).to_have_text("理由の記載なし")


@pytest.mark.requirement("W-44")
def test_a_printed_record_has_its_whole_way(screen: Screen, compiled: str) -> None:
    """Issue 7: a printable page; what is folded on the screen is evidence on paper."""
    run = asked(screen, compiled, ANSWERED)
    page = screen.open(f"/records/{run['run_id']}")
    expect(page.locator(".trail").first).to_be_hidden()
    assert page.pdf()[:5] == b"%PDF-"
    expect(page.locator(".trail").first).to_be_visible()
    expect(page.locator(".facts")).to_contain_text(str(run["run_id"]))
    page.emulate_media(media="print")
    expect(page.locator(".rail")).to_be_hidden()
    expect(page.locator(".answer").first).to_be_visible()


@pytest.mark.requirement("W-45")
def test_bodies_of_a_big_record_are_put_on_the_page_when_they_open(screen: Screen, compiled: str) -> None:
    """Field reports, second list, 15: eight steps with a megabyte of text."""
    run = asked(screen, compiled, ANSWERED)
    parts = [{"role": "tool", "text": "本文" * 65_536, "path": f"topic/doc_chunk_{n}.md"} for n in range(8)]
    body = {"run_id": run["run_id"], "is_verbatim": False, "parts": parts}
    screen.page.context.route("**/exchange", lambda route: route.fulfill(json=body))
    page = screen.open(f"/records/{run['run_id']}?tab=exchange")
    expect(page.locator(".exchange > li")).to_have_count(8)
    assert page.evaluate("document.getElementById('page').textContent.length") < 2_000
    page.locator(".exchange summary").nth(3).click()
    expect(page.locator(".exchange pre").nth(3)).to_contain_text("本文本文")
    assert page.evaluate("document.getElementById('page').textContent.length") > 131_072


@pytest.mark.requirement("W-49")
def test_markup_and_long_names_stay_text(screen: Screen) -> None:
    """Issue 7, bad input: a name of 200 characters, and one that contains markup."""
    name = f"<img src=x onerror=alert(1)>{'とても長い規程の名前' * 12}.md"
    made_corpus(
        screen,
        "markup",
        "<b>規程</b>",
        {name.replace("/", "_"): f"# <script>alert(1)</script>休暇\n\n{HOLIDAYS}"},
    )
    run = asked(screen, "markup", "<i>年次有給休暇</i>は何日ですか")
    for path in (
        "/records",
        f"/records/{run['run_id']}",
        f"/records/{run['run_id']}?tab=trail",
        f"/talk?session={run['session_id']}",
        "/queue",
    ):
        page = screen.open(path)
        assert page.locator("#page b, #page i, #page img, #page script").count() == 0
        assert fits(page)


@pytest.mark.requirement("W-49")
@pytest.mark.parametrize(("language", "theme"), [("ja", "light"), ("en", "dark")])
def test_the_pages_of_records_are_accessible_and_fit(
    screen_of: ScreenOf, compiled: str, theme: str, language: str
) -> None:
    """WCAG 2.2 AA, 320 pixels."""
    screen = screen_of(theme=theme, language=language, width=320)
    run = asked(screen, compiled, MISSING)
    paths = ("/records", "/queue", f"/tests?corpus={compiled}", f"/tests?corpus={compiled}&tab=runs")
    tabs = (f"/records/{run['run_id']}?tab={tab}" for tab in ("talk", "trail", "exchange", "facts"))
    for path in (*paths, *tabs):
        page = screen.open(path)
        expect(page.locator("#page .wait, #page [aria-busy]")).to_have_count(0)
        assert fits(page), path
        assert screen.axe() == [], path
