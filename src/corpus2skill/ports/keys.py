"""Keys of the providers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from corpus2skill.domain.provider_key import ProviderKey


class KeyRing(Protocol):
    """Knows the keys there are. Having a key never means that it may be spent with."""

    def key(self, provider: str) -> ProviderKey | None:
        """Return the key of a provider (`anthropic`, `openai`, ...); None where there is none.

        Raises:
            UnusableSettings: a key file that was named cannot be used.
            WorkspaceUnusable, Damaged: a stored key cannot be opened.
        """
        ...

    def address(self, provider: str) -> str | None:
        """Where the owner of the stored key says that the provider answers; None: as the settings say."""
        ...

    def approve(self, address: str) -> None:
        """Look whether the address may be called for the owner of these keys.

        Raises:
            UnusableSettings: it leads into a private network.
            ModelUnavailable: nobody knows now where it leads.
        """
        ...

    @property
    def variables(self) -> Mapping[str, str]:
        """What of the environment counts: addresses, regions and the clouds' own credentials."""
        ...

    @property
    def is_alone(self) -> bool:
        """True where nothing but these keys may pay: not the clouds' own credentials on this machine either."""
        ...

    def revision(self) -> str:
        """Another one as soon as a key or an address is another one."""
        ...
