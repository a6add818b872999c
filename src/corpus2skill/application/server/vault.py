"""Secrets at rest: sealed with the master key that the state was begun with, or was changed to since."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from corpus2skill.domain.credential import Sealed
from corpus2skill.errors import Damaged, Outrun, WorkspaceUnusable
from corpus2skill.ports.ciphers import Cipher, MasterKeys
from corpus2skill.ports.credentials import MasterKeyRecord, SealedThings

Result = TypeVar("Result")

_CHECK = ("master-key-check",)
_TRIES = 5
_AT_ONCE = 100


class Vault:
    """One a process; any thread may use it. Keys are read when first needed, and again when another is wanted."""

    def __init__(self, keys: MasterKeys, record: MasterKeyRecord) -> None:
        self._keys = keys
        self._record = record
        self._ciphers: dict[str, Cipher] = {}
        self._newest: Cipher | None = None
        self._lock = threading.Lock()

    def check(self) -> None:
        """Look, before anything is begun, whether there is a master key and whether it is the right one.

        Raises:
            UnusableSettings: there is none, or it cannot be used.
            WorkspaceUnusable: what is kept was sealed with another one.
        """
        self._reload()
        self._sealing()

    def seal(self, text: str, bound_to: tuple[str, ...]) -> Sealed:
        """Raises: as `check`."""
        return self._sealing().seal(text, bound_to)

    def open(self, sealed: Sealed, bound_to: tuple[str, ...]) -> str:
        """
        Raises:
            Damaged: it was changed, or is bound to something else.
            as `check`.
        """
        return self._opening(sealed.key).open(sealed, bound_to)

    def sealing(self, work: Callable[[], Result]) -> Result:
        """Do `work`, which seals and keeps; again, where the master key was changed in the middle of it."""
        for _ in range(_TRIES - 1):
            try:
                return work()
            except Outrun:
                self._reload()
        return work()

    def rotate(self, stores: Sequence[SealedThings]) -> int:
        """Change the master key and seal everything anew; return how many things that were.

        What was killed is gone on with by the next call. Others may open, seal and keep meanwhile.

        Raises:
            as `check`; and UnusableSettings: the new key has to be put in its place by hand.
        """
        self._reload()
        self._sealing()  # the key there is must be the right one
        if self._newest_cipher() is self._sealing() and len(self._ciphers) == 1:
            self._keys.begin_rotation()
            self._reload()
        newest = self._newest_cipher()
        while (was := self._record.check_value()) is None or was.key != newest.key:
            self._record.replace_check_value(was, newest.seal("", _CHECK))
        resealed = sum(self._reseal(store, newest) for store in stores)
        self._keys.end_rotation()
        self._reload()
        return resealed

    def _reseal(self, store: SealedThings, newest: Cipher) -> int:
        resealed = 0
        while some := store.sealed_otherwise(newest.key, _AT_ONCE):
            for thing in some:
                text = self._opening(thing.sealed.key).open(thing.sealed, thing.bound_to)
                store.reseal(thing, newest.seal(text, thing.bound_to))
            resealed += len(some)
        return resealed

    def _sealing(self) -> Cipher:
        """The cipher that the state says is the master key's; the newest where it says nothing yet."""
        check = self._record.check_value()
        if check is None:
            newest = self._newest_cipher()
            self._record.replace_check_value(None, newest.seal("", _CHECK))
            check = self._record.check_value()
            assert check is not None
        cipher = self._opening(check.key)
        try:
            cipher.open(check, _CHECK)
        except Damaged as error:
            raise WorkspaceUnusable("master_key_wrong") from error
        return cipher

    def _opening(self, key: str) -> Cipher:
        """Raises: WorkspaceUnusable: the key is not among those that were given."""
        if key not in self._ciphers:
            self._reload()
        cipher = self._ciphers.get(key)
        if cipher is None:
            raise WorkspaceUnusable("master_key_wrong")
        return cipher

    def _newest_cipher(self) -> Cipher:
        if self._newest is None:
            self._reload()
        assert self._newest is not None
        return self._newest

    def _reload(self) -> None:
        found = self._keys.ciphers()
        with self._lock:
            self._ciphers = {cipher.key: cipher for cipher in found}
            self._newest = found[0]
