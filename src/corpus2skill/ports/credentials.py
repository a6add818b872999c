"""Where customers' keys of providers are kept, sealed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from corpus2skill.domain.credential import Credential, CredentialTest, Sealed


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A credential with what opens to its key; None where its address wants none."""

    credential: Credential
    sealed: Sealed | None


class CredentialStore(Protocol):
    def held(self, tenant: str, provider: str) -> Held | None:
        """None where the tenant has no key of the provider."""
        ...

    def credentials(self, tenant: str) -> tuple[Credential, ...]:
        """By the providers' names."""
        ...

    def change(
        self, tenant: str, provider: str, turn: Callable[[Held | None], Held | None]
    ) -> Credential | None:
        """Replace what is held by what `turn` makes of it; None leaves it, and None is returned.

        No two changes of a credential are made at the same time. When it was last used and tried stays.

        Raises:
            Outrun: it was sealed with a key that is the master key no longer; nothing was changed.
        """
        ...

    def remove(self, tenant: str, provider: str) -> Credential:
        """Raises: ThingNotFound: the tenant has no key of the provider."""
        ...

    def touch(self, tenant: str, provider: str, at: str) -> None:
        """Note when a key was last used. What is lost in a power cut is only the note."""
        ...

    def note_test(self, tenant: str, provider: str, revision: str, test: CredentialTest) -> None:
        """Note what came of a test; of a credential that was changed meanwhile nothing is noted."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedThing:
    """One sealed value, with what it is bound to."""

    name: tuple[str, ...]
    """How its store finds it again."""
    bound_to: tuple[str, ...]
    sealed: Sealed


class SealedThings(Protocol):
    """A store with sealed values in it, for the change of the master key."""

    def sealed_otherwise(self, key: str, limit: int) -> tuple[SealedThing, ...]:
        """Some of those that were sealed with another key than this one, of all tenants."""
        ...

    def reseal(self, thing: SealedThing, sealed: Sealed) -> None:
        """Put `sealed` in the place of the thing; nothing where it is not what it was any more."""
        ...


class MasterKeyRecord(Protocol):
    """What the state knows of its master key: a value that only that one opens."""

    def check_value(self) -> Sealed | None:
        """None before something was first sealed."""
        ...

    def replace_check_value(self, was: Sealed | None, becomes: Sealed) -> bool:
        """Put one check value in another's place; False where another one stands there by now."""
        ...
