"""The trial conversation while it runs, with a model that waits for the test."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import ScreenOf
from tests.browser.held_model import QUESTION, Gate, HeldModel, held_model
from tests.browser.screen import Screen

_WITHOUT_WORKER = "delete window.SharedWorker"
_LISTEN = """() => {
  window.heard = [];
  const region = document.querySelector('#page [role=status].unseen');
  new MutationObserver(() => window.heard.push(region.textContent)).observe(region, {childList: true});
}"""


@pytest.fixture(scope="module")
def standing(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HeldModel]:
    with held_model(browser, tmp_path_factory.mktemp("held")) as held:
        yield held


@pytest.fixture
def held(standing: HeldModel) -> HeldModel:
    standing.gate.close()
    return standing


@pytest.fixture
def talking(held: HeldModel, screen_of: ScreenOf) -> Screen:
    return screen_of(server=held.server, state=held.state)


def ask(screen: Screen, question: str = QUESTION) -> Page:
    page = screen.open("/talk?corpus=rules")
    page.locator("#question").fill(question)
    page.keyboard.press("Enter")
    expect(page.locator(".turn[aria-busy]")).to_be_visible()
    return page


def finish(gate: Gate, page: Page) -> None:
    gate.let(20)
    expect(page.locator(".turn .sources")).to_be_visible(timeout=40_000)
    gate.close()


@pytest.mark.requirement("W-30")
def test_the_trail_lights_up_step_by_step_and_folds_under_the_answer(
    held: HeldModel, talking: Screen
) -> None:
    """S9: each stop with reason and time, the tree beside it, fetches of eight; the answer first when it is done."""
    page = ask(talking)
    stops = page.locator(".turn .trail > li:not(.thinking)")
    expect(stops).to_have_count(1)
    expect(page.locator(".turn .trail > .thinking")).to_be_visible()
    held.gate.let(1)
    expect(stops).to_have_count(2)
    expect(page.locator(".turn .row .num")).to_have_text("1/8")
    expect(page.locator("aside .walked")).to_have_count(2)
    finish(held.gate, page)
    expect(page.locator("#question")).to_be_focused()
    expect(page.locator(".turn .draft")).to_have_count(0)
    expect(page.locator(".turn details .trail")).to_be_hidden()
    page.locator(".turn summary").click()
    expect(page.locator(".turn details .trail > .end")).to_contain_text("回答")


@pytest.mark.requirement("W-31")
def test_a_reload_in_the_middle_loses_nothing_and_doubles_nothing(held: HeldModel, talking: Screen) -> None:
    """Field reports, second list, 17."""
    page = ask(talking)
    held.gate.let(1)
    stops = page.locator(".turn .trail > li:not(.thinking)")
    expect(stops).to_have_count(2)
    page.reload()
    expect(page.locator(".turn .question")).to_have_text(QUESTION)
    expect(stops).to_have_count(2)
    finish(held.gate, page)
    run = str(page.locator(".turn").get_attribute("id"))
    record = talking.api("GET", f"/records/{run}")
    page.locator(".turn summary").click()
    assert page.locator(".turn .trail > li:not(.end) .mono").all_inner_texts() == [
        stop["path"] for stop in record["trail"]
    ]
    page.reload()
    expect(page.locator(".turn .sources")).to_be_visible()
    expect(page.locator(".thinking, [aria-busy]")).to_have_count(0)


@pytest.mark.requirement("W-32")
@pytest.mark.parametrize("has_worker", [True, False], ids=["shared worker", "leader tab"])
def test_a_run_is_watched_from_two_tabs_to_the_same_end(
    held: HeldModel, talking: Screen, has_worker: bool
) -> None:
    """Issue 7: whoever watches sees the same, whenever they came."""
    if not has_worker:
        talking.page.context.add_init_script(_WITHOUT_WORKER)
    first = ask(talking)
    held.gate.let(1)
    expect(first.locator(".turn .trail > li:not(.thinking)")).to_have_count(2)
    second = talking.page.context.new_page()
    other = Screen(second, talking.base)
    second.goto(first.url)
    expect(second.locator(".turn .trail > li:not(.thinking)")).to_have_count(2)
    finish(held.gate, first)
    expect(second.locator(".turn .sources")).to_be_visible()
    assert first.locator(".turn .answer").inner_text() == second.locator(".turn .answer").inner_text()
    assert other.unexpected() == []


@pytest.mark.requirement("W-33")
@pytest.mark.parametrize("has_worker", [True, False], ids=["shared worker", "leader tab"])
def test_seven_tabs_with_running_conversations_are_all_live(
    held: HeldModel, talking: Screen, has_worker: bool
) -> None:
    """screens.md: six streams of one browser block the seventh tab over HTTP/1.1, so all tabs share one."""
    context = talking.page.context
    if not has_worker:
        context.add_init_script(_WITHOUT_WORKER)
    tabs = [talking, *(Screen(context.new_page(), talking.base) for _ in range(6))]
    pages = [ask(tab, f"{QUESTION}（{n}）") for n, tab in enumerate(tabs)]
    for page in pages:
        expect(page.locator(".turn .trail > li:not(.thinking)")).to_have_count(1)
    if not has_worker:  # the tab that leads goes away; another takes its place
        pages.pop(0).close()
    held.gate.let(200)
    for page in pages:
        expect(page.locator(".turn .sources")).to_be_visible()
    assert [fault for tab in tabs for fault in tab.unexpected()] == []


@pytest.mark.requirement("W-34")
def test_each_visit_and_the_answer_are_announced_once(held: HeldModel, talking: Screen) -> None:
    """Field reports, second list, 23: never letter by letter."""
    page = ask(talking)
    expect(page.locator(".turn .trail > li:not(.thinking)")).to_have_count(1)
    page.evaluate(_LISTEN)
    finish(held.gate, page)
    heard: list[str] = page.evaluate("window.heard")
    run = str(page.locator(".turn").get_attribute("id"))
    record = talking.api("GET", f"/records/{run}")
    assert len(heard) == len(record["trail"]) - 1 + 1
    assert heard[-1] == f"回答: {record['answer']}"
    assert page.locator("[aria-live] .draft, [role=status] .draft").count() == 0


@pytest.mark.requirement("W-34")
def test_what_was_announced_before_a_reload_is_not_announced_again(held: HeldModel, talking: Screen) -> None:
    """Field reports, second list, 23."""
    page = ask(talking)
    held.gate.let(1)
    expect(page.locator(".turn .trail > li:not(.thinking)")).to_have_count(2)
    page.reload()
    expect(page.locator(".turn .trail > li:not(.thinking)")).to_have_count(2)
    expect(page.locator("#page [role=status].unseen")).to_have_text("")
    finish(held.gate, page)


@pytest.mark.requirement("W-38")
def test_stopping_ends_the_run_and_keeps_what_came(held: HeldModel, talking: Screen) -> None:
    """S9; the hand-off is offered, as wherever an answer is missing."""
    page = ask(talking)
    page.get_by_role("button", name="停止").click()
    turn = page.locator(".turn")
    expect(turn.locator(".badge").first).to_have_text("取り消し")
    expect(turn.get_by_role("link", name="担当者に聞く")).to_have_attribute(
        "href", "mailto:jinji@example.co.jp"
    )
    expect(page.get_by_role("button", name="質問する")).to_be_enabled()
    assert talking.api("GET", f"/runs/{turn.get_attribute('id')}")["outcome"] == "cancelled"


@pytest.mark.requirement("W-41")
@pytest.mark.parametrize("has_worker", [True, False], ids=["shared worker", "leader tab"])
def test_a_server_that_is_restarted_under_an_open_page_ends_its_run_in_words(
    held: HeldModel, screen_of: ScreenOf, has_worker: bool
) -> None:
    """Field reports, second list, 17: an ended run never shows a spinner; what came stays."""
    screen = screen_of(server=held.server, state=held.state)
    screen.allowed += [
        "ERR_CONNECTION_REFUSED",
        "ERR_EMPTY_RESPONSE",
        "ERR_INCOMPLETE_CHUNKED",
        "ERR_CONNECTION_RESET",
    ]
    if not has_worker:
        screen.page.context.add_init_script(_WITHOUT_WORKER)
    page = ask(screen)
    held.gate.let(1)
    expect(page.locator(".turn .trail > li:not(.thinking)")).to_have_count(2)
    held.restart()
    expect(page.locator(".turn .badge").first).to_have_text("停止", timeout=40_000)
    expect(page.locator(".turn[aria-busy], .thinking")).to_have_count(0)
    expect(page.locator(".turn .question")).to_have_text(QUESTION)
    page.locator(".turn summary").click()
    expect(page.locator(".turn details .trail > li:not(.end)")).to_have_count(2)
    page.locator("#question").fill(QUESTION)
    page.keyboard.press("Enter")
    finish(held.gate, page)


@pytest.mark.requirement("W-41")
def test_an_error_stands_below_what_was_said_and_the_question_stays(held: HeldModel, talking: Screen) -> None:
    """Field reports, second list, 17."""
    talking.allowed += ["ERR_FAILED", "net::"]
    page = ask(talking)
    finish(held.gate, page)
    page.context.route("**/v1/sessions/*/runs", lambda route: route.abort())
    page.locator("#question").fill("介護休暇は")
    page.keyboard.press("Enter")
    expect(page.locator(".turns > .notice")).to_contain_text("サーバーに接続できません")
    expect(page.locator(".turns > .turn .answer")).to_be_visible()
    expect(page.locator("#question")).to_have_value("介護休暇は")
    page.context.unroute("**/v1/sessions/*/runs")
    page.locator("#question").press("Enter")
    expect(page.locator(".turns > .notice")).to_have_count(0)
    held.gate.let(20)
    expect(page.locator(".turns > .turn:not([aria-busy])")).to_have_count(2)


@pytest.mark.requirement("W-36")
def test_the_sources_shown_are_those_of_the_record_and_were_read(held: HeldModel, talking: Screen) -> None:
    """Field reports, second list, 13."""
    page = ask(talking)
    finish(held.gate, page)
    run = str(page.locator(".turn").get_attribute("id"))
    live = page.locator(".turn .sources a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
    record = talking.api("GET", f"/records/{run}")
    read = {stop["doc_id"] for stop in record["trail"]}
    assert [re.findall(r"doc_chunk_\d+", address)[0] for address in live] == [
        one["doc_id"] for one in record["citations"]
    ]
    assert {one["doc_id"] for one in record["citations"]} <= read
    page.reload()
    expect(page.locator(".turn .sources")).to_be_visible()
    assert (
        page.locator(".turn .sources a").evaluate_all("all => all.map(a => a.getAttribute('href'))") == live
    )
