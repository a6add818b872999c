"""Handing documents in, and finding what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ScreenOf
from tests.browser.screen import Screen, fits

_LONG = "<img src=x onerror=alert(1)>" + "とても長い名前の文書" * 17


@pytest.fixture
def corpus(screen: Screen, request: pytest.FixtureRequest) -> Iterator[str]:
    """An empty corpus of the test's own."""
    name = re.sub(r"[^a-z0-9]+", "-", str(request.node.name).lower()).strip("-")[-60:].strip("-")
    screen.api("POST", "/corpora", {"corpus": name, "title": "文書の試験"})
    yield name
    screen.api("DELETE", f"/corpora/{name}?confirm={name}")


def choose(page: Page, *files: Path) -> None:
    page.locator("input[data-for=files]").set_input_files([str(file) for file in files])


def written(folder: Path, **texts: str | bytes) -> list[Path]:
    made: list[Path] = []
    for name, text in texts.items():
        made.append(folder / f"{name}.txt")
        made[-1].write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
    return made


@pytest.mark.requirement("W-01")
def test_a_dropped_file_has_a_row_at_once_that_a_reload_keeps(
    screen: Screen, corpus: str, tmp_path: Path
) -> None:
    """Second list 1: the row is there within a second, its state is true, and it is there after a reload."""
    page = screen.open(f"/c/{corpus}/documents")
    choose(page, *written(tmp_path, 規約="解約は月末まで。"))
    row = page.locator("tbody tr", has_text="規約.txt")
    expect(row).to_be_visible(timeout=1_000)
    expect(row).to_contain_text("受け付け")
    expect(row).to_contain_text("まだありません")
    page.reload()
    expect(row).to_contain_text("受け付け")


@pytest.mark.requirement("W-01")
def test_bytes_on_their_way_are_shown_for_each_file(screen: Screen, corpus: str, tmp_path: Path) -> None:
    """Second list 1: bytes first, then the server's state; a slow line shows it."""
    page = screen.open(f"/c/{corpus}/documents")
    session = page.context.new_cdp_session(page)
    slow = {"offline": False, "latency": 0, "downloadThroughput": 1e6, "uploadThroughput": 300_000}
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", slow)
    (file,) = written(tmp_path, 大きい="あ" * 200_000)
    choose(page, file)
    line = page.locator(".uploads li", has_text="大きい.txt")
    expect(line).to_contain_text(re.compile(r"\d+ KB / 600 KB"))
    expect(line).to_have_count(0, timeout=15_000)
    expect(page.locator("tbody tr", has_text="大きい.txt")).to_be_visible()


@pytest.mark.requirement("W-02")
def test_three_bad_files_of_fifty_are_found_by_one_chip(screen: Screen, corpus: str, tmp_path: Path) -> None:
    """Second list 2: exactly those, with a reason each; the others are usable."""
    good = written(tmp_path, **{f"文書{n}": f"第{n}条。内容は {n} です。" for n in range(47)})
    bad = written(tmp_path, 空="", 壊れた=b"\x00\x01\x02" * 99)
    bad.append(tmp_path / "図.png")
    bad[-1].write_bytes(b"\x89PNG\r\n\x1a\n" + b"0" * 50)
    page = screen.open(f"/c/{corpus}/documents")
    choose(page, *good, *bad)
    chip = page.locator('[data-state="refused"]')
    expect(chip).to_have_text("検査NG 3", timeout=30_000)
    expect(page.locator('[data-state="accepted"]')).to_have_text("受け付け 47", timeout=30_000)
    chip.click()
    expect(page.locator("tbody tr")).to_have_count(3)
    for row in page.locator("tbody tr").all():
        expect(row.locator(".found small")).not_to_be_empty()
    expect(page).to_have_url(re.compile(r"state=refused"))
    expect(chip).to_be_focused()
    page.reload()
    expect(page.locator("tbody tr")).to_have_count(3)


