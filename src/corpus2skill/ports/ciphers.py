"""What seals and opens."""

from __future__ import annotations

from typing import Protocol

from corpus2skill.domain.credential import Sealed


class Cipher(Protocol):
    """Seals with one master key."""

    @property
    def key(self) -> str:
        """Which key it is; nothing can be opened with this."""
        ...

    def seal(self, text: str, bound_to: tuple[str, ...]) -> Sealed: ...

    def open(self, sealed: Sealed, bound_to: tuple[str, ...]) -> str:
        """
        Raises:
            Damaged: it was sealed with another key, was changed, or is bound to something else.
        """
        ...


class MasterKeys(Protocol):
    """Where the master key comes from."""

    def ciphers(self) -> tuple[Cipher, ...]:
        """The newest key first; older ones only open. Read anew each time.

        Raises:
            UnusableSettings: there is none, it has another form, or others may read it.
            WorkspaceUnusable: its file cannot be read or, where it makes its own, written.
        """
        ...

    def begin_rotation(self) -> None:
        """Put a new key before the one there is; the old one opens what it has sealed.

        Raises:
            UnusableSettings: it comes from where nothing can be written: the new one has to be put there by hand.
        """
        ...

    def end_rotation(self) -> None:
        """Forget all keys but the newest, where this is what keeps them."""
        ...
