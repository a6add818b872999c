"""What others need to check a record for themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainLink:
    """A record as the chain has it."""

    header: Mapping[str, str | int]
    payload: str | None
    """Exactly as it was hashed; None for a tombstone."""
    payload_sha256: str
    previous_hash: str
    hash: str
    tombstoned_at: str | None


class RecordProofs(Protocol):
    def session_links(self, tenant: str, session: str) -> tuple[ChainLink, ...]:
        """The records of a conversation with those before and behind each of them, in the order of the chain."""
        ...
