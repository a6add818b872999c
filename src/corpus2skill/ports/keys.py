"""Keys of the providers."""

from __future__ import annotations

from typing import Protocol

from corpus2skill.domain.provider_key import ProviderKey


class KeyRing(Protocol):
    """Knows the keys there are. Having a key never means that it may be spent with."""

    def key(self, provider: str) -> ProviderKey | None:
        """Return the key of a provider (`anthropic`, `openai`, ...); None where there is none.

        Raises:
            UnusableSettings: a key file that was named cannot be used.
        """
        ...
