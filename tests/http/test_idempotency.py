"""`Idempotency-Key` over HTTP."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from corpus2skill.application.server_wiring import Server
from tests.http.conftest import ClientOf

TOKENS = "/v1/api-tokens"
WANTED = {"name": "チャット", "scopes": ["ask"]}
KEY = {"Idempotency-Key": "8e03978e-40d5-43e8-bc93-6894a57f9324"}


@pytest.mark.requirement("S-01")
def test_the_same_request_is_carried_out_once_and_answered_the_same(api: TestClient) -> None:
    """interfaces.md: same key and same body, same answer."""
    first = api.post(TOKENS, json=WANTED, headers=KEY)
    again = api.post(TOKENS, json=WANTED, headers=KEY)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.headers["content-type"] == first.headers["content-type"]
    assert len([one for one in api.get(TOKENS).json()["data"] if one["name"] == "チャット"]) == 1


@pytest.mark.requirement("S-01")
def test_another_body_under_the_key_is_refused(api: TestClient) -> None:
    """interfaces.md: other body 422."""
    api.post(TOKENS, json=WANTED, headers=KEY)
    other = api.post(TOKENS, json={**WANTED, "name": "別"}, headers=KEY)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_reused")


def test_while_it_is_under_way_it_is_a_conflict(api: TestClient, server: Server, tmp_path: Path) -> None:
    """interfaces.md: in flight 409; a dead one is freed after a while."""
    first = api.post(TOKENS, json=WANTED, headers=KEY).json()["token_id"]
    with sqlite3.connect(tmp_path / "home" / "state.db") as database:
        database.execute("UPDATE kept_answers SET answer = NULL")
    refused = api.post(TOKENS, json=WANTED, headers=KEY)
    assert (refused.status_code, refused.json()["code"]) == (409, "idempotency_in_flight")
    api.delete(f"{TOKENS}/{first}")
    assert refused.json()["retryable"]
    with sqlite3.connect(tmp_path / "home" / "state.db") as database:
        database.execute("UPDATE kept_answers SET began_at = '2026-01-01T00:00:00.000Z'")
    assert api.post(TOKENS, json=WANTED, headers=KEY).status_code == 201


def test_another_caller_s_key_is_their_own(api: TestClient, client_of: ClientOf) -> None:
    """interfaces.md: same caller."""
    first = api.post(TOKENS, json=WANTED, headers=KEY).json()["token_id"]
    assert client_of("acme").post(TOKENS, json=WANTED, headers=KEY).json()["token_id"] != first
    api.delete(f"{TOKENS}/{first}")
    assert client_of("local").post(TOKENS, json=WANTED, headers=KEY).json()["token_id"] != first


def test_a_refused_request_leaves_its_key_free(api: TestClient) -> None:
    """It did nothing: mended, it may come under the same key."""
    assert api.post(TOKENS, json={"name": ""}, headers=KEY).status_code == 422
    assert api.post(TOKENS, json=WANTED, headers=KEY).status_code == 201


@pytest.mark.parametrize("key", ["", "x" * 256, "鍵".encode().decode("latin-1")])
def test_what_is_no_key_is_refused(api: TestClient, key: str) -> None:
    """RFC 8941 strings are printable ASCII."""
    refused = api.post(TOKENS, json=WANTED, headers={"Idempotency-Key": key.encode("latin-1")})  # type: ignore[dict-item]
    assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_key")


def test_who_is_not_signed_in_is_told_so_first(api: TestClient) -> None:
    """Nothing is kept of strangers."""
    headers = {**KEY, "Authorization": "Bearer c2s_nobody"}
    assert api.post(TOKENS, json=WANTED, headers=headers).status_code == 401


def test_what_is_sent_to_where_files_go_is_not_read_for_the_key_s_sake(
    api: TestClient, client_of: ClientOf
) -> None:
    """Issue 6: an upload may be endless. Under a key and another content type nothing of it is held in memory."""
    api.post("/v1/corpora", json={"corpus": "kb"})

    def endless() -> Generator[bytes]:
        yield from (b"x" * 1_000 for _ in range(100))
        raise AssertionError("all of it was read")

    reader = client_of("local", "read")
    headers = {**KEY, "Content-Type": "text/plain"}
    refused = reader.post("/v1/corpora/kb/documents", content=endless(), headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed")


@pytest.mark.requirement("S-01")
def test_a_secret_that_was_answered_is_not_to_be_read_in_the_database(
    api: TestClient, tmp_path: Path
) -> None:
    """Issue 6: tokens are shown once; what is kept opens with the caller's own credential alone."""
    secret = api.post(TOKENS, json=WANTED, headers=KEY).json()["secret"]
    for file in (tmp_path / "home").glob("state.db*"):
        data = file.read_bytes()
        assert secret.encode() not in data
        assert KEY["Idempotency-Key"].encode() not in data
