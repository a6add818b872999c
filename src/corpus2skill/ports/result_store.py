"""What paid calls answered, so that none is paid twice."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from corpus2skill.domain.model_call import Purpose, TextReply
from corpus2skill.domain.usage import SpentCall, UsageLine


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidResult:
    """A paid call's reply with what is known of the call."""

    key: str
    """SHA-256 hex over all that decides the reply: model identity, parameters, prompt version, full prompt."""
    corpus: str
    model: str
    purpose: Purpose
    subject: str
    """Fingerprint of the chunk it is about; "" for calls about many."""
    prompt_characters: int
    reply: TextReply
    dollars: float | None
    paid_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PastUsage:
    """What this workspace's calls for one purpose with one model came to so far."""

    calls: int
    prompt_characters: int
    input_tokens: int
    output_tokens: int


class ResultStore(Protocol):
    """Replies by key, kept over all compiles of a workspace."""

    async def find(self, key: str) -> TextReply | None:
        """Return what the call of this key answered; None where it was never paid."""
        ...

    async def keep(self, result: PaidResult) -> None:
        """Keep a result; returns when it is safe on disk. The first result of a key stays.

        Raises:
            WorkspaceUnusable: the disk refused.
        """
        ...

    async def note(self, call: SpentCall) -> None:
        """Count a call whose reply is not kept among what was spent."""
        ...

    def usage(self, since: str, until: str) -> tuple[UsageLine, ...]:
        """What was paid from the day `since` on and before the day `until`. Forgotten results count."""
        ...

    def spent(self, since: str) -> float:
        """US dollars that were paid from the day `since` on; unknown money counts as none."""
        ...

    def past_usage(self, model: str, purpose: Purpose) -> PastUsage:
        """Sum up the results there are; zeros where there are none."""
        ...

    def forget(self, corpus: str, subjects: Collection[str]) -> int:
        """Delete the results about these chunks, and all results of the corpus that are about many.

        The calls about these chunks that a batch under way still has are forgotten as well (`BatchLog`).
        Returns the number of results deleted. Nothing of them can be read from the file afterwards.
        """
        ...

    def close(self) -> None: ...
