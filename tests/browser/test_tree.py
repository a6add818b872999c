"""The tree of a version, and the node that is looked at."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import ScreenOf
from tests.browser.knowledge import HOLIDAYS, asked, made_corpus
from tests.browser.screen import Screen, fits, said

TREE = "[role=tree]"


def focused(page: Page) -> Locator:
    return page.locator(f"{TREE} [role=treeitem]:focus")


def title_of(item: Locator) -> str:
    return said(item.locator(".name"))


@pytest.mark.requirement("W-50")
def test_the_tree_shows_titles_and_is_walked_by_the_keyboard_alone(screen: Screen, compiled: str) -> None:
    """Field report 12: titles instead of ids, arrow keys, and the address names the node."""
    page = screen.open(f"/c/{compiled}/tree")
    titles = page.locator(f"{TREE} .name").all_inner_texts()
    assert titles == ["利用規約とFAQ", "お知らせ", "よくある質問", "利用規約", "操作マニュアル", "料金表"]
    page.get_by_role("treeitem", name="利用規約とFAQ").first.focus()
    page.keyboard.press("End")
    assert title_of(focused(page)) == "料金表"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert title_of(focused(page)) == "利用規約"
    page.keyboard.press("ArrowRight")
    expect(focused(page)).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowRight")
    assert title_of(focused(page)) == "第1章 総則"
    page.keyboard.press("Enter")
    expect(page.locator("#node-title")).to_have_text("第1章 総則")
    expect(page).to_have_url(re.compile(r"version=1&node=topic-3%2F.*SKILL\.md"))
    page.keyboard.press("ArrowLeft")
    expect(focused(page)).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("ArrowLeft")
    assert title_of(focused(page)) == "利用規約"
    page.keyboard.press("ArrowLeft")
    expect(focused(page)).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Home")
    assert title_of(focused(page)) == "利用規約とFAQ"
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(focused(page)).to_have_attribute("aria-expanded", "true")
    page.keyboard.type("2.")
    assert title_of(focused(page)).startswith("2.1")


@pytest.mark.requirement("W-50")
def test_an_address_opens_the_way_to_its_node_and_back_goes_back(screen: Screen, compiled: str) -> None:
    """Field report 12: the URL names the node."""
    page = screen.open(f"/c/{compiled}/tree?version=1&node=topic-3/SKILL.md")
    chosen = page.locator(f"{TREE} [aria-selected=true]")
    expect(chosen.locator(".name")).to_have_text("利用規約")
    page.get_by_role("link", name="第3章 解約").click()
    expect(page.locator("#node-title")).to_have_text("第3章 解約")
    expect(page.locator("#node-title")).to_be_focused()
    expect(chosen.locator(".name")).to_have_text("第3章 解約")
    address = page.url
    page.go_back()
    expect(page.locator("#node-title")).to_have_text("利用規約")
    page.goto(address)
    expect(chosen.locator(".name")).to_have_text("第3章 解約")
    screen.allowed.append("status of 404")
    page = screen.open(f"/c/{compiled}/tree?version=1&node=nowhere/SKILL.md")
    expect(page.get_by_role("alert")).to_contain_text("nowhere")
    page.get_by_role("link", name="ツリーのいちばん上へ").click()
    expect(page.locator("#node-title")).to_have_text("利用規約とFAQ")


@pytest.mark.requirement("W-51")
def test_a_node_is_found_by_a_word_of_its_text(screen: Screen, compiled: str) -> None:
    """Field report 12: the tree page finds a node by text; what was searched stands in the address."""
    page = screen.open(f"/c/{compiled}/tree")
    expect(page.locator(TREE)).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("仮想的な宇宙船")
    expect(page.get_by_text("「仮想的な宇宙船」は見つかりません")).to_be_visible()
    page.get_by_role("searchbox").fill("与信の確認")
    title = page.get_by_text("申し込んでから、どのくらいで使い始められますか？", exact=True)
    found = page.locator(".tree-pane .sources a").filter(has=title)
    expect(found.first.locator("mark").first).to_have_text("与信の確認")
    expect(page.locator(TREE)).to_be_hidden()
    page.reload()
    found.first.click()
    expect(page.locator("#node-title")).to_have_text("申し込んでから、どのくらいで使い始められますか？")
    page.get_by_role("searchbox").fill("")
    expect(page.locator(f"{TREE} [aria-selected=true] .name")).to_have_text(
        "申し込んでから、どのくらいで使い始められますか？"
    )


@pytest.mark.requirement("W-52")
def test_a_node_says_what_the_model_reads_and_where_it_comes_from(screen: Screen, compiled: str) -> None:
    """screens.md S6: title, summary, path, children with hints, documents, the raw file."""
    page = screen.open(f"/c/{compiled}/tree?node=topic-3/SKILL.md")
    card = page.locator("article.card")
    node = screen.api("GET", f"/corpora/{compiled}/versions/1/nodes?path=topic-3/SKILL.md")
    expect(card).to_contain_text("topic-3/SKILL.md")
    for child in node["branches"]:
        expect(card.get_by_role("link", name=child["title"], exact=False).first).to_be_visible()
    card.get_by_text("モデルが読む内容").click()
    assert card.locator("pre").text_content() == node["content"]
    card.get_by_text("もとの文書").click()
    expect(card.get_by_role("link", name="利用規約.docx")).to_be_visible()


@pytest.mark.requirement("W-53")
def test_visits_stand_beside_a_branch_as_a_number_and_a_bar(screen: Screen) -> None:
    """screens.md S6: heat as a number and a bar, and a link to the conversations that came this way."""
    made_corpus(screen, "visited", "休暇", {"休暇規程.md": f"# 休暇規程\n\n{HOLIDAYS}"})
    run = asked(screen, "visited", "年次有給休暇は何日ですか")
    while not screen.api("GET", "/corpora/visited/versions/1/nodes")["branches"][0]["visits"]:
        screen.page.wait_for_timeout(100)  # counted after the answer was given
    page = screen.open("/c/visited/tree")
    root = page.get_by_role("treeitem").nth(1)
    expect(root).to_have_accessible_name(re.compile("質問が 1 回通った"))
    expect(root.locator(".heat").first).to_be_visible()
    page.get_by_role("link", name="ここを通った会話").click()
    expect(page).to_have_url(re.compile(r"/records\?corpus=visited&version=1&visited=SKILL\.md"))
    listed = screen.api("GET", "/records?corpus=visited&version=1&visited=SKILL.md")["data"]
    assert [line["run_id"] for line in listed] == [run["run_id"]]


@pytest.mark.requirement("W-54")
def test_a_corpus_without_a_tree_and_one_with_a_single_leaf_say_what_to_do(screen: Screen) -> None:
    """Issue 7, bad input: a tree with one node, a tree with none."""
    screen.api("POST", "/corpora", {"corpus": "treeless", "title": "空"})
    page = screen.open("/c/treeless/tree")
    expect(page.get_by_role("heading", name="まだツリーがありません")).to_be_visible()
    expect(page.get_by_role("link", name="文書を登録する")).to_have_attribute("href", "/c/treeless/documents")
    made_corpus(screen, "single", "一枚", {"メモ.txt": "本日は晴天なり。会議は中止とする。"})
    page = screen.open("/c/single/tree")
    expect(page.get_by_text("このツリーの葉は1枚だけです")).to_be_visible()
    page.get_by_role("link", name="本日は晴天なり").click()
    page.get_by_role("link", name="会議は中止とする").click()
    expect(page.get_by_role("link", name="原文で見る")).to_be_visible()


@pytest.mark.requirement("W-64")
@pytest.mark.parametrize(
    ("language", "theme", "width"),
    [("ja", "light", 320), ("ja", "dark", 1280), ("en", "light", 1280), ("en", "dark", 320)],
)
def test_the_pages_of_the_tree_are_accessible_and_fit(
    screen_of: ScreenOf, compiled: str, language: str, theme: str, width: int
) -> None:
    """WCAG 2.2 AA, every screen, both themes, both languages; nothing scrolls sideways."""
    screen = screen_of(language=language, theme=theme, width=width)
    leaf = screen.api("GET", f"/corpora/{compiled}/versions/1/search?q=解約")["data"][-1]["doc_id"]
    for path in ("tree?node=topic-3/SKILL.md", f"versions/1/leaves/{leaf}", "versions"):
        page = screen.open(f"/c/{compiled}/{path}")
        page.wait_for_load_state("networkidle")
        assert screen.axe() == []
        assert fits(page)
