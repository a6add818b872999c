"""Reading a batch that has ended: every result kept under the key of its call, and booked."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from corpus2skill.domain.message import Usage
from corpus2skill.domain.model_call import TextReply
from corpus2skill.domain.money import Price
from corpus2skill.errors import BadReply, ModelError, ModelRefused
from corpus2skill.paying.paid_model import Account
from corpus2skill.ports.batch_log import BatchedCall, NotedBatch
from corpus2skill.ports.batch_model import BatchModel, BatchResult
from corpus2skill.ports.result_store import PaidResult

_AT_ONCE = 256
"""Results kept together."""
_OF_ONE_CALL = frozenset({"window_too_small", "window_exceeded"})
"""What makes one call unusable and says nothing of the others."""


@dataclass(slots=True, kw_only=True)
class Reading:
    """What became of the calls of one batch, as far as it was read. Reading may begin anew and goes on."""

    batch: NotedBatch
    read: set[str] = field(default_factory=set[str])
    answered: int = 0
    """With a reply, or with one that was paid for and is none."""
    not_done: set[str] = field(default_factory=set[str])
    failures: list[ModelError] = field(default_factory=list[ModelError])
    dollars: float = 0.0

    @property
    def is_foreign(self) -> bool:
        """True where none of the results is one of ours."""
        return bool(self.batch.calls) and not self.read

    @property
    def missed(self) -> set[str]:
        """Calls that were not done and may be handed in again."""
        return self.not_done | ({call.key for call in self.batch.calls} - self.read)

    @property
    def general_failure(self) -> ModelError | None:
        """Why no call at all was answered, where that is not a matter of the single calls."""
        if self.answered or not self.failures or len(self.failures) < len(self.batch.calls):
            return None
        return next((error for error in self.failures if error.code not in _OF_ONE_CALL), None)


class BatchReader:
    """Keeps and books the results of batches."""

    def __init__(self, model: BatchModel, account: Account, price: Price) -> None:
        self._model = model
        self._account = account
        self._price = price

    async def read(self, batch_id: str, reading: Reading) -> None:
        """Read the results into the store and into `reading`. What was kept by a killed process is not booked twice.

        Raises:
            ModelError: the provider could not be asked; the same `reading` may be tried again.
            WorkspaceUnusable, Damaged, Busy: the result store could not keep.
        """
        noted = {call.key: call for call in reading.batch.calls}
        waiting: list[BatchResult] = []
        async for result in self._model.results(batch_id):
            if result.call_id in noted and result.call_id not in reading.read:
                waiting.append(result)
            if len(waiting) >= _AT_ONCE:
                await self._take(waiting, noted, reading)
                waiting = []
        await self._take(waiting, noted, reading)

    async def _take(
        self, results: list[BatchResult], noted: dict[str, BatchedCall], reading: Reading
    ) -> None:
        """Every result is on the disk, or failed to get there, before this returns."""
        work = (self._take_one(result, noted[result.call_id], reading) for result in results)
        for outcome in await asyncio.gather(*work, return_exceptions=True):
            if outcome is not None:
                raise outcome

    async def _take_one(self, result: BatchResult, call: BatchedCall, reading: Reading) -> None:
        match result.outcome:
            case TextReply():
                await self._keep(result.outcome, call, reading)
            case BadReply() | ModelRefused():
                # Nobody said what it used: it may have cost as much as was set aside for it.
                self._book(call, reading, Usage(), call.most_dollars)
            case ModelError():
                reading.failures.append(result.outcome)
            case None:
                reading.not_done.add(call.key)
        reading.read.add(call.key)

    async def _keep(self, reply: TextReply, call: BatchedCall, reading: Reading) -> None:
        store = self._account.store
        if await store.find(call.key) is not None:
            reading.answered += 1
            return
        dollars = self._price(reply.usage)
        await store.keep(
            PaidResult(
                key=call.key,
                corpus=reading.batch.corpus,
                model=self._model.name,
                purpose=call.purpose,
                subject=call.subject,
                prompt_characters=call.prompt_characters,
                reply=reply,
                dollars=dollars,
                paid_at=self._account.clock.now(),
            )
        )
        self._book(call, reading, reply.usage, dollars)
        self._account.ledger.expect(call.key)

    def _book(self, call: BatchedCall, reading: Reading, usage: Usage, dollars: float | None) -> None:
        self._account.ledger.add_paid(call.purpose, self._model.name, usage, dollars)
        reading.answered += 1
        reading.dollars += dollars or 0.0
