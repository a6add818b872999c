"""A source of an answer in its place in the original."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.knowledge import HOLIDAYS, asked, awaited, made_corpus
from tests.browser.screen import Screen

QUESTIONS = (
    "年額プランの解約方法を教えてください",
    "解約",
    "料金の支払い方法と解約と返金と無料トライアルについて",
)


def conversation(screen: Screen, corpus: str) -> str:
    """A conversation of three questions; returns its id."""
    session = str(screen.api("POST", "/sessions", {"corpus": corpus})["session_id"])
    for question in QUESTIONS:
        run = screen.api("POST", f"/sessions/{session}/runs", {"question": question})["run_id"]
        awaited(screen, f"/runs/{run}", ("finished",))
    return session


def shows_passage(page: Page, screen: Screen, corpus: str) -> None:
    """The address's leaf is marked, in sight, and nothing else of the document is marked."""
    page.wait_for_url(re.compile("/leaves/"))
    doc_id = re.search(r"/leaves/(doc_chunk_\d+)", page.url)
    assert doc_id is not None
    leaf = screen.api("GET", f"/corpora/{corpus}/versions/1/leaves/{doc_id.group(1)}")
    here = page.locator(".original .here")
    expect(here).to_have_count(1)
    expect(here).to_be_in_viewport()
    expect(here).to_be_focused()
    assert here.locator("> div").last.text_content() == leaf["chunk"]["text"]
    expect(here.locator(".badge")).to_have_text("該当箇所")


@pytest.mark.requirement("W-55")
def test_each_of_five_citations_opens_its_exact_passage_by_mouse_and_by_enter(
    screen: Screen, compiled: str
) -> None:
    """Field report 14: the passage, not only the document; sources above the third as well."""
    address = f"/talk?corpus={compiled}&session={conversation(screen, compiled)}"
    page = screen.open(address)
    links = page.locator(".sources a")
    assert links.count() >= 5
    for number in range(5):
        links.nth(number).click()
        shows_passage(page, screen, compiled)
        page.go_back()
        links.nth(number).focus()
        page.keyboard.press("Enter")
        shows_passage(page, screen, compiled)
        page.get_by_role("link", name="回答に戻る").click()
        page.wait_for_url(re.compile(r"/talk\?.*#run_"))
        expect(page.locator(".turn").first).to_be_visible()


@pytest.mark.requirement("W-56")
def test_a_passage_has_its_neighbours_its_document_and_the_answers_that_cite_it(
    screen: Screen, compiled: str
) -> None:
    """screens.md S7: previous and next chunk, the file to download, the answers that cite it."""
    run = asked(screen, compiled, QUESTIONS[0])
    cited = run["citations"][0]["doc_id"]
    page = screen.open(f"/c/{compiled}/versions/1/leaves/{cited}")
    leaf = screen.api("GET", f"/corpora/{compiled}/versions/1/leaves/{cited}")
    expect(
        page.get_by_role("region", name="引用した回答").get_by_role("link", name=QUESTIONS[0]).first
    ).to_be_visible()
    with page.expect_download() as loading:
        page.get_by_role("link", name="ダウンロード").click()
    assert loading.value.suggested_filename == leaf["source"]
    page.get_by_role("link", name="次のチャンク").first.click()
    expect(page.locator("#title")).to_have_text(leaf["after"]["title"])
    page.get_by_role("button", name="文書を最初から最後まで表示").click()
    whole = screen.api(
        "GET", f"/corpora/{compiled}/versions/1/sources/text?source={leaf['source']}&limit=200"
    )
    expect(page.locator(".original .part")).to_have_count(whole["chunk_count"])
    expect(page.locator(".original .here")).to_be_in_viewport()


@pytest.mark.requirement("W-57")
def test_a_passage_of_a_pdf_shows_its_page_as_a_picture(screen: Screen, compiled: str) -> None:
    """screens.md S7: for PDF also the page's picture with its boxes."""
    chunks = screen.api("GET", f"/corpora/{compiled}/versions/1/sources/text?source=料金表.pdf")["data"]
    page = screen.open(f"/c/{compiled}/versions/1/leaves/{chunks[-1]['doc_id']}")
    picture = page.get_by_role("img", name=f"料金表.pdf の {chunks[-1]['pages'][0]} ページ")
    expect(picture).to_be_visible()
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("image => image.naturalWidth") > 500


@pytest.mark.requirement("W-58")
def test_a_document_that_is_gone_says_so_and_its_passage_still_opens(screen: Screen) -> None:
    """Field report 10: an old answer opens the text of the version that it used."""
    made_corpus(screen, "leaving", "休暇", {"休暇規程.md": f"# 休暇規程\n\n{HOLIDAYS}"})
    run = asked(screen, "leaving", "年次有給休暇は何日ですか")
    cited = run["citations"][0]["doc_id"]
    document = screen.api("GET", "/corpora/leaving/documents")["data"][0]["document_id"]
    screen.api("DELETE", f"/corpora/leaving/documents/{document}?purge=false")
    page = screen.open(f"/c/leaving/versions/1/leaves/{cited}?run={run['run_id']}")
    expect(page.locator(".original .here")).to_contain_text("年次有給休暇")
    screen.allowed.append("status of 404")
    page = screen.open(f"/c/leaving/versions/1/leaves/doc_chunk_999?run={run['run_id']}")
    expect(page.get_by_role("heading", name="この原文はもう開けません")).to_be_visible()
    expect(page.get_by_role("link", name="回答に戻る")).to_be_visible()


@pytest.mark.requirement("W-64")
@pytest.mark.parametrize("name", ["契約書" * 65 + "第.txt", '<img src=x onerror="alert(1)">&amp;.txt'])
def test_a_name_that_is_long_or_looks_like_markup_is_shown_as_it_is(screen: Screen, name: str) -> None:
    """Issue 7, bad input: a document whose name is 200 characters of Japanese or contains markup."""
    corpus = f"name-{len(name)}"
    made_corpus(screen, corpus, name.removesuffix(".txt")[:200], {name: "本日は晴天なり。会議は中止とする。"})
    page = screen.open(f"/c/{corpus}/versions/1/leaves/doc_chunk_1")
    page.set_viewport_size({"width": 320, "height": 700})
    expect(page.get_by_role("region", name="もとのファイル").get_by_role("link", name=name)).to_be_visible()
    expect(page.locator("#page img[src=x]")).to_have_count(0)
    for path in ("tree", "versions", "versions/1/leaves/doc_chunk_1"):
        page = screen.open(f"/c/{corpus}/{path}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
