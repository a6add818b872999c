"""Tokens of programs over HTTP."""

from __future__ import annotations

from starlette.testclient import TestClient

from tests.http.conftest import ClientOf


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
