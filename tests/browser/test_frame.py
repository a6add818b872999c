"""The frame that all screens have."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ScreenOf
from tests.browser.screen import Screen, fits


def test_the_first_tab_stop_leads_to_the_content(screen: Screen) -> None:
    """WCAG 2.4.1: nobody has to walk through the rail on every page."""
    page = screen.open("/knowledge")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_the_theme_and_the_language_stay(screen: Screen) -> None:
    """Issue 7: light and dark, Japanese and English, from one set of keys."""
    page = screen.open("/knowledge")
    page.locator("#theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.locator("#language").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_the_frame_never_scrolls_sideways(screen_of: ScreenOf, width: int) -> None:
    """WCAG 1.4.10."""
    assert fits(screen_of(width=width, language="en").open("/knowledge"))
