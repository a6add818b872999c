"""Estimates and jobs on the screen, paid to a provider on loopback."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, StorageState, expect

from tests.browser.conftest import ScreenOf
from tests.browser.screen import Screen, said
from tests.e2e.paid import purpose_of, rules
from tests.e2e.serving import ServerProcess
from tests.fakes.providers import KEY, ProviderServer, Script
from tests.fakes.providers.behaviour import slow

NewServer = Callable[..., tuple[ServerProcess, StorageState]]
_PRICES = "anthropic:claude-haiku-5-5=100/500, anthropic:claude-sonnet-5-5=100/500"
"""Dear, so that a cap of a cent is soon reached."""
_PATIENCE = 90_000
"""Milliseconds, on a machine that has much to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """A server of its own that pays a provider, with documents in the corpus `kb`."""

    screen: Screen
    provider: ProviderServer

    def store_key(self) -> None:
        body = {"provider": "anthropic", "secret": KEY, "base_url": self.provider.base_url}
        self.screen.api("POST", "/provider-credentials", body)

    def wait_for_verdicts(self) -> None:
        while self.screen.api("GET", "/corpora/kb/documents?limit=1&counts=true")["counts"].get("received"):
            self.screen.page.wait_for_timeout(100)

    def started(self) -> Page:
        """Start the compile from the estimate; return the job's page."""
        page = self.screen.open("/c/kb/compile")
        page.get_by_role("button", name="コンパイルを開始").click()
        page.wait_for_url("**/jobs/**")
        page.locator(".lanes li").first.wait_for()
        return page

    def job(self) -> dict[str, object]:
        return self.screen.api("GET", "/corpora/kb/jobs")["data"][0]

    @property
    def calls(self) -> int:
        return len(self.provider.calls.model_calls)


@pytest.fixture
def shop(new_server: NewServer, screen_of: ScreenOf, threaded_anthropic: ProviderServer) -> Shop:
    server, state = new_server(environment={"NO_PROXY": "127.0.0.1", "ANTHROPIC_API_KEY": ""})
    made = Shop(screen=screen_of(server=server, state=state), provider=threaded_anthropic)
    made.screen.api("PATCH", "/settings", {"model": "anthropic", "prices": _PRICES})
    made.screen.api("POST", "/corpora", {"corpus": "kb", "title": "社内規程"})
    for name, text in rules(8).items():
        made.screen.hand_in("kb", name.rpartition("/")[2], text)
    made.wait_for_verdicts()
    # The server reads the provider's library with its first estimate: no screen is to blame for that.
    made.screen.api("POST", "/corpora/kb/jobs?dry_run=true", {}, timeout=_PATIENCE)
    return made


@pytest.mark.requirement("W-09")
def test_a_compile_is_started_from_a_shown_estimate_and_pauses_at_its_cap(shop: Shop) -> None:
    """Second list 9: calls, tokens and a range of money first; the cap pauses; spent stands beside estimated."""
    shop.store_key()
    page = shop.screen.open("/c/kb/compile")
    estimate = page.locator(".estimate")
    expect(estimate).to_contain_text(re.compile(r"\$[\d.]+ – \$[\d.]+"))
    for word in ("チャンク", "再利用", "呼び出し", "入力", "出力", "所要時間", "anthropic:"):
        expect(estimate).to_contain_text(word)
    assert shop.calls == 0
    cap = page.get_by_label("上限（米ドル）")
    assert float(cap.input_value()) > 0.02
    cap.fill("0.02")
    page.get_by_role("button", name="コンパイルを開始").click()
    page.wait_for_url("**/jobs/**")
    expect(page.locator("#page")).to_contain_text("上限で一時停止", timeout=_PATIENCE)
    assert shop.screen.api("GET", "/corpora/kb")["active_version"] is None
    page.get_by_label("新しい上限").fill("90")
    page.get_by_role("button", name="上限を上げて続ける").click()
    expect(page.locator(".notice")).to_contain_text("v1 を公開しました", timeout=_PATIENCE)
    expect(page.locator("#page")).to_contain_text(re.compile(r"\$[\d.]+ / \$[\d.]+ – \$[\d.]+"))


@pytest.mark.requirement("W-11")
def test_an_estimate_expires_when_documents_change(shop: Shop) -> None:
    """S4: nobody starts what was not shown."""
    shop.store_key()
    page = shop.screen.open("/c/kb/compile")
    start = page.get_by_role("button", name="コンパイルを開始")
    expect(start).to_be_visible()
    shop.screen.hand_in("kb", "新しい.txt", "あとから来た文書。")
    expect(page.locator("#page")).to_contain_text("この見積りは使えなくなりました")
    expect(start).to_have_count(0)
    shop.wait_for_verdicts()
    page.get_by_role("button", name="見積もり直す").click()
    expect(start).to_be_visible()