@pytest.mark.requirement("W-03")
def test_the_same_bytes_twice_are_one_document(screen: Screen, corpus: str, tmp_path: Path) -> None:
    """Second list 3: nothing is done again, and that is said."""
    (file,) = written(tmp_path, 規約="同じ内容。")
    page = screen.open(f"/c/{corpus}/documents")
    choose(page, file)
    expect(page.locator("tbody tr")).to_contain_text("受け付け")
    choose(page, file)
    expect(page.locator(".uploads li")).to_contain_text("同じ内容が登録済み")
    expect(page.locator("tbody tr")).to_have_count(1)


@pytest.mark.requirement("W-03")
def test_accepted_and_live_are_two_states(screen: Screen, compiled: str) -> None:
    """Second list 3: what is in the live version is said beside what was found."""
    row = screen.open(f"/c/{compiled}/documents").locator("tbody tr", has_text="利用規約.docx")
    expect(row).to_contain_text("受け付け")
    expect(row).to_contain_text("v1 に含まれる")


def test_a_folder_keeps_its_inner_names(screen: Screen, corpus: str, tmp_path: Path) -> None:
    """Issue 7: a whole folder at once."""
    (tmp_path / "規程" / "人事").mkdir(parents=True)
    (tmp_path / "規程" / "人事" / "休暇.txt").write_text("休暇は20日。", encoding="utf-8")
    page = screen.open(f"/c/{corpus}/documents")
    page.locator("input[data-for=folder]").set_input_files(str(tmp_path / "規程"))
    expect(page.locator("tbody tr")).to_contain_text("規程/人事/休暇.txt")


@pytest.mark.requirement("W-13")
def test_a_name_is_never_markup_and_never_breaks_the_page(screen_of: ScreenOf, corpus: str) -> None:
    """Bad input: 200 characters of Japanese, and a tag in a name."""
    screen = screen_of(width=320)
    screen.hand_in(corpus, f"{_LONG}.txt".replace("/", ""), "本文")
    page = screen.open(f"/c/{corpus}/documents")
    expect(page.locator("tbody tr")).to_contain_text("<img src=x onerror=alert(1)>")
    assert fits(page)
    page.locator("tbody a").click()
    expect(page.locator("#title")).to_contain_text("<img src=x")
    assert fits(page)


@pytest.mark.requirement("W-12")
def test_a_document_shows_its_text_with_the_borders_of_chunks(screen: Screen, compiled: str) -> None:
    """S3: an empty or garbled text is seen before money is spent."""
    page = screen.open(f"/c/{compiled}/documents")
    page.get_by_role("link", name="利用規約.docx").click()
    expect(page.locator(".original .part").first).to_contain_text("チャンク 1")
    shown = page.locator(".original .part").count()
    page.get_by_role("button", name="さらに表示").click()
    expect(page.locator(".original .part").nth(shown)).to_be_visible()
    with page.expect_download() as got:
        page.get_by_role("link", name="ダウンロード").click()
    assert got.value.suggested_filename == "利用規約.docx"


@pytest.mark.requirement("W-12")
def test_a_refused_document_says_why_and_what_to_do(screen: Screen, corpus: str, tmp_path: Path) -> None:
    """S3: no dead end."""
    page = screen.open(f"/c/{corpus}/documents")
    choose(page, *written(tmp_path, 空=""))
    page.get_by_role("link", name="空.txt").click()
    expect(page.locator(".notice.bad")).to_contain_text("文字が入っていません。")
    expect(page.get_by_role("button", name="もう一度確認")).to_be_visible()


@pytest.mark.requirement("W-14")
def test_a_document_is_taken_out_after_a_question(screen: Screen, corpus: str) -> None:
    """S3: the dialog says what goes and what stays; keyboard alone."""
    document = screen.hand_in(corpus, "古い.txt", "古い規約。")["document_id"]
    page = screen.open(f"/c/{corpus}/documents/{document}")
    page.get_by_role("button", name="取り出す").press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("公開中のバージョンは、次のコンパイルまで変わりません")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="取り出す").press("Enter")
    dialog.get_by_role("button", name="取り出す").press("Enter")
    expect(page.locator("#page")).to_contain_text("取り出し済み")
