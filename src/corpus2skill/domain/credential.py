"""A customer's key of a provider, as it is kept and shown: never the key itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from corpus2skill.errors import InvalidInput

PROVIDERS = ("anthropic", "openai", "azure", "bedrock", "vertex")
"""Whose keys are kept."""
KEYLESS = frozenset({"anthropic", "openai"})
"""An address of one's own may do without a key there; the others' SDKs would look for credentials by themselves."""
MOST_CHARACTERS = 4_096
_SHOWN = 4
_SHORTEST_SHOWN = 16
"""Of a shorter key four characters would tell too much."""
Plain = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """Something encrypted. It says which master key opens it."""

    key: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialTest:
    """What came of one little call that was made to try a key."""

    at: str
    model: str
    ms: int
    said: str = ""
    """The beginning of the reply."""
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float | None = 0.0
    """None: the price is unknown."""
    code: str | None = None
    """Of the error, where the call failed."""
    values: Mapping[str, Plain] = field(default_factory=dict[str, Plain])

    @property
    def is_good(self) -> bool:
        return self.code is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """A tenant's key of one provider; at most one of each."""

    tenant: str
    provider: str
    revision: str
    """Another one as soon as the key or the address is another one."""
    created_at: str
    changed_at: str
    """When the key itself was last stored."""
    changed_by: str
    label: str | None = None
    base_url: str | None = None
    """Where the provider answers; None: where it usually does."""
    has_secret: bool = True
    """False for an address that wants no key."""
    last_four: str = ""
    """Empty for a short key."""
    last_used_at: str | None = None
    last_test: CredentialTest | None = None


def checked_secret(text: str) -> str:
    """Return a key as it is kept; "" where there is none in it.

    Raises:
        InvalidInput: it does not fit into a header.
    """
    secret = text.strip()
    if len(secret) > MOST_CHARACTERS:
        raise InvalidInput("key_too_long", most=MOST_CHARACTERS)
    if not secret.isascii() or not secret.isprintable() or " " in secret:
        raise InvalidInput("key_unusable")
    return secret


def last_four(secret: str) -> str:
    return secret[-_SHOWN:] if len(secret) >= _SHORTEST_SHOWN else ""


def bound_to(tenant: str, provider: str) -> tuple[str, ...]:
    """What a sealed key is bound to: copied to another tenant or provider it cannot be opened."""
    return ("provider-credential", tenant, provider)
