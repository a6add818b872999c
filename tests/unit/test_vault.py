"""The master key: where it comes from, what it opens, and how it is changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.adapters.keys.ciphers import AesCipher, cipher_of, new_master_key
from corpus2skill.adapters.keys.master_keys import VARIABLE, FileKeys, NoKeys, VariableKeys
from corpus2skill.adapters.store.state.credentials import SqlCredentialStore, SqlMasterKeyRecord
from corpus2skill.adapters.store.state.state_database import open_state, state_url
from corpus2skill.application.server.vault import Vault
from corpus2skill.domain.credential import Credential, Sealed, bound_to
from corpus2skill.errors import Damaged, UnusableSettings, WorkspaceUnusable
from corpus2skill.ports.ciphers import MasterKeys
from corpus2skill.ports.credentials import Held, SealedThing

CIPHER = AesCipher(b"k" * 32)
SECRET = "sk-秘密-0123456789"


class Rig:
    """A vault over a real state, and the store that it seals for."""

    def __init__(self, home: Path, keys: MasterKeys) -> None:
        self.state = open_state(state_url(home, None))
        self.store = SqlCredentialStore(self.state)
        self.vault = Vault(keys, SqlMasterKeyRecord(self.state))

    def keep(self, tenant: str, secret: str) -> None:
        def store() -> None:
            sealed = self.vault.seal(secret, bound_to(tenant, "openai"))
            credential = Credential(
                tenant=tenant,
                provider="openai",
                revision="key_1",
                created_at="",
                changed_at="",
                changed_by="",
            )
            held = Held(credential=credential, sealed=sealed)
            self.store.change(tenant, "openai", lambda _was: held)

        self.vault.sealing(store)

    def secret(self, tenant: str) -> str:
        held = self.store.held(tenant, "openai")
        assert held is not None
        assert held.sealed is not None
        return self.vault.open(held.sealed, bound_to(tenant, "openai"))


@pytest.fixture
def rig_of(tmp_path: Path) -> Callable[[MasterKeys], Rig]:
    return lambda keys: Rig(tmp_path, keys)


@given(st.text(), st.lists(st.text(), max_size=3))
@example("sk-日本語\n", ["テナント", ""])
def test_what_is_sealed_opens_with_what_it_is_bound_to_alone(text: str, bound: list[str]) -> None:
    """Issue: encrypted at rest, bound to tenant and provider."""
    sealed = CIPHER.seal(text, tuple(bound))
    assert CIPHER.open(sealed, tuple(bound)) == text
    for other in ((*bound, ""), (*bound, "x"), tuple(reversed([*bound, "y"]))):
        with pytest.raises(Damaged, match="sealed_damaged"):
            CIPHER.open(sealed, other)


@pytest.mark.requirement("S-97")
def test_a_row_that_is_copied_to_another_tenant_does_not_open(rig_of: Callable[[MasterKeys], Rig]) -> None:
    """Issue 6: tenant and provider are associated data."""
    rig = rig_of(VariableKeys({VARIABLE: new_master_key()}))
    rig.keep("acme", SECRET)
    held = rig.store.held("acme", "openai")
    assert held is not None
    copied = replace(held, credential=replace(held.credential, tenant="other"))
    rig.store.change("other", "openai", lambda _was: copied)
    assert rig.secret("acme") == SECRET
    with pytest.raises(Damaged):
        rig.secret("other")


@pytest.mark.requirement("S-97")
def test_nothing_of_a_secret_or_key_stands_in_any_file(
    tmp_path: Path, rig_of: Callable[[MasterKeys], Rig]
) -> None:
    """Field report 21: no keys in plain text."""
    key = new_master_key()
    rig = rig_of(VariableKeys({VARIABLE: key}))
    rig.keep("acme", SECRET)
    rig.state.close()
    found = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert SECRET.encode() not in found
    assert key.encode() not in found


@pytest.mark.requirement("S-98")
@pytest.mark.parametrize("text", ["", "short", "ä" * 43, "x" * 44, new_master_key() + "AAAA", "zz" * 32])
def test_what_is_no_master_key_is_refused_and_not_shown(text: str) -> None:
    """Bad input: a master key of another form."""
    with pytest.raises(UnusableSettings, match="master_key_form") as caught:
        VariableKeys({VARIABLE: text}).ciphers()
    assert not text or text not in str(caught.value)


@pytest.mark.requirement("S-98")
def test_a_master_key_is_taken_in_the_forms_that_programs_print() -> None:
    """`openssl rand -base64 32`, `-hex 32`, and our own."""
    key = bytes(range(224, 256))
    hexadecimal = key.hex()
    forms = (hexadecimal, hexadecimal.upper(), "4OHi4+Tl5ufo6err7O3u7/Dx8vP09fb3+Pn6+/z9/v8=")
    assert {cipher_of(form, "-").key for form in forms} == {AesCipher(key).key}
    assert cipher_of(new_master_key(), "-").key != AesCipher(key).key


@pytest.mark.requirement("S-98")
@pytest.mark.skipif(os.name != "posix", reason="rights of files are POSIX's")
def test_a_key_file_of_ones_own_is_made_for_its_owner_alone_and_refused_when_others_read_it(
    tmp_path: Path,
) -> None:
    """Issue: the embedded default makes one with mode 0600."""
    file = tmp_path / "家" / "master.key"
    keys = FileKeys(file, is_own=True)
    made = keys.ciphers()
    assert [cipher.key for cipher in made] == [cipher.key for cipher in keys.ciphers()]
    assert file.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in file.parent.iterdir()] == ["master.key"]
    file.chmod(0o640)
    with pytest.raises(UnusableSettings, match=r"master_key_readable.*0640"):
        keys.ciphers()
    assert FileKeys(file, is_own=False).ciphers()[0].key == made[0].key
    file.chmod(0o644)
    with pytest.raises(UnusableSettings, match="master_key_readable"):
        FileKeys(file, is_own=False).ciphers()


@pytest.mark.requirement("S-98")
def test_where_one_must_be_given_none_is_made(tmp_path: Path) -> None:
    """Issue: a master key which the server refuses to start without."""
    with pytest.raises(UnusableSettings, match="master_key_wanted"):
        NoKeys().ciphers()
    with pytest.raises(UnusableSettings, match="master_key_file_missing"):
        FileKeys(tmp_path / "none", is_own=False).ciphers()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.requirement("S-98")
def test_another_master_key_is_noticed_before_anything_is_begun(
    rig_of: Callable[[MasterKeys], Rig],
) -> None:
    """Issue, bad input: a master key that changed."""
    first, second = new_master_key(), new_master_key()
    right = rig_of(VariableKeys({VARIABLE: first}))
    right.vault.check()
    wrong = rig_of(VariableKeys({VARIABLE: second}))
    with pytest.raises(WorkspaceUnusable, match="master_key_wrong"):
        wrong.vault.check()
    with pytest.raises(WorkspaceUnusable, match="master_key_wrong"):
        wrong.keep("acme", SECRET)
    rig_of(VariableKeys({VARIABLE: f"{second},{first}"})).vault.check()
    rig_of(VariableKeys({VARIABLE: first})).vault.check()


@pytest.mark.requirement("S-99")
def test_the_key_in_a_file_is_changed_while_others_go_on(
    tmp_path: Path, rig_of: Callable[[MasterKeys], Rig]
) -> None:
    """Issue 6: old and new key are both accepted while it is changed."""
    file = tmp_path / "master.key"
    rig, running = rig_of(FileKeys(file, is_own=True)), rig_of(FileKeys(file, is_own=True))
    for number in range(3):
        running.keep(f"tenant{number}", f"{SECRET}{number}")
    before = file.read_text(encoding="ascii")
    assert rig.vault.rotate([rig.store]) == 3
    after = file.read_text(encoding="ascii")
    assert before not in after
    assert len(after.split()) == 1
    assert [running.secret(f"tenant{number}") for number in range(3)] == [
        f"{SECRET}{number}" for number in range(3)
    ]
    running.keep("late", "sk-late")
    assert rig.secret("late") == "sk-late"
    assert rig_of(FileKeys(file, is_own=True)).secret("tenant0") == f"{SECRET}0"


@pytest.mark.requirement("S-99")
def test_a_key_in_the_environment_is_changed_by_hand(rig_of: Callable[[MasterKeys], Rig]) -> None:
    """The variable is the operator's: the new key stands before the old one for a while."""
    old, new = new_master_key(), new_master_key()
    rig = rig_of(VariableKeys({VARIABLE: old}))
    rig.keep("acme", SECRET)
    with pytest.raises(UnusableSettings, match="master_key_by_hand"):
        rig.vault.rotate([rig.store])
    both = rig_of(VariableKeys({VARIABLE: f"{new}, {old}"}))
    assert both.secret("acme") == SECRET
    both.keep("second", SECRET)  # sealed with the old one: the state knows no other yet
    assert rig.secret("second") == SECRET
    assert both.vault.rotate([both.store]) == 2
    assert both.vault.rotate([both.store]) == 0
    assert rig_of(VariableKeys({VARIABLE: new})).secret("acme") == SECRET
    with pytest.raises(WorkspaceUnusable):
        rig_of(VariableKeys({VARIABLE: old})).vault.check()


