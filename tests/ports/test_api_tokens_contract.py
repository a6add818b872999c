"""What the store of API tokens promises, on both databases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.api_tokens import SqlTokenStore
from corpus2skill.domain.api_token import ApiToken
from corpus2skill.errors import Conflict, ThingNotFound
from corpus2skill.ports.api_tokens import TokenStore
from tests.ports.state import state as state

NOW, LATER = "2026-04-01T09:00:00.000Z", "2026-04-01T09:00:01.000Z"


@pytest.fixture
def store(state: Database) -> TokenStore:
    return SqlTokenStore(state)


def token(name: str, tenant: str = "acme") -> ApiToken:
    return ApiToken(
        token=f"token_{name}",
        tenant=tenant,
        name=f"チャット {name}",
        scopes=frozenset(("ask", "read")),
        beginning="c2s_abcd",
        created_at=NOW,
        created_by="user_1",
        expires_at=None,
    )


def test_a_new_store_is_empty(store: TokenStore) -> None:
    """Looking makes nothing."""
    assert store.tokens("acme") == ()
    assert store.by_digest("0" * 64) is None


def test_a_token_is_found_by_its_digest_and_its_tenant(store: TokenStore) -> None:
    """Promised by the port: oldest first."""
    store.add(token("b"), "b" * 64)
    store.add(token("a"), "a" * 64)
    store.add(token("c", "other"), "c" * 64)
    assert store.by_digest("a" * 64) == token("a")
    assert store.by_digest("c" * 64) == token("c", "other")
    assert store.tokens("acme") == (token("a"), token("b"))


def test_a_token_is_revoked_once_and_for_good(store: TokenStore) -> None:
    """Promised by the port: one that was revoked before keeps its time."""
    store.add(token("a"), "a" * 64)
    revoked = store.revoke("acme", "token_a", NOW)
    assert revoked == replace(token("a"), revoked_at=NOW)
    assert store.revoke("acme", "token_a", LATER) == revoked
    assert store.by_digest("a" * 64) == revoked


def test_another_tenant_s_token_is_as_one_that_does_not_exist(store: TokenStore) -> None:
    """Issue 6: tenants are kept apart."""
    store.add(token("a"), "a" * 64)
    for tenant, name in (("other", "token_a"), ("acme", "token_none")):
        with pytest.raises(ThingNotFound):
            store.revoke(tenant, name, NOW)
    assert store.tokens("acme") == (token("a"),)


def test_the_last_use_is_noted(store: TokenStore) -> None:
    """Promised by the port."""
    store.add(token("a"), "a" * 64)
    store.touch("token_a", LATER)
    store.touch("token_none", LATER)
    assert store.tokens("acme") == (replace(token("a"), last_used_at=LATER),)


@pytest.mark.requirement("S-89")
def test_a_name_belongs_to_one_living_token(store: TokenStore) -> None:
    """Promised by the port: one that was revoked or has run out frees its name; other tenants have their own."""
    store.add(replace(token("a"), name="夜間", expires_at=LATER), "a" * 64)
    store.add(replace(token("x", "other"), name="夜間"), "x" * 64)
    with pytest.raises(Conflict, match="token_name_taken"):
        store.add(replace(token("b"), name="夜間"), "b" * 64)
    store.add(replace(token("c"), name="夜間", created_at=LATER), "c" * 64)
    store.revoke("acme", "token_c", LATER)
    store.add(replace(token("d"), name="夜間", created_at=LATER), "d" * 64)
