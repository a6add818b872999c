"""Batches under way, noted before they are handed in, so that a restart picks them up again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from corpus2skill.domain.model_call import Purpose


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchedCall:
    """One call of a batch: what its result is kept with. Nothing of its text."""

    key: str
    """Of the result store; in the batch it is the call's id."""
    purpose: Purpose
    subject: str
    prompt_characters: int
    most_dollars: float | None
    """What it may come to; None: the price is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedBatch:
    """A batch that was, or was about to be, handed in."""

    token: str
    corpus: str
    model: str
    identity: str
    """Of the model: a batch is picked up only by the model it was handed in with."""
    calls: tuple[BatchedCall, ...]
    noted_at: datetime
    batch_id: str | None = None
    """The provider's; None while it is not known whether the batch was handed in."""


class BatchLog(Protocol):
    """What is written is safe on disk when the method returns.

    `ResultStore.forget` takes the calls about what it forgets out of this log, too: what their batch answers
    is then no longer known, and is not kept.

    Raises:
        WorkspaceUnusable, Damaged, Busy: from any method.
    """

    async def note(self, batch: NotedBatch) -> None:
        """Note a new batch before it is handed in."""
        ...

    async def name(self, token: str, batch_id: str | None) -> None:
        """Note the provider's id of a batch, or that it is not known after all."""
        ...

    async def strike(self, token: str) -> None:
        """Take out a batch whose results are kept, or that never came to be."""
        ...

    async def open(self, corpus: str, identity: str) -> tuple[NotedBatch, ...]:
        """Return the batches of a corpus and a model in the order in which they were noted."""
        ...

    def left(self) -> tuple[NotedBatch, ...]:
        """Return the batches of all corpora and models: those of a model that is used no more stay here."""
        ...

    def close(self) -> None: ...
