"""A provider's batches in memory: it goes on while processes come and go, and counts what it is paid for."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field

from corpus2skill.domain.message import Usage
from corpus2skill.domain.model_call import TextCall, TextReply
from corpus2skill.errors import ModelError, ModelUnusable
from corpus2skill.ports.batch_model import BatchResult, BatchStatus

Outcome = TextReply | ModelError | None
USAGE = Usage(input_tokens=100, output_tokens=20)


def answered(_call_id: str) -> Outcome:
    return TextReply(text="要約", stop="end", usage=USAGE)


@dataclass(slots=True, kw_only=True)
class _Batch:
    token: str | None
    ids: tuple[str, ...]
    looks_left: int
    outcomes: dict[str, Outcome] | None = None


@dataclass(kw_only=True)
class FakeBatchModel:
    """`ports.batch_model.BatchModel`. `step` is called at every door of it, and may raise there."""

    name: str = "fake:model"
    identity: str = "fake:model fake-1"
    most_calls: int = 10_000
    looks: int = 2
    """That still find a batch working."""
    keeps_tokens: bool = True
    """False: a batch is found by its size and, once it has ended, by its ids."""
    outcome: Callable[[str], Outcome] = answered
    step: Callable[[str], None] = lambda _step: None
    batches: dict[str, _Batch] = field(default_factory=dict[str, _Batch])
    paid: Counter[str] = field(default_factory=Counter[str])
    """How often each call was answered for money."""
    is_closed: bool = False

    @property
    def sizes(self) -> list[int]:
        """Of the batches, in the order in which they were handed in."""
        return [len(batch.ids) for batch in self.batches.values()]

    def finish(self) -> None:
        """Let every batch end, looked at or not: what is handed in is paid for, whoever knows of it."""
        for batch in self.batches.values():
            if batch.outcomes is None:
                self._finish(batch)

    def add_foreign(self, size: int, *, looks: int = 1) -> None:
        """Another program's batch."""
        ids = tuple(f"foreign-{number}" for number in range(size))
        self.batches[f"batch-{len(self.batches) + 1}"] = _Batch(token=None, ids=ids, looks_left=looks)

    async def submit(self, calls: Mapping[str, TextCall], token: str) -> str:
        self.step("before submit")
        batch_id = f"batch-{len(self.batches) + 1}"
        self.batches[batch_id] = _Batch(token=token, ids=tuple(calls), looks_left=self.looks)
        self.step("after submit")
        return batch_id

    async def find(self, token: str, calls: Mapping[str, TextCall]) -> str | None:
        self.step("find")
        for batch_id, batch in reversed(self.batches.items()):
            if self._is_it(batch, token, calls):
                return batch_id
        return None

    async def status(self, batch_id: str) -> BatchStatus:
        self.step("status")
        batch = self._batch(batch_id)
        if batch.outcomes is None and batch.looks_left <= 0:
            self._finish(batch)
        batch.looks_left -= 1
        said = list((batch.outcomes or {}).values())
        replies = sum(isinstance(one, TextReply) for one in said)
        return BatchStatus(
            batch_id=batch_id,
            state="working" if batch.outcomes is None else "ended",
            calls=len(batch.ids),
            answered=replies,
            failed=len(said) - replies,
        )

    async def results(self, batch_id: str) -> AsyncIterator[BatchResult]:
        self.step("results")
        outcomes = self._batch(batch_id).outcomes
        assert outcomes is not None, "read before its end"
        for call_id, outcome in reversed(outcomes.items()):
            self.step("result")
            yield BatchResult(call_id=call_id, outcome=outcome)

    async def cancel(self, batch_id: str) -> None:
        self._batch(batch_id).looks_left = 0

    async def close(self) -> None:
        self.is_closed = True

    def _finish(self, batch: _Batch) -> None:
        batch.outcomes = {call_id: self.outcome(call_id) for call_id in batch.ids}
        self.paid.update(key for key, said in batch.outcomes.items() if isinstance(said, TextReply))

    def _batch(self, batch_id: str) -> _Batch:
        if batch_id not in self.batches:
            raise ModelUnusable("endpoint_not_api", model=self.name, endpoint="-", status=404, reason="-")
        return self.batches[batch_id]

    def _is_it(self, batch: _Batch, token: str, calls: Mapping[str, TextCall]) -> bool:
        if self.keeps_tokens:
            return batch.token == token
        return len(batch.ids) == len(calls) and (batch.outcomes is None or set(batch.ids) == set(calls))
