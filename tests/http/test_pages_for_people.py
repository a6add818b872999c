"""Pages that people meet without signing in, and where there is nothing."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.http.people import PASSWORD, Town

A_BROWSERS = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture
def town(tmp_path: Path) -> Town:
    return Town(tmp_path / "home")


@pytest.mark.requirement("W-82")
@pytest.mark.parametrize(("language", "heading"), [("ja", "見つかりません"), ("en", "Not found")])
def test_people_get_a_page_where_there_is_nothing(town: Town, language: str, heading: str) -> None:
    """Issue 7: in both languages, with a way back and what to tell the operator."""
    browser = town.browser()
    found = browser.get("/nowhere", headers={**A_BROWSERS, "Accept-Language": language})
    assert found.status_code == 404
    assert f"<h1>{heading}</h1>" in found.text
    assert 'href="/"' in found.text
    assert found.headers["x-request-id"] in found.text
    assert found.headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.requirement("W-82")
@pytest.mark.parametrize(
    ("path", "accept"), [("/nowhere", "*/*"), ("/nowhere", "application/json"), ("/v1/nowhere", "text/html")]
)
def test_programs_get_a_problem_there(town: Town, path: str, accept: str) -> None:
    """interfaces.md: RFC 9457 for whoever does not ask for HTML, and everywhere below /v1."""
    found = town.browser().get(path, headers={"Accept": accept})
    assert (found.status_code, found.headers["content-type"]) == (404, "application/problem+json")


@pytest.mark.requirement("W-82")
def test_what_comes_from_another_site_is_refused_with_a_page(town: Town) -> None:
    """Issue 7: a page for 403."""
    browser = town.browser()
    town.person("田中")
    browser.post("/sign-in", data={"name": "田中", "password": PASSWORD})
    refused = browser.post(
        "/tenant", data={"tenant": "b"}, headers={**A_BROWSERS, "Sec-Fetch-Site": "cross-site"}
    )
    assert refused.status_code == 403
    assert "text/html" in refused.headers["content-type"]
    too_long = browser.get("/reset/" + "x" * 300, headers=A_BROWSERS)
    assert (too_long.status_code, too_long.headers["content-type"]) == (422, "text/html; charset=utf-8")


def test_a_form_without_end_is_not_taken_in(town: Town) -> None:
    """Issue 6: an upload may be endless. Whoever is not signed in must not fill the disk by it."""
    endless = {"name": ("a.txt", b"x" * 2_000_000)}
    for path in ("/sign-in", "/sign-in/link", "/reset/x", "/invitation/x"):
        refused = town.browser().post(path, files=endless)
        assert (refused.status_code, path) == (413, path)


@pytest.mark.requirement("W-81")
def test_the_language_is_switched_by_a_link_and_stays(town: Town) -> None:
    """Issue 7: a link that works without a script; what was to follow the sign-in is kept."""
    browser = town.browser()
    browser.headers["Accept-Language"] = "ja"
    page = browser.get("/sign-in?next=/records%3Fuser%3Da").text
    link = page.partition('hreflang="en" href="')[2].partition('"')[0].replace("&amp;", "&")
    assert link == "/sign-in?next=%2Frecords%3Fuser%3Da&language=en"
    assert '<html lang="en">' in browser.get(link).text
    assert '<html lang="en">' in browser.get("/sign-in").text
    refused = browser.post("/sign-in", data={"name": "x", "password": "y"}).text
    assert 'lang="ja" hreflang="ja" href="/sign-in?' in refused
    assert 'href="/sign-in?language=ja"' in browser.post("/sign-in/link", data={"code": "x"}).text


@pytest.mark.requirement("W-81")
def test_the_theme_that_was_chosen_holds_before_signing_in(town: Town) -> None:
    """Issue 7: light and dark by the cookie, else by the system."""
    browser = town.browser()
    browser.headers["Accept-Language"] = "en"
    assert '<html lang="en">' in browser.get("/sign-in").text
    browser.cookies["c2s_theme"] = "dark"
    assert '<html lang="en" data-theme="dark">' in browser.get("/sign-in").text
    browser.cookies["c2s_theme"] = '"><script>'
    assert '<html lang="en">' in browser.get("/sign-in").text


@pytest.mark.requirement("W-80")
def test_the_language_of_the_account_comes_along_to_another_browser(town: Town) -> None:
    """Issue 7: one's own language."""
    town.person("田中")
    first, second = town.browser(), town.browser()
    first.post("/sign-in", data={"name": "田中", "password": PASSWORD})
    assert first.put("/v1/me/language", json={"language": "ja"}).status_code == 200
    second.headers["Accept-Language"] = "en"
    second.post("/sign-in", data={"name": "田中", "password": PASSWORD})
    assert '<html lang="ja"' in second.get("/settings").text


@pytest.mark.requirement("W-83")
def test_the_sign_is_there_under_its_old_name(town: Town) -> None:
    """screens.md: a browser asks for /favicon.ico beside every file that it shows."""
    assert town.browser().get("/favicon.ico").headers["content-type"].startswith("image/svg+xml")


@pytest.mark.requirement("W-78")
def test_the_log_is_exported_in_the_language_of_the_screen(api: TestClient) -> None:
    """Issue 7: a screen may be in another language than the browser."""
    api.post("/v1/api-tokens", json={"name": "一", "scopes": ["read"]})
    path = "/v1/audit-events/export?format=csv&action=token.created&language="
    texts: dict[str, str] = {}
    for language in ("ja", "en"):
        rows = csv.DictReader(io.StringIO(api.get(path + language).text.removeprefix("\ufeff")))
        texts[language] = next(rows)["text"]
    assert texts == {"ja": "API トークン「一」を作りました（read）", "en": "Made the API token 一 (read)"}
