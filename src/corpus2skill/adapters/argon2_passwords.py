"""Passwords as argon2id keeps them."""

from __future__ import annotations

import threading

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from corpus2skill.domain.password import password_as_kept

_AT_ONCE = 2
"""Each takes a core and its memory: many who sign in wait for each other, not everybody for them."""


class Argon2Passwords:
    """`ports.passwords.PasswordHasher`. Parameters of OWASP's cheat sheet: 19 MiB, 2 passes, 1 lane (RFC 9106)."""

    def __init__(self, memory_kib: int = 19_456, passes: int = 2) -> None:
        self._argon2 = PasswordHasher(time_cost=passes, memory_cost=memory_kib, parallelism=1)
        self._turn = threading.BoundedSemaphore(_AT_ONCE)
        self._nobodys: str | None = None

    def hashed(self, password: str) -> str:
        with self._turn:
            return self._argon2.hash(_bytes(password))

    def is_right(self, password: str, kept: str | None) -> bool:
        nobodys = self._nobody()  # made by the first who asks, whoever is tried
        compared = nobodys if kept is None else kept
        with self._turn:
            try:
                return self._argon2.verify(compared, _bytes(password)) and kept is not None
            except (VerificationError, InvalidHashError):
                return False

    def is_outdated(self, kept: str) -> bool:
        return self._argon2.check_needs_rehash(kept)

    def _nobody(self) -> str:
        """What is compared with where there is nobody: as much work as for somebody."""
        if self._nobodys is None:
            self._nobodys = self.hashed("nobody has this password")
        return self._nobodys


def _bytes(password: str) -> bytes:
    return password_as_kept(password).encode("utf-8", "surrogatepass")
