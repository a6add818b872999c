"""The trial conversation with the offline engine."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ScreenOf
from tests.browser.knowledge import asked
from tests.browser.screen import Screen, fits

ANSWERED = "年額プランの解約方法を教えてください"
MISSING = "火星への出張費は精算できますか"


def ask(screen: Screen, corpus: str, question: str) -> Page:
    page = screen.open(f"/talk?corpus={corpus}")
    page.locator("#question").fill(question)
    page.get_by_role("button", name="質問する").click()
    expect(page.locator(".turn summary")).to_be_visible()
    return page


@pytest.mark.requirement("W-35")
def test_the_enter_of_an_input_method_never_sends(screen: Screen, compiled: str) -> None:
    """Field reports, second list, 22: neither while composing nor with the key code that some browsers give."""
    page = screen.open(f"/talk?corpus={compiled}")
    field = page.locator("#question")
    field.fill("かいやく")
    for fault in ("isComposing: true", "keyCode: 229"):
        field.evaluate(
            f"e => e.dispatchEvent(new KeyboardEvent('keydown', {{key: 'Enter', bubbles: true, {fault}}}))"
        )
    field.press("Shift+Enter")
    expect(field).to_have_value("かいやく\n")
    expect(page.locator(".turn")).to_have_count(0)
    field.press("Enter")
    expect(page.locator(".turn")).to_have_count(1)


@pytest.mark.requirement("W-37")
def test_one_comes_back_to_a_past_conversation_and_deletes_it(screen: Screen, compiled: str) -> None:
    """Issue 7: the conversations are one's own."""
    question = "電話で解約できますか"
    page = ask(screen, compiled, question)
    page.get_by_role("link", name="新しい会話").click()
    expect(page.locator(".empty")).to_be_visible()
    page.locator(".past a", has_text=question).click()
    expect(page.locator(".turn .question")).to_have_text(question)
    page.get_by_role("button", name=f"会話「{question}」を消す").click()
    page.locator("dialog").get_by_role("button", name="消す").click()
    expect(page.locator(".empty")).to_be_visible()
    expect(page.locator(".past a", has_text=question)).to_have_count(0)


@pytest.mark.requirement("W-39")
def test_an_answer_is_judged_with_reasons_and_found_by_that(screen: Screen, compiled: str) -> None:
    """Field reports, second list, 19: by thumbs and by comment, and the address keeps it."""
    page = ask(screen, compiled, ANSWERED)
    run = str(page.locator(".turn").get_attribute("id"))
    page.get_by_role("button", name="役に立たなかった").click()
    page.get_by_label("間違っている").check()
    page.get_by_label("ひとこと（任意）").fill("期限が違います")
    page.get_by_role("button", name="送る").click()
    expect(page.locator(".toast")).to_have_text("ご意見をありがとうございます。")
    said = screen.api("GET", f"/records/{run}")["feedback"]
    assert (said["rating"], said["reasons"], said["comment"]) == ("not_helpful", ["wrong"], "期限が違います")
    page.reload()
    expect(page.get_by_role("button", name="役に立たなかった")).to_have_attribute("aria-pressed", "true")
    screen.open("/records?rating=not_helpful&has_comment=true")
    expect(page.locator(f"a[href$='{run}']")).to_be_visible()


@pytest.mark.requirement("W-40")
def test_where_an_answer_is_missing_a_person_is_offered(screen: Screen, compiled: str) -> None:
    """Issue 7: an address that the owner sets; none is made up where there is none."""
    page = ask(screen, compiled, MISSING)
    expect(page.locator(".turn .badge").first).to_have_text("該当なし")
    expect(page.get_by_role("link", name="担当者に聞く")).to_have_count(0)
    screen.api("PATCH", f"/corpora/{compiled}", {"hand_off": "https://help.example.co.jp/"})
    page.reload()
    expect(page.get_by_role("link", name="担当者に聞く")).to_have_attribute(
        "href", "https://help.example.co.jp/"
    )
    screen.api("PATCH", f"/corpora/{compiled}", {"hand_off": None})


@pytest.mark.requirement("W-36")
def test_the_answers_marks_lead_where_its_sources_lead(screen: Screen, compiled: str) -> None:
    """Field reports, second list, 14: a number in the answer is the number of a source."""
    page = ask(screen, compiled, ANSWERED)
    marks = page.locator(".turn .answer a")
    first = page.locator(".turn .sources a").first
    assert marks.first.get_attribute("href") == first.get_attribute("href")
    assert f"/c/{compiled}/versions/1/leaves/doc_chunk_" in str(first.get_attribute("href"))


@pytest.mark.requirement("W-42")
def test_a_question_survives_a_sign_in_that_ran_out(screen: Screen, compiled: str) -> None:
    """Issue 7: a session that ran out; what was typed is there again."""
    screen.allowed.append("status of 401")
    page = screen.open(f"/talk?corpus={compiled}")
    page.locator("#question").fill(ANSWERED)
    cookies = page.context.cookies()
    page.context.clear_cookies()
    page.locator("#question").press("Enter")
    page.wait_for_url("**/sign-in?next=*")
    # As who signs in again has it; what a context gave it takes.
    page.context.add_cookies(cookies)  # pyright: ignore[reportArgumentType]
    page.goto(f"{screen.base}/talk?corpus={compiled}")
    expect(page.locator("#question")).to_have_value(ANSWERED)


@pytest.mark.requirement("W-49")
@pytest.mark.parametrize(("language", "theme"), [("ja", "light"), ("en", "dark")])
def test_a_conversation_is_accessible_and_fits(
    screen_of: ScreenOf, compiled: str, theme: str, language: str
) -> None:
    """WCAG 2.2 AA and 320 pixels."""
    screen = screen_of(theme=theme, language=language, width=320)
    run = asked(screen, compiled, ANSWERED)
    page = screen.open(f"/talk?session={run['session_id']}")
    page.locator(".turn summary").click()
    page.locator(".turn [aria-pressed]").last.click()
    expect(page.locator(".turn form")).to_be_visible()
    assert fits(page)
    assert screen.axe() == []
