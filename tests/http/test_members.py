"""Members, invitations, resets and tenants over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus2skill.application.server.links import reset_link
from corpus2skill.application.server.members import add_tenant, join, member_named
from corpus2skill.domain.people import Role, Scope
from corpus2skill.domain.sign_in import LINK_SECONDS
from tests.http.people import PASSWORD, Town


@pytest.fixture
def town(tmp_path: Path) -> Town:
    made = Town(tmp_path / "home")
    made.person("社長", "owner")
    return made


@pytest.mark.requirement("S-83")
def test_somebody_invited_chooses_name_and_password_and_is_in(town: Town) -> None:
    """Issue: invitation link by the owner; no mail is sent."""
    owner = town.signed_in("社長")
    made = owner.post("/v1/invitations", json={"name": "佐藤", "role": "editor"}).json()
    path = made["url"].removeprefix("http://localhost")
    browser = town.browser()
    assert 'value="佐藤"' in browser.get(path).text
    entered = browser.post(path, data={"name": "佐藤 花子", "password": PASSWORD})
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    assert browser.get("/v1/me").json()["name"] == "佐藤 花子"
    assert [(row["name"], row["role"]) for row in owner.get("/v1/members").json()["data"]] == [
        ("社長", "owner"),
        ("佐藤 花子", "editor"),
    ]
    (listed,) = owner.get("/v1/invitations").json()["data"]
    assert listed["state"] == "accepted"
    assert made["url"] not in owner.get("/v1/invitations").text
    assert town.browser().post(path, data={"name": "鈴木", "password": PASSWORD}).status_code == 404


@pytest.mark.requirement("S-83", "S-84")
@pytest.mark.parametrize(
    ("name", "password", "status", "words"),
    [
        ("佐藤", "short", 422, "12 characters or more"),
        ("佐藤花子佐藤花子佐藤花子", "佐藤花子佐藤花子佐藤花子", 422, "cannot be its own password"),
        ("", PASSWORD, 422, "1 to 100 characters"),
        ("a\u202eb", PASSWORD, 422, "1 to 100 characters"),
        ("社長", "not the owner's", 409, "The name 社長 is taken"),
        ("社長", PASSWORD, 409, "a member of the tenant local already"),
    ],
)
def test_an_invitation_that_is_filled_in_wrongly_says_why_and_still_works(
    town: Town, name: str, password: str, status: int, words: str
) -> None:
    """Issue 6: errors in words."""
    path = town.invitation()
    refused = town.browser().post(path, data={"name": name, "password": password})
    assert refused.status_code == status
    assert words in refused.text.replace("&#39;", "'")
    assert PASSWORD not in refused.text
    assert town.browser().post(path, data={"name": "佐藤", "password": PASSWORD}).status_code == 303


@pytest.mark.requirement("S-83")
def test_an_invitation_runs_out_and_is_revoked(town: Town) -> None:
    """Issue 6: expires, revocable."""
    owner = town.signed_in("社長")
    made = [
        owner.post("/v1/invitations", json={"name": name, "role": "viewer"}).json()
        for name in ("佐藤", "鈴木")
    ]
    revoked = owner.delete(f"/v1/invitations/{made[0]['invitation_id']}").json()
    assert revoked["state"] == "revoked"
    town.clock.advance(LINK_SECONDS["invitation"])
    for invitation in made:
        path = invitation["url"].removeprefix("http://localhost")
        assert town.browser().get(path).status_code == 404
        answer = town.browser().post(path, data={"name": "x", "password": PASSWORD})
        assert answer.status_code == 404
    assert [row["state"] for row in owner.get("/v1/invitations").json()["data"]] == ["revoked", "expired"]
    assert len(owner.get("/v1/members").json()["data"]) == 1


@pytest.mark.requirement("S-83", "S-88")
def test_somebody_who_is_known_joins_another_tenant_with_their_own_password(town: Town) -> None:
    """A person may belong to several tenants, and look at one at a time."""
    add_tenant(town.server, "acme", "test")
    town.person("佐藤", "editor")
    browser = town.browser()
    browser.post(town.invitation(tenant="acme", role="viewer"), data={"name": "佐藤", "password": PASSWORD})
    assert browser.get("/v1/me").json()["tenant"] == "acme"
    assert browser.get("/v1/me").json()["scopes"] == ["ask", "read"]
    known = browser.get("/v1/me").json()["person"]["tenants"]
    assert [member["tenant"] for member in known] == ["acme", "local"]
    assert "acme" in browser.get("/").text
    assert browser.post("/tenant", data={"tenant": "local"}).status_code == 303
    assert browser.get("/v1/me").json()["scopes"] == ["ask", "read", "records", "write"]
    assert browser.put("/v1/me/tenant", json={"tenant": "acme"}).json() == {
        "tenant": "acme",
        "role": "viewer",
    }
    assert browser.get("/v1/me").json()["tenant"] == "acme"
    for other in ("nothing", "社長"):
        assert browser.put("/v1/me/tenant", json={"tenant": other}).status_code == 404


@pytest.mark.requirement("S-88")
def test_nobody_looks_at_a_tenant_that_they_do_not_belong_to(town: Town) -> None:
    """Issue: tenants are kept apart; it is as if there were no such tenant."""
    add_tenant(town.server, "acme", "test")
    owner = town.signed_in("社長")
    answers = [owner.put("/v1/me/tenant", json={"tenant": name}).json() for name in ("acme", "none")]
    for answer in answers:
        answer.pop("request_id")
    assert answers[0] == {**answers[1], "detail": answers[1]["detail"].replace("none", "acme")}


@pytest.mark.requirement("S-88")
@pytest.mark.parametrize(
    ("role", "scopes"),
    [
        ("viewer", ["ask", "read"]),
        ("reviewer", ["ask", "read", "records"]),
        ("editor", ["ask", "read", "records", "write"]),
        ("owner", ["admin", "ask", "read", "records", "write"]),
    ],
)
def test_a_role_holds_at_once_when_it_changes(town: Town, role: Role, scopes: list[Scope]) -> None:
    """Issue: roles owner, editor, reviewer, viewer."""
    person = town.person("佐藤")
    browser, owner = town.signed_in("佐藤"), town.signed_in("社長")
    assert owner.patch(f"/v1/members/{person}", json={"role": role}).json()["role"] == role
    assert browser.get("/v1/me").json()["scopes"] == scopes
    assert (browser.get("/v1/members").status_code == 200) == (role == "owner")


@pytest.mark.requirement("S-82", "S-88")
def test_who_is_removed_is_out_at_once(town: Town) -> None:
    """Issue 6: with the membership the sign-in ends."""
    person = town.person("佐藤", "owner")
    browser, owner = town.signed_in("佐藤"), town.signed_in("社長")
    assert owner.delete(f"/v1/members/{person}").status_code == 200
    assert browser.get("/v1/me").status_code == 401
    assert town.browser().post("/sign-in", data={"name": "佐藤", "password": PASSWORD}).status_code == 401
    assert owner.delete(f"/v1/members/{person}").status_code == 404


@pytest.mark.requirement("S-87")
def test_the_last_owner_neither_goes_nor_is_demoted(town: Town) -> None:
    """Issue 6."""
    owner = town.signed_in("社長")
    person = owner.get("/v1/me").json()["actor"]
    for answer in (
        owner.delete(f"/v1/members/{person}"),
        owner.patch(f"/v1/members/{person}", json={"role": "viewer"}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "last_owner")
    assert owner.patch(f"/v1/members/{person}", json={"role": "owner"}).status_code == 200


@pytest.mark.requirement("S-88")
def test_another_tenants_people_are_as_ones_that_do_not_exist(town: Town) -> None:
    """Issue: tenant isolation."""
    add_tenant(town.server, "acme", "test")
    foreign = town.person("鈴木", "owner", "acme")
    link = town.signed_in("鈴木", "acme").post("/v1/invitations", json={"name": "x", "role": "viewer"}).json()
    owner = town.signed_in("社長")
    for method, path, body in (
        ("PATCH", "/v1/members/{}", {"role": "viewer"}),
        ("DELETE", "/v1/members/{}", None),
        ("POST", "/v1/members/{}/reset-link", None),
        ("DELETE", "/v1/invitations/{}", None),
    ):
        ids = (foreign if "members" in path else link["invitation_id"], "nothing")
        answers = [owner.request(method, path.format(name), json=body).json() for name in ids]
        for name, answer in zip(ids, answers, strict=True):
            answer.pop("request_id")
            answer["detail"] = answer["detail"].replace(name, "-")
            answer["instance"] = answer["instance"].replace(name, "-")
        assert answers[0] == answers[1]
        assert answers[0]["status"] == 404


@pytest.mark.requirement("S-86")
def test_an_owner_resets_a_forgotten_password(town: Town) -> None:
    """Issue 6: reset link by the owner; old browsers are signed out."""
    person = town.person("佐藤")
    old, owner = town.signed_in("佐藤"), town.signed_in("社長")
    first, second = (
        owner.post(f"/v1/members/{person}/reset-link").json()["url"].removeprefix("http://localhost")
        for _ in range(2)
    )
    assert town.browser().get(first).status_code == 404
    browser = town.browser()
    assert 'value="佐藤"' in browser.get(second).text
    assert browser.post(second, data={"password": "short"}).status_code == 422
    assert browser.post(second, data={"password": "a new and long one"}).status_code == 303
    assert browser.get("/v1/me").json()["name"] == "佐藤"
    assert old.get("/v1/me").status_code == 401
    assert town.browser().post(second, data={"password": "a third and long one"}).status_code == 404
    data = {"name": "佐藤", "password": "a new and long one"}
    assert town.browser().post("/sign-in", data=data).status_code == 303


@pytest.mark.requirement("S-86")
def test_no_owner_comes_into_another_tenant_by_a_reset(town: Town) -> None:
    """Whoever resets a password could sign in with it wherever that person belongs."""
    add_tenant(town.server, "acme", "test")
    person = town.person("佐藤")
    known = town.server.people.person(person)
    assert known is not None
    join(town.server, "acme", known, "owner", "test")
    refused = town.signed_in("社長").post(f"/v1/members/{person}/reset-link")
    assert (refused.status_code, refused.json()["code"]) == (403, "member_elsewhere")


@pytest.mark.requirement("S-86")
def test_a_reset_link_of_somebody_who_was_removed_is_dead(town: Town) -> None:
    """The link outlives nobody."""
    town.person("佐藤")
    member = member_named(town.server, "local", "佐藤")
    _, path = reset_link(town.server, member, "test")
    town.signed_in("社長").delete(f"/v1/members/{member.person.person}")
    assert town.browser().get(path).status_code == 404
    assert town.browser().post(path, data={"password": PASSWORD}).status_code == 404


@pytest.mark.requirement("S-88")
def test_what_is_a_persons_own_is_not_for_programs(town: Town) -> None:
    """A token has no password and no browser."""
    owner = town.signed_in("社長")
    secret = owner.post("/v1/api-tokens", json={"name": "夜間", "scopes": ["admin"]}).json()["secret"]
    program = town.browser()
    program.headers["Authorization"] = f"Bearer {secret}"
    assert program.get("/v1/me").json()["person"] is None
    for answer in (
        program.get("/v1/sign-ins"),
        program.delete("/v1/sign-ins"),
        program.put("/v1/password", json={"new": PASSWORD}),
        program.put("/v1/me/tenant", json={"tenant": "local"}),
        program.put("/v1/me/language", json={"language": "ja"}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (403, "people_only")


@pytest.mark.requirement("S-93")
def test_a_person_chooses_the_language_of_their_pages(town: Town) -> None:
    """`/v1/me/language`."""
    owner = town.signed_in("社長")
    assert owner.put("/v1/me/language", json={"language": "ja"}).json()["person"]["language"] == "ja"
    assert '<html lang="ja"' in owner.get("/").text
