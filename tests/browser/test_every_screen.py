"""Every screen there is, in both languages, both themes and all sizes."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from playwright.sync_api import Browser, Page, StorageState, expect

from corpus2skill.entrypoints.web.screens import SCREENS
from tests.browser.conftest import ScreenOf
from tests.browser.knowledge import HOLIDAYS, TRAVEL, added_version, asked, made_corpus
from tests.browser.screen import Screen, fits, heading_levels, new_context
from tests.e2e.serving import ServerProcess

LANGUAGES = ("ja", "en")
THEMES = ("light", "dark")
WIDTHS = (320, 390, 1280)
SAMPLED = (("ja", "light", 320), ("en", "dark", 1280), ("ja", "dark", 390), ("en", "light", 320))
"""Looks of the quick suite, one a screen in turn; `make soak` takes all."""
STOPS = """() => [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
  .filter(e => e.tabIndex >= 0 && !e.disabled && !e.matches('[type=hidden]')
    && e.checkVisibility({checkVisibilityCSS: true, contentVisibilityAuto: true})
    && !(e.type === 'radio' && !e.checked && document.querySelector(`[name="${e.name}"]:checked`)))
  .map((e, i) => (e.dataset.stop = String(i)))"""
FOCUSED = """() => {
  const e = document.activeElement;
  const near = [e, e.parentElement, e.closest('.leads, label'), ...e.children].filter(Boolean);
  const isSeen = near.some(one => { const s = getComputedStyle(one); return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2; });
  return [e.dataset.stop ?? null, isSeen, e.outerHTML.slice(0, 120)];
}"""


@pytest.fixture(scope="package")
def addresses(browser: Browser, served: ServerProcess, signed_in: StorageState) -> dict[str, str]:
    """A filled address of every screen, by its script."""
    base = str(served.told["url"])
    context = new_context(browser, signed_in, base=base)
    screen = Screen(context.new_page(), base)
    made_corpus(screen, "rules", "社内規程（休暇・旅費）", {"holidays.md": HOLIDAYS})
    version = added_version(screen, "rules", {"travel.md": TRAVEL})
    run = asked(screen, "rules", "年次有給休暇は何日ですか")
    found = {
        "corpus": "rules",
        "document": screen.api("GET", "/corpora/rules/documents")["data"][0]["document_id"],
        "job": screen.api("GET", "/corpora/rules/jobs")["data"][0]["job_id"],
        "version": str(version),
        "leaf": "doc_chunk_1",
        "before": str(version - 1),
        "after": str(version),
        "run": str(run["run_id"]),
    }
    context.close()
    return {screen.script: screen.path.format(**found) for screen in SCREENS}


@pytest.mark.requirement("W-70")
@pytest.mark.parametrize(("number", "script"), list(enumerate(screen.script for screen in SCREENS)))
def test_every_screen_is_accessible_and_fits(
    screen_of: ScreenOf, addresses: dict[str, str], number: int, script: str
) -> None:
    """Issue 7: axe 0, console 0 (by the fixture), no sideways scroll."""
    assert _faults(screen_of, addresses[script], SAMPLED[number % len(SAMPLED)]) == []


@pytest.mark.soak
@pytest.mark.requirement("W-70")
@pytest.mark.parametrize("look", list(product(LANGUAGES, THEMES, WIDTHS)))
def test_every_screen_in_every_look(
    screen_of: ScreenOf, addresses: dict[str, str], look: tuple[str, str, int]
) -> None:
    """Issue 7: every screen, both themes, both languages."""
    faults = [fault for address in addresses.values() for fault in _faults(screen_of, address, look)]
    assert faults == []


@pytest.mark.requirement("W-71")
@pytest.mark.parametrize("script", [screen.script for screen in SCREENS])
def test_everything_is_reached_by_tab_and_seen_there(
    screen_of: ScreenOf, addresses: dict[str, str], script: str
) -> None:
    """Issue 7: everything reachable and operable by keyboard, focus visible."""
    screen = screen_of()
    page = _settled(screen, addresses[script])
    stops = set(page.evaluate(STOPS))
    unseen: list[str] = []
    for _ in range(2 * len(stops) + 20):  # a date has a stop for each of its parts
        if not stops:
            break
        page.keyboard.press("Tab")
        stop, is_seen, markup = page.evaluate(FOCUSED)
        stops.discard(stop)
        if stop is not None and not is_seen:
            unseen.append(markup)
    assert unseen == []
    assert sorted(page.locator(f'[data-stop="{stop}"]').evaluate("e => e.outerHTML") for stop in stops) == []


def _faults(screen_of: ScreenOf, address: str, look: tuple[str, str, int]) -> list[str]:
    language, theme, width = look
    screen = screen_of(language=language, theme=theme, width=width)
    page = _settled(screen, address)
    levels = heading_levels(page)
    found = [
        *screen.axe(),
        *([] if fits(page) else ["scrolls sideways"]),
        *([] if levels[0] == 1 and levels.count(1) == 1 else [f"headings {levels}"]),
        *(f"skips a level: {levels}" for before, after in pairwise(levels) if after > before + 1),
    ]
    assert page.title().endswith("Corpus2Skill")
    page.context.close()
    return [f"{address} {look}: {fault}" for fault in found]


def _settled(screen: Screen, address: str) -> Page:
    page = screen.open(address)
    expect(page.locator(".wait")).to_have_count(0)
    return page
