"""How passwords are kept, so that whoever sees what is kept does not know them."""

from __future__ import annotations

from typing import Protocol


class PasswordHasher(Protocol):
    def hashed(self, password: str) -> str:
        """Return what is kept in place of `password`; every time something else."""
        ...

    def is_right(self, password: str, kept: str | None) -> bool:
        """Tell whether `kept` was made of `password`. False for None, after just as much work."""
        ...

    def is_outdated(self, kept: str) -> bool:
        """True where it would be made with other parameters today."""
        ...
