"""Answers to requests that carry a key of the caller's, kept so that a repeated one does nothing twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request, known again by the digest of its key."""

    tenant: str
    actor: str
    route: str
    """Method and path."""
    key: str
    """Digest of the caller's key."""
    body: str
    """Digest of what was sent."""


Beginning = Literal["new", "in_flight", "other_body"]


class KeptAnswers(Protocol):
    def begin(self, asked: Asked, at: str, stale_before: str, kept_after: str) -> Beginning | str:
        """Note that the request is under way, or return what was kept of its answer.

        `new`: it is to be carried out now; also where the one before began at or before `stale_before` and
        never ended, or ended before `kept_after`. `in_flight`: it is being carried out. `other_body`: its
        key was used with another body. Any other text is what `keep` was given.
        """
        ...

    def keep(self, asked: Asked, answer: str) -> None:
        """Keep the answer of a request that was begun."""
        ...

    def free(self, asked: Asked) -> None:
        """Forget a request that was begun and came to nothing: its key may be used again."""
        ...

    def forget_before(self, at: str) -> int:
        """Forget what began before `at`, of all tenants, and return how many it were."""
        ...