@pytest.mark.requirement("W-08")
@pytest.mark.requirement("W-07")
def test_a_job_without_a_key_says_so_and_goes_on_when_it_comes(shop: Shop) -> None:
    """Second list 8 and 7: no spinner but a reason; the lanes' numbers are the API's."""
    page = shop.started()
    expect(page.locator("#page")).to_contain_text("キーの登録待ち", timeout=_PATIENCE)
    expect(page.locator(".notice").get_by_role("link", name="キーを登録")).to_have_attribute(
        "href", re.compile(r"/settings/keys$")
    )
    shop.store_key()
    expect(page.locator(".notice")).to_contain_text("v1 を公開しました", timeout=_PATIENCE)
    stages = shop.job()["stages"]
    assert isinstance(stages, list)
    for stage in stages:
        lane = page.locator(f'.lanes [data-stage="{stage["stage"]}"]')
        expect(lane).to_have_attribute("data-state", "done")
        expect(lane).to_contain_text(f"{stage['done']}/{stage['total']}")


@pytest.mark.requirement("W-04")
@pytest.mark.requirement("W-06")
def test_a_stopped_job_makes_no_call_and_goes_on_without_paying_again(shop: Shop) -> None:
    """Second list 4 and 6: nothing after the calls on their way; going on is the documented POST."""
    shop.store_key()
    shop.screen.api("PATCH", "/settings", {"concurrency": 1})
    shop.provider.script = Script().always(slow(0.7))
    page = shop.started()
    expect(page.locator('[data-stage="summarize"]')).to_have_attribute("data-state", "now", timeout=_PATIENCE)
    page.get_by_role("button", name="ジョブを止める").click()
    page.get_by_role("dialog").get_by_role("button", name="ジョブを止める").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("#page")).to_contain_text("途中で止めました", timeout=_PATIENCE)
    made = shop.calls
    answered = {call.digest for call in shop.provider.calls.answered}
    page.wait_for_timeout(1_000)
    assert shop.calls == made
    assert shop.screen.api("GET", "/corpora/kb")["active_version"] is None
    shop.provider.script = Script()
    with page.expect_request(lambda request: request.url.endswith("/retry")) as asked:
        page.get_by_role("button", name="続きから実行").click()
    assert asked.value.method == "POST"
    expect(page.locator(".notice")).to_contain_text("v1 を公開しました", timeout=_PATIENCE)
    later = [call for call in shop.provider.calls.model_calls[made:] if purpose_of(call) == "summarize"]
    assert not answered & {call.digest for call in later}


@pytest.mark.requirement("W-18")
def test_a_job_is_announced_by_stage_not_by_step(shop: Shop) -> None:
    """Second list 23: one polite line; what it says changes with the state or the stage."""
    shop.store_key()
    shop.provider.script = Script().always(slow(0.1))
    page = shop.started()
    page.evaluate(
        """() => { window.heard = []; const line = document.querySelector('#page > [role=status]');
        new MutationObserver(() => window.heard.push(line.textContent)).observe(line, {childList: true, subtree: true}); }"""
    )
    expect(page.locator(".notice")).to_contain_text("v1 を公開しました", timeout=_PATIENCE)
    heard = page.evaluate("window.heard")
    assert len(heard) == len(set(heard))
    assert heard[-1] == "完了"
    assert len(page.locator("#page > [role=status]").all()) == 1


@pytest.mark.requirement("W-05")
def test_failed_sources_stand_on_the_jobs_page_and_lead_to_the_document(screen: Screen) -> None:
    """Second list 5: one poisoned document hinders no other."""
    screen.api("POST", "/corpora", {"corpus": "poisoned", "title": "毒入り"})
    for number in range(1, 6):
        text = f"第{number}条。内容は {number} です。" if number != 2 else b"%PDF-1.7 broken"
        screen.hand_in("poisoned", f"{number}.{'pdf' if number == 2 else 'txt'}", text)
    job = screen.api("POST", "/corpora/poisoned/jobs", {})["job_id"]
    assert screen.ended(job) == "succeeded"
    page = screen.open(f"/jobs/{job}")
    row = page.locator("tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("2.pdf")
    expect(row).to_contain_text("破損")
    row.get_by_role("link").click()
    expect(page.locator("tbody tr")).to_contain_text("検査NG")
    page.locator("tbody a").click()
    page.get_by_role("button", name="もう一度確認").click()
    expect(page.locator(".notice.bad")).to_be_visible()
    assert screen.judged("poisoned") == {"accepted": 4, "refused": 1}


def test_a_list_of_jobs_follows_what_happens(screen: Screen, compiled: str) -> None:
    """S5: state, progress, money and the version on one line."""
    page = screen.open(f"/c/{compiled}/jobs")
    row = page.locator("tbody tr").last
    for word in ("完了", "無料", "v1"):
        expect(row).to_contain_text(word)
    screen.api("POST", f"/corpora/{compiled}/jobs", {"regroup": False})
    expect(page.locator("tbody tr")).to_have_count(1)  # nothing runs: it is not looked at again
    page.reload()
    expect(page.locator("tbody tr").first).to_contain_text("完了", timeout=20_000)
    assert "無料" in said(page.locator("tbody tr").first)
