"""A provider's key, kept from being shown by accident."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderKey:
    """The secret that pays for calls. Neither `str` nor `repr` shows it; `secret` is read where it is sent."""

    secret: str = field(repr=False)
    source: str
    """Where it came from, for people: a variable's name, a file, the keyring."""
