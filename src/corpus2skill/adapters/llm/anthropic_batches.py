"""Anthropic's message batches."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from typing import TYPE_CHECKING, TypeVar

import httpx2
import msgspec

from corpus2skill.adapters.llm.anthropic_model import AnthropicModel
from corpus2skill.adapters.llm.failures import Failure, classify, unreadable
from corpus2skill.domain.model_call import TextCall, TextReply
from corpus2skill.errors import ModelError
from corpus2skill.ports.batch_model import BatchResult, BatchStatus

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from anthropic.types.messages import MessageBatch

_Result = TypeVar("_Result")
_MOST_CALLS = 10_000
"""The provider takes ten times that; results come as one file, and memory is to stay flat."""
_LOOKED_THROUGH = 100
"""So many of the newest batches are looked through for a lost one."""


class _Outcome(msgspec.Struct, frozen=True):
    type: str
    message: msgspec.Raw = msgspec.Raw(b"")
    error: object = None


class _Line(msgspec.Struct, frozen=True):
    custom_id: str
    result: _Outcome


_decoder = msgspec.json.Decoder(_Line)


class AnthropicBatches:
    """A `BatchModel`. What an endpoint refuses is learned from single calls: make one before a batch."""

    def __init__(self, model: AnthropicModel) -> None:
        self._model = model
        self._batches = model.client.messages.batches

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def identity(self) -> str:
        return self._model.identity

    @property
    def most_calls(self) -> int:
        return _MOST_CALLS

    async def submit(self, calls: Mapping[str, TextCall], token: str) -> str:
        """Hand in `calls`; the provider keeps no token."""
        del token
        batch = await self._asked(
            self._batches.create(
                requests=[
                    {"custom_id": call_id, "params": self._model.text_params(call)}
                    for call_id, call in calls.items()
                ]
            )
        )
        return batch.id

    async def find(self, token: str, calls: Mapping[str, TextCall]) -> str | None:
        """Return the newest batch of as many calls, and of the same ids where it has ended.

        While a batch is under way its ids cannot be seen: one of another program may be taken for ours. Its
        results then have none of our ids, and nothing of it is used.
        """
        del token
        page = await self._asked(self._batches.list(limit=_LOOKED_THROUGH))
        for batch in page.data:
            if _size(batch) == len(calls) and await self._may_be(batch, calls.keys()):
                return batch.id
        return None

    async def status(self, batch_id: str) -> BatchStatus:
        batch = await self._asked(self._batches.retrieve(batch_id))
        counts = batch.request_counts
        return BatchStatus(
            batch_id=batch.id,
            state="ended" if batch.processing_status == "ended" else "working",
            calls=_size(batch),
            answered=counts.succeeded,
            failed=counts.errored + counts.canceled + counts.expired,
        )

    async def results(self, batch_id: str) -> AsyncIterator[BatchResult]:
        for line in await self._lines(batch_id):
            yield BatchResult(call_id=line.custom_id, outcome=self._outcome(line.result))

    async def cancel(self, batch_id: str) -> None:
        await self._asked(self._batches.cancel(batch_id))

    async def close(self) -> None:
        await self._model.close()

    async def _may_be(self, batch: MessageBatch, ids: Collection[str]) -> bool:
        if batch.cancel_initiated_at is not None or batch.archived_at is not None:
            return False
        if batch.processing_status != "ended":
            return True
        return {line.custom_id for line in await self._lines(batch.id)} == set(ids)

    async def _lines(self, batch_id: str) -> list[_Line]:
        """Read the results under the address that we know: the one in the batch's description may be anyone's."""
        response = await self._asked(
            self._model.client.get(f"/v1/messages/batches/{batch_id}/results", cast_to=httpx2.Response)
        )
        lines = self._decoded(response.content)
        if isinstance(lines, ModelError):
            raise lines
        return lines

    def _decoded(self, content: bytes) -> list[_Line] | ModelError:
        try:
            return [_decoder.decode(line) for line in content.splitlines() if line.strip()]
        except msgspec.MsgspecError as error:
            endpoint = self._model.endpoint
            return unreadable(endpoint.target, endpoint.redactor.clean(str(error)))

    def _outcome(self, outcome: _Outcome) -> TextReply | ModelError | None:
        endpoint = self._model.endpoint
        match outcome.type:
            case "succeeded":
                try:
                    return self._model.text_reply(bytes(outcome.message))
                except ModelError as error:
                    return error
            case "errored":
                failure = endpoint.failure(0, outcome.error, {}, "")
                return classify(failure, endpoint.target)
            case _:
                return None

    async def _asked(self, sent: Awaitable[_Result]) -> _Result:
        answer = await self._model.attempt(sent)
        if isinstance(answer, Failure):
            raise classify(answer, self._model.endpoint.target)
        return answer


def _size(batch: MessageBatch) -> int:
    counts = batch.request_counts
    return counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired
