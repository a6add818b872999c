"""Batches: many calls handed in at once, answered within a day, at half the price."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from corpus2skill.domain.model_call import TextCall, TextReply
from corpus2skill.errors import ModelError

BatchState = Literal["working", "ended"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStatus:
    """How far a batch is. Counts are of calls and may stay at zero until it has ended."""

    batch_id: str
    state: BatchState
    """`ended` also where it was cancelled or ran out of time: its results say what became of each call."""
    calls: int = 0
    answered: int = 0
    failed: int = 0
    """Calls that will have no reply: refused, cancelled or run out of time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """What became of one call of a batch."""

    call_id: str
    outcome: TextReply | ModelError | None
    """None: not done, as it was cancelled or ran out of time; it was not paid for and may be sent again."""


class BatchModel(Protocol):
    """One model's batch interface at one provider. It tries once, as `LanguageModel`, and shows no key.

    Every method raises the errors of `LanguageModel.complete` where the provider cannot be asked.
    """

    @property
    def name(self) -> str:
        """`provider:model`."""
        ...

    @property
    def identity(self) -> str:
        """The same as that of the language model: its replies are worth the same."""
        ...

    @property
    def most_calls(self) -> int:
        """The most calls that one batch takes."""
        ...

    async def submit(self, calls: Mapping[str, TextCall], token: str) -> str:
        """Hand in calls by their ids and return the batch's id.

        Ids and `token` have 1 to 64 characters of `[a-zA-Z0-9_-]`. `token` finds the batch again where the
        answer with its id was lost.
        """
        ...

    async def find(self, token: str, calls: Mapping[str, TextCall]) -> str | None:
        """Return the id of a batch submitted with `token` and these calls; None where none is known.

        Providers that keep no token are searched by what is left of it in the batch.
        """
        ...

    async def status(self, batch_id: str) -> BatchStatus: ...

    def results(self, batch_id: str) -> AsyncIterator[BatchResult]:
        """Yield what became of each call, in any order, once the batch has ended."""
        ...

    async def cancel(self, batch_id: str) -> None:
        """Ask for the batch to be stopped; what was answered before stays and is paid for."""
        ...

    async def close(self) -> None:
        """Give back the connections."""
        ...
