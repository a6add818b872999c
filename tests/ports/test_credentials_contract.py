"""What the stores of customers' keys, of the master key's check and of tenants' settings promise, on both databases."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.credentials import SqlCredentialStore, SqlMasterKeyRecord
from corpus2skill.adapters.store.state.tenant_settings import SqlTenantSettings
from corpus2skill.domain.credential import Credential, CredentialTest, Sealed
from corpus2skill.domain.tenant_settings import TenantSettings
from corpus2skill.errors import Outrun, ThingNotFound
from corpus2skill.ports.credentials import Held
from tests.ports.state import state as state

NOW, LATER = "2026-04-01T09:00:00.000Z", "2026-04-01T09:00:01.000Z"


@pytest.fixture
def store(state: Database) -> SqlCredentialStore:
    assert SqlMasterKeyRecord(state).replace_check_value(None, Sealed(key="k1", text="check"))
    return SqlCredentialStore(state)


def held(provider: str = "anthropic", tenant: str = "acme", key: str = "k1", text: str = "秘") -> Held:
    credential = Credential(
        tenant=tenant,
        provider=provider,
        revision=f"key_{text}",
        created_at=NOW,
        changed_at=NOW,
        changed_by="user_1",
        label="本番",
        base_url="https://llm.example.jp/v1",
        last_four="wxyz",
    )
    return Held(credential=credential, sealed=Sealed(key=key, text=text))


def put(store: SqlCredentialStore, wanted: Held) -> None:
    one = wanted.credential
    store.change(one.tenant, one.provider, lambda _was: wanted)


@pytest.mark.requirement("S-96")
def test_a_new_store_is_empty(state: Database) -> None:
    """Looking makes nothing."""
    store = SqlCredentialStore(state)
    assert store.held("acme", "anthropic") is None
    assert store.credentials("acme") == ()
    assert SqlMasterKeyRecord(state).check_value() is None
    assert SqlTenantSettings(state).settings("acme") == TenantSettings()


@pytest.mark.requirement("S-96")
def test_a_credential_is_its_tenants_and_providers_alone(store: SqlCredentialStore) -> None:
    """Promised by the port: by the providers' names."""
    for provider, tenant in (("openai", "acme"), ("anthropic", "acme"), ("openai", "other")):
        put(store, held(provider, tenant))
    assert [one.provider for one in store.credentials("acme")] == ["anthropic", "openai"]
    assert store.held("acme", "openai") == held("openai")
    assert store.held("other", "anthropic") is None
    assert store.remove("other", "openai") == held("openai", "other").credential
    with pytest.raises(ThingNotFound):
        store.remove("other", "openai")
    assert len(store.credentials("acme")) == 2


@pytest.mark.requirement("S-96")
def test_a_change_leaves_when_a_key_was_used_and_tried(store: SqlCredentialStore) -> None:
    """Promised by the port; a test of an older key is not noted."""
    put(store, held())
    test = CredentialTest(at=NOW, model="anthropic:m", ms=3, said="はい", dollars=None)
    store.touch("acme", "anthropic", NOW)
    store.note_test("acme", "anthropic", "key_秘", test)
    put(store, held(text="新"))
    store.note_test("acme", "anthropic", "key_秘", replace(test, said="いいえ"))
    found = store.held("acme", "anthropic")
    assert found is not None
    assert (found.credential.last_used_at, found.credential.last_test) == (NOW, test)
    assert found.sealed == Sealed(key="k1", text="新")


@pytest.mark.requirement("S-97")
def test_nothing_is_kept_that_was_sealed_with_another_key_than_the_master_key(
    store: SqlCredentialStore, state: Database
) -> None:
    """Rotation may not leave a value behind that nobody opens any more."""
    with pytest.raises(Outrun):
        put(store, held(key="k2"))
    assert store.held("acme", "anthropic") is None
    put(store, held())
    record = SqlMasterKeyRecord(state)
    was = record.check_value()
    assert not record.replace_check_value(None, Sealed(key="k2", text="b"))
    assert record.replace_check_value(was, Sealed(key="k2", text="b"))
    assert not record.replace_check_value(was, Sealed(key="k3", text="c"))
    (thing,) = store.sealed_otherwise("k2", 10)
    assert (thing.name, thing.sealed.text) == (("acme", "anthropic"), "秘")
    store.reseal(thing, Sealed(key="k2", text="d"))
    store.reseal(thing, Sealed(key="k2", text="e"))
    found = store.held("acme", "anthropic")
    assert found is not None
    assert found.sealed == Sealed(key="k2", text="d")
    assert store.sealed_otherwise("k2", 10) == ()


@pytest.mark.requirement("S-96")
def test_two_writers_of_one_credential_are_both_heard(store: SqlCredentialStore) -> None:
    """No two changes are made at the same time: each sees what the other made."""
    put(store, held(text=""))

    def add(letter: str) -> None:
        def turn(was: Held | None) -> Held:
            assert was is not None
            assert was.sealed is not None
            return replace(was, sealed=Sealed(key="k1", text=was.sealed.text + letter))

        for _ in range(5):
            store.change("acme", "anthropic", turn)

    writers = [threading.Thread(target=add, args=(letter,)) for letter in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    found = store.held("acme", "anthropic")
    assert found is not None
    assert found.sealed is not None
    assert sorted(found.sealed.text) == list("aaaaabbbbb")


@pytest.mark.requirement("S-103")
def test_settings_are_a_tenants_own_and_count_their_changes(state: Database) -> None:
    """Promised by the port: the same values again are no change."""
    store = SqlTenantSettings(state)
    was, becomes = store.change("acme", lambda _was: {"model": "offline", "month_cost": 5.0})
    assert (was.revision, becomes.revision) == (0, 1)
    assert store.change("acme", lambda was: dict(was.values)) == (becomes, becomes)
    store.change("acme", lambda was: {**was.values, "model": "anthropic"})
    assert store.settings("acme") == TenantSettings(
        values={"model": "anthropic", "month_cost": 5.0}, revision=2
    )
    assert store.settings("other") == TenantSettings()


@pytest.mark.requirement("S-103")
def test_of_two_who_change_settings_neither_undoes_the_other(state: Database) -> None:
    """Each change is made to what is there then."""
    store = SqlTenantSettings(state)

    def count(name: str) -> None:
        for _ in range(10):
            store.change("acme", lambda was: {**was.values, name: int(was.values.get(name, 0)) + 1})

    writers = [threading.Thread(target=count, args=(name,)) for name in ("a", "b")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert store.settings("acme") == TenantSettings(values={"a": 10, "b": 10}, revision=20)
