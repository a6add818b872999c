"""Coming in with a browser: links, passwords, cookies, and going out again."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from corpus2skill.adapters.argon2_passwords import Argon2Passwords
from corpus2skill.application.server.links import check_accounts, first_sign_in_link, own_address
from corpus2skill.application.server.passwords import Visitor, sign_in
from corpus2skill.domain.sign_in import IDLE_SECONDS, LINK_SECONDS, SESSION_SECONDS
from corpus2skill.entrypoints.web.static_files import build
from corpus2skill.errors import InvalidInput, NotSignedIn
from corpus2skill.settings import ServerSettings
from tests.http.people import PASSWORD, Town


@pytest.fixture
def town(tmp_path: Path) -> Town:
    return Town(tmp_path / "home")


def code_in(page: str) -> str:
    found = re.search(r'name="code" value="([^"]+)"', page)
    assert found
    return found[1]


@pytest.mark.requirement("S-80")
def test_a_new_servers_owner_comes_in_by_a_link_that_looking_does_not_use_up(town: Town) -> None:
    """Issue: first start without a form. Previews of links look at them, and do not press buttons."""
    link = first_sign_in_link(town.server)
    assert link is not None
    browser = town.browser()
    pages = [browser.get(link) for _ in range(3)]
    assert {page.status_code for page in pages} == {200}
    entered = browser.post("/sign-in/link", data={"code": code_in(pages[0].text)})
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    assert "owner" in browser.get("/").text
    assert browser.get("/v1/me").json()["scopes"] == ["admin", "ask", "read", "records", "write"]
    assert town.browser().post("/sign-in/link", data={"code": code_in(pages[0].text)}).status_code == 404
    assert town.browser().get(link).status_code == 404


@pytest.mark.requirement("S-80")
def test_a_sign_in_link_runs_out_and_a_newer_one_ends_it(town: Town) -> None:
    """Issue 6: short life."""
    first, second = first_sign_in_link(town.server), first_sign_in_link(town.server)
    assert town.browser().get(str(first)).status_code == 404
    town.clock.advance(LINK_SECONDS["sign_in"] - 1)
    assert town.browser().get(str(second)).status_code == 200
    town.clock.advance(1)
    assert town.browser().get(str(second)).status_code == 404


@pytest.mark.requirement("S-80")
def test_no_link_is_printed_once_an_owner_has_a_password(town: Town) -> None:
    """A log that others read must not let them in."""
    with pytest.raises(InvalidInput, match="accounts_needed"):
        check_accounts(town.server)
    town.person("田中", "owner")
    check_accounts(town.server)
    assert first_sign_in_link(town.server) is None


@pytest.mark.requirement("S-81")
def test_the_cookie_is_kept_from_scripts_other_sites_and_other_ports(town: Town) -> None:
    """Two servers on one machine share its name, and browsers share cookies between ports."""
    town.person("田中")
    browser = town.browser()
    cookie = browser.post("/sign-in", data={"name": "田中", "password": PASSWORD}).headers["set-cookie"]
    assert cookie.startswith("corpus2skill_8484=")
    assert {part.strip() for part in cookie.split(";")[1:]} == {
        "HttpOnly",
        "SameSite=lax",
        "Path=/",
        f"Max-Age={SESSION_SECONDS}",
    }


@pytest.mark.requirement("S-81")
def test_behind_https_and_under_a_sub_path_the_cookie_stays_there(tmp_path: Path) -> None:
    """Issue: behind a proxy and under a sub-path."""
    town = Town(tmp_path / "home", ServerSettings(root_path="/docs", port=9000))
    town.person("田中")
    browser = town.browser("https://localhost")
    page = browser.get("/docs/sign-in").text
    assert 'action="/docs/sign-in"' in page
    assert f'href="/docs/ui/{build()}/style.css"' in page
    assert 'href="/docs/sign-in?language=' in page
    entered = browser.post("/docs/sign-in", data={"name": "田中", "password": PASSWORD})
    assert entered.headers["location"] == "/docs/"
    cookie = entered.headers["set-cookie"]
    assert cookie.startswith("corpus2skill_9000=")
    assert "Path=/docs;" in cookie
    assert "Secure" in cookie
    assert browser.get("/docs/v1/me").json()["name"] == "田中"


@pytest.mark.requirement("S-81")
def test_the_cookie_itself_is_kept_nowhere(town: Town, tmp_path: Path) -> None:
    """Issue: whoever reads the database cannot sign in with it."""
    town.person("田中")
    browser = town.browser()
    browser.post("/sign-in", data={"name": "田中", "password": PASSWORD})
    invitation = town.invitation().rpartition("/")[2]
    kept = b"".join(file.read_bytes() for file in (tmp_path / "home").glob("state.db*"))
    for secret in (browser.cookies["corpus2skill_8484"], invitation, PASSWORD):
        assert secret.encode() not in kept


@pytest.mark.requirement("S-81")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, 201),
        ({"Sec-Fetch-Site": "none"}, 201),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"}, 403),
        ({"Sec-Fetch-Site": "", "Origin": "http://localhost"}, 403),
        ({"Origin": "http://localhost"}, 201),
        ({"Origin": "http://localhost:8080"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({}, 403),
    ],
)
def test_no_other_site_acts_in_the_name_of_who_is_signed_in(
    town: Town, headers: dict[str, str], status: int
) -> None:
    """Issue 6: unsafe methods with a cookie need a proof of the same origin."""
    town.person("田中", "owner")
    browser = town.signed_in("田中")
    del browser.headers["Sec-Fetch-Site"]
    body = {"name": "佐藤", "role": "viewer"}
    answer = browser.post("/v1/invitations", json=body, headers=headers)
    assert answer.status_code == status
    assert "access-control-allow-origin" not in answer.headers
    assert browser.get("/v1/members", headers=headers).status_code == 200


@pytest.mark.requirement("S-81")
@pytest.mark.parametrize(
    "path", ["/sign-in", "/sign-in/link", "/invitation/x", "/reset/x", "/sign-out", "/tenant"]
)
def test_no_other_site_fills_in_our_forms(town: Town, path: str) -> None:
    """A visitor who is signed in as somebody else's person would hand them what they type."""
    town.person("田中")
    browser = town.signed_in("田中")
    answer = browser.post(path, data={}, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403
    assert "another site" in answer.text
    assert browser.get("/v1/me").status_code == 200


@pytest.mark.requirement("S-81")
def test_a_token_that_is_wrong_is_not_made_good_by_a_cookie(town: Town) -> None:
    """Who sends a token means it."""
    town.person("田中")
    browser = town.signed_in("田中")
    assert browser.get("/v1/me", headers={"Authorization": "Bearer c2s_wrong"}).status_code == 401


@pytest.mark.requirement("S-82")
def test_a_sign_in_ends_when_unused_or_after_its_time(town: Town) -> None:
    """Issue 6: idle and absolute lifetime."""
    town.person("田中")
    idle, busy = town.signed_in("田中"), town.signed_in("田中")
    spent = 0.0
    while spent + IDLE_SECONDS / 2 < SESSION_SECONDS:
        assert busy.get("/v1/me").status_code == 200
        town.clock.advance(IDLE_SECONDS / 2)
        spent += IDLE_SECONDS / 2
    assert idle.get("/v1/me").status_code == 401
    assert busy.get("/v1/me").status_code == 200
    town.clock.advance(SESSION_SECONDS - spent)
    assert busy.get("/v1/me").status_code == 401
    assert busy.get("/").headers["location"] == "/sign-in"


@pytest.mark.requirement("S-82")
def test_signing_out_is_at_once_here_or_everywhere(town: Town) -> None:
    """Issue 6."""
    town.person("田中")
    town.person("佐藤")
    one, two, three, other = (town.signed_in(name) for name in ("田中", "田中", "田中", "佐藤"))
    kept = one.cookies["corpus2skill_8484"]
    gone = one.post("/sign-out")
    assert (gone.status_code, gone.headers["location"]) == (303, "/sign-in")
    assert "corpus2skill_8484" not in one.cookies
    stale = town.browser()
    stale.cookies["corpus2skill_8484"] = kept
    assert stale.get("/v1/me").status_code == 401
    assert stale.post("/sign-out").status_code == 303
    assert two.post("/sign-out", data={"everywhere": "yes"}).status_code == 303
    assert three.get("/v1/me").status_code == 401
    assert other.get("/v1/me").status_code == 200


@pytest.mark.requirement("S-82")
def test_one_sees_and_ends_ones_own_sign_ins_only(town: Town) -> None:
    """`/v1/sign-ins`."""
    town.person("田中")
    town.person("佐藤")
    mine, phone, theirs = (town.signed_in(name) for name in ("田中", "田中", "佐藤"))
    listed = mine.get("/v1/sign-ins").json()["data"]
    assert [entry["is_this"] for entry in listed] == [True, False]
    foreign = theirs.delete(f"/v1/sign-ins/{listed[1]['sign_in_id']}")
    nothing = theirs.delete("/v1/sign-ins/signin_nothing")
    assert foreign.status_code == nothing.status_code == 404
    assert phone.get("/v1/me").status_code == 200
    assert mine.delete(f"/v1/sign-ins/{listed[1]['sign_in_id']}").status_code == 204
    assert phone.get("/v1/me").status_code == 401
    assert town.signed_in("田中").delete("/v1/sign-ins?others=true").json() == {"ended": 1}
    assert mine.get("/v1/me").status_code == 401


@pytest.mark.requirement("S-82")
def test_a_browser_that_signs_in_again_leaves_no_sign_in_behind(town: Town) -> None:
    """Its old cookie is gone, so nobody could end that one."""
    person = town.person("田中")
    browser = town.signed_in("田中")
    browser.post("/sign-in", data={"name": "田中", "password": PASSWORD})
    assert len(town.server.web_sessions.sessions(person)) == 1


@pytest.mark.requirement("S-85")
@pytest.mark.parametrize("name", ["田中", "鈴木", "", "a\0b", "田" * 10_000, "\ud800"])
def test_a_wrong_password_and_a_wrong_name_are_answered_alike(town: Town, name: str) -> None:
    """Nobody learns from the form who has an account."""
    town.person("田中")
    answer = town.browser().post(
        "/sign-in",
        content=b"name=" + name.encode("utf-8", "surrogatepass") + b"&password=wrong",
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert answer.status_code == 401
    assert "The name or the password is wrong." in answer.text
    assert "set-cookie" not in answer.headers


class CountingPasswords:
    """Argon2 that counts what it compares."""

    def __init__(self) -> None:
        self._real = Argon2Passwords(memory_kib=8, passes=1)
        self.compared = 0

    def hashed(self, password: str) -> str:
        return self._real.hashed(password)

    def is_right(self, password: str, kept: str | None) -> bool:
        self.compared += 1
        return self._real.is_right(password, kept)

    def is_outdated(self, kept: str) -> bool:
        return self._real.is_outdated(kept)


@pytest.mark.requirement("S-85")
def test_as_much_work_is_done_for_nobody_as_for_somebody(town: Town) -> None:
    """Issue: timing says nothing, because each try compares one password with one that is kept."""
    town.person("田中")
    passwords = CountingPasswords()
    server = replace(town.server, passwords=passwords)
    visitor = Visitor(address="192.0.2.1", agent="")
    for number, name in enumerate(("田中", "鈴木"), start=1):
        with pytest.raises(NotSignedIn):
            sign_in(server, name, "wrong password", visitor)
        assert passwords.compared == number


@pytest.mark.requirement("S-85")
def test_a_password_is_tried_only_so_often(town: Town) -> None:
    """Issue 6: limits per name and address, and the answer says when to come back."""
    town.person("田中")
    browser = town.browser()
    wrong = {"name": "田中", "password": "wrong"}
    assert [browser.post("/sign-in", data=wrong).status_code for _ in range(6)] == [401] * 5 + [429]
    refused = browser.post("/sign-in", data={"name": "田中", "password": PASSWORD})
    assert refused.status_code == 429
    assert 0 < int(refused.headers["retry-after"]) <= 900
    assert "Wait about 15 minutes" in refused.text
    town.clock.advance(900)
    assert browser.post("/sign-in", data={"name": "田中", "password": PASSWORD}).status_code == 303


@pytest.mark.requirement("S-84")
def test_a_password_is_kept_anew_when_the_parameters_change(town: Town) -> None:
    """Issue 6: rehash on change."""
    person = town.person("田中")
    before = town.server.people.password(person)
    stronger = replace(town.server, passwords=Argon2Passwords(memory_kib=16, passes=1))
    sign_in(stronger, "田中", PASSWORD, Visitor(address="192.0.2.1", agent=""))
    after = town.server.people.password(person)
    assert after != before
    assert after is not None
    assert after.startswith("$argon2id$v=19$m=16,t=1,p=1$")
    assert town.browser().post("/sign-in", data={"name": "田中", "password": PASSWORD}).status_code == 303


@pytest.mark.requirement("S-84")
def test_one_changes_ones_password_and_other_browsers_are_signed_out(town: Town) -> None:
    """`/v1/password`."""
    town.person("田中", "owner")
    browser, phone = town.signed_in("田中"), town.signed_in("田中")
    wrong = browser.put("/v1/password", json={"current": "no", "new": PASSWORD + "2"})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "password_wrong")
    short = browser.put("/v1/password", json={"current": PASSWORD, "new": "short"})
    assert (short.status_code, short.json()["code"]) == (422, "password_short")
    assert browser.put("/v1/password", json={"current": PASSWORD, "new": PASSWORD + "2"}).status_code == 204
    assert browser.get("/v1/me").status_code == 200
    assert phone.get("/v1/me").status_code == 401
    assert town.browser().post("/sign-in", data={"name": "田中", "password": PASSWORD}).status_code == 401


@pytest.mark.requirement("S-84")
def test_who_came_in_by_a_link_and_has_no_password_gives_none_to_set_one(town: Town) -> None:
    """The local owner begins without one."""
    link = str(first_sign_in_link(town.server))
    browser = town.browser()
    browser.post("/sign-in/link", data={"code": link.partition("code=")[2]})
    assert browser.get("/v1/me").json()["person"]["has_password"] is False
    assert browser.put("/v1/password", json={"new": PASSWORD}).status_code == 204
    assert browser.get("/v1/me").json()["person"]["has_password"] is True


@pytest.mark.requirement("S-93")
@pytest.mark.parametrize("language", ["ja", "en"])
def test_pages_are_in_the_readers_language_under_a_strict_policy(town: Town, language: str) -> None:
    """Issue 6: no script, labelled fields, errors in words."""
    town.person("田中")
    browser = town.browser()
    browser.headers["Accept-Language"] = language
    link = str(first_sign_in_link(town.server))
    pages = [
        browser.get("/sign-in"),
        browser.get(link),
        browser.get(town.invitation("<b>佐藤")),
        browser.get("/reset/nothing"),
        browser.post("/sign-in", data={"name": '"><script>', "password": "x"}),
    ]
    for page in pages:
        assert f'<html lang="{language}">' in page.text
        assert "<script" not in page.text
        assert "style=" not in page.text
        assert page.headers["content-security-policy"] == (
            "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self';"
            " frame-ancestors 'none'; base-uri 'none'"
        )
        assert page.headers["cache-control"] == "no-store"
        assert page.headers["referrer-policy"] == "same-origin"
        fields = set(re.findall(r'<input id="([^"]+)"', page.text))
        assert fields == set(re.findall(r'<label for="([^"]+)"', page.text))
        assert len(re.findall("<h1>", page.text)) == 1
    assert 'role="alert"' in pages[-1].text
    assert browser.get(f"/ui/{build()}/style.css").headers["content-type"].startswith("text/css")


@pytest.mark.requirement("S-93")
def test_links_name_the_address_under_which_the_server_is_found() -> None:
    """Printed at the start and by the operator's commands."""
    assert own_address(ServerSettings()) == "http://127.0.0.1:8484"
    assert own_address(ServerSettings(host="0.0.0.0", root_path="/docs")) == "http://127.0.0.1:8484/docs"
    assert own_address(ServerSettings(host="::1", port=1)) == "http://[::1]:1"
