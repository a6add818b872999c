"""Tokens of programs over HTTP."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from corpus2skill.adapters.store.state.api_tokens import SqlTokenStore
from corpus2skill.application.server.sign_in import bearer, new_token
from corpus2skill.domain.api_token import ApiToken
from tests.http.conftest import ClientOf
from tests.http.people import Town


def test_a_token_is_shown_once_and_works_until_it_is_revoked(api: TestClient) -> None:
    """Issue: API tokens hashed, shown once, scoped, revocable."""
    made = api.post("/v1/api-tokens", json={"name": "チャット", "scopes": ["ask", "read"]})
    assert made.status_code == 201
    secret = made.json()["secret"]
    headers = {"Authorization": f"Bearer {secret}"}
    assert api.get("/v1/me", headers=headers).json()["scopes"] == ["ask", "read"]
    assert secret not in api.get("/v1/api-tokens").text
    assert api.delete(f"/v1/api-tokens/{made.json()['token_id']}").json()["revoked_at"]
    assert api.get("/v1/me", headers=headers).status_code == 401


def test_what_a_token_may_not_do_is_refused_in_the_askers_language(client_of: ClientOf) -> None:
    """RFC 9457 problems, in both languages."""
    reader = client_of("local", "read")
    refused = reader.get("/v1/api-tokens", headers={"Accept-Language": "ja,en;q=0.5"})
    assert refused.status_code == 403
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["code"] == "not_allowed"
    assert "権限「admin」" in refused.json()["detail"]


def test_another_tenants_token_is_as_one_that_does_not_exist(client_of: ClientOf) -> None:
    """Issue: tenant isolation."""
    ours, theirs = client_of("local"), client_of("acme")
    mine = ours.post("/v1/api-tokens", json={"name": "a", "scopes": ["ask"]}).json()["token_id"]
    foreign = theirs.delete(f"/v1/api-tokens/{mine}")
    assert foreign.status_code == 404
    assert theirs.delete("/v1/api-tokens/token_nothing").status_code == 404


@pytest.mark.requirement("S-89")
def test_nobody_gives_a_token_more_than_they_have(client_of: ClientOf) -> None:
    """Issue 6: scopes never beyond the maker's own."""
    admin = client_of("local", "admin", "read")
    refused = admin.post("/v1/api-tokens", json={"name": "a", "scopes": ["read", "write"]})
    assert (refused.status_code, refused.json()["code"]) == (403, "beyond_own_scopes")
    assert admin.post("/v1/api-tokens", json={"name": "a", "scopes": ["read"]}).status_code == 201


@pytest.mark.requirement("S-89")
def test_a_name_belongs_to_one_token_in_use(api: TestClient) -> None:
    """Issue 6: unique among the living."""
    wanted = {"name": "夜間", "scopes": ["read"]}
    made = api.post("/v1/api-tokens", json=wanted).json()
    taken = api.post("/v1/api-tokens", json=wanted)
    assert (taken.status_code, taken.json()["code"]) == (409, "token_name_taken")
    api.delete(f"/v1/api-tokens/{made['token_id']}")
    assert api.post("/v1/api-tokens", json=wanted).status_code == 201


@pytest.mark.requirement("S-89")
def test_a_token_runs_out(tmp_path: Path) -> None:
    """Issue 6: expiry."""
    town = Town(tmp_path / "home")
    town.person("社長", "owner")
    owner = town.signed_in("社長")
    wanted = {"name": "a", "scopes": ["read"], "expires_at": "2026-04-01T18:00:10+09:00"}
    made = owner.post("/v1/api-tokens", json=wanted).json()
    assert made["expires_at"] == "2026-04-01T09:00:10.000Z"
    program = town.browser()
    program.headers["Authorization"] = f"Bearer {made['secret']}"
    assert program.get("/v1/me").status_code == 200
    town.clock.advance(10)
    assert program.get("/v1/me").status_code == 401
    for time, code in (("2026-04-01", "already_over"), ("tomorrow", "not_a_time")):
        refused = owner.post("/v1/api-tokens", json={**wanted, "expires_at": time})
        assert (refused.status_code, refused.json()["code"]) == (422, code)


@pytest.mark.requirement("S-89")
def test_its_last_use_is_told_to_the_minute_and_written_once_a_minute(tmp_path: Path) -> None:
    """Issue 6: no write per request."""
    town = Town(tmp_path / "home")
    _, secret = new_token(town.server, "local", "a", ["read"], "test")
    touched: list[str] = []
    real = town.server.tokens

    class Counting(SqlTokenStore):
        def __init__(self) -> None:
            pass

        def by_digest(self, digest: str) -> ApiToken | None:
            return real.by_digest(digest)

        def touch(self, token: str, at: str) -> None:
            touched.append(at)
            real.touch(token, at)

    server = replace(town.server, tokens=Counting())
    for seconds in (0, 20, 30, 20):
        town.clock.advance(seconds)
        bearer(server, secret)
    assert touched == ["2026-04-01T09:00:00.000Z", "2026-04-01T09:01:00.000Z"]
    assert real.tokens("local")[0].last_used_at == touched[-1]