class Killed(Exception):
    pass


class DyingStore:
    """Dies after so many of its steps."""

    def __init__(self, store: SqlCredentialStore, steps: int) -> None:
        self._store = store
        self._steps = steps

    def _step(self) -> None:
        self._steps -= 1
        if self._steps < 0:
            raise Killed

    def sealed_otherwise(self, key: str, limit: int) -> tuple[SealedThing, ...]:
        self._step()
        return self._store.sealed_otherwise(key, limit)

    def reseal(self, thing: SealedThing, sealed: Sealed) -> None:
        self._step()
        self._store.reseal(thing, sealed)


@pytest.mark.requirement("S-99")
@pytest.mark.parametrize("steps", range(6))
def test_a_change_that_was_killed_is_gone_on_with(
    tmp_path: Path, rig_of: Callable[[MasterKeys], Rig], steps: int
) -> None:
    """Issue 6: kill-safe, resumable; nothing is unreadable in between, and no third key is made."""
    file = tmp_path / "master.key"
    rig = rig_of(FileKeys(file, is_own=True))
    for number in range(4):
        rig.keep(f"t{number}", f"{SECRET}{number}")
    with pytest.raises(Killed):
        rig.vault.rotate([DyingStore(rig.store, steps)])
    between = file.read_text(encoding="ascii").split()
    assert len(between) == 2
    again = rig_of(FileKeys(file, is_own=True))
    assert [again.secret(f"t{number}") for number in range(4)] == [f"{SECRET}{n}" for n in range(4)]
    again.keep("meanwhile", "sk-x")
    again.vault.rotate([again.store])
    assert file.read_text(encoding="ascii").split() == between[:1]
    last = rig_of(FileKeys(file, is_own=True))
    assert [last.secret(f"t{number}") for number in range(4)] == [f"{SECRET}{n}" for n in range(4)]
    assert last.secret("meanwhile") == "sk-x"
