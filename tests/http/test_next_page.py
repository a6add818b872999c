"""Where one comes after signing in."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from corpus2skill.entrypoints.web.next_page import own_page
from tests.http.people import PASSWORD, Town

ELSEWHERE = (
    "https://example.com/",
    "//example.com/",
    "/\\example.com/",
    "\\\\example.com",
    "/\t/example.com",
    "/\n//example.com",
    "javascript:alert(1)",
    "records",
    "",
    "//[::1",
    "/sign-in",
    "/sign-in?next=/records",
    "/v1/records",
    "/" + "a" * 3_000,
)


@pytest.mark.requirement("W-42")
@pytest.mark.parametrize(
    "page", ["/", "/records?outcome=not_found&end_user=%E7%94%B0", "/c/terms/tree?node=解約/SKILL.md"]
)
def test_after_signing_in_one_comes_back_to_ones_page(tmp_path: Path, page: str) -> None:
    """Issue 7, bad input: a session that ran out."""
    town = Town(tmp_path / "home")
    town.person("田中")
    browser = town.browser()
    form = browser.get(f"/sign-in?next={quote(page, safe='')}")
    assert f'name="next" value="{page.replace("&", "&amp;")}"' in form.text
    wrong = browser.post("/sign-in", data={"name": "田中", "password": "wrong", "next": page})
    assert f'name="next" value="{page.replace("&", "&amp;")}"' in wrong.text
    entered = browser.post("/sign-in", data={"name": "田中", "password": PASSWORD, "next": page})
    assert entered.status_code == 303
    assert entered.headers["location"] == quote(page, safe="/?=&%")


@pytest.mark.requirement("W-42")
@pytest.mark.parametrize("page", ELSEWHERE)
def test_no_link_to_the_sign_in_leads_elsewhere_by_it(tmp_path: Path, page: str) -> None:
    """An open redirect would lend our name to whoever makes such a link."""
    assert own_page(page) == ""
    town = Town(tmp_path / "home")
    town.person("田中")
    entered = town.browser().post("/sign-in", data={"name": "田中", "password": PASSWORD, "next": page})
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
