"""OpenAI's batches: a file of requests in, a file of results out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping
from typing import TYPE_CHECKING, TypeVar

import msgspec

from corpus2skill.adapters.llm.failures import Failure, classify, unreadable
from corpus2skill.adapters.llm.openai_model import OpenAIModel
from corpus2skill.domain.model_call import TextCall, TextReply
from corpus2skill.errors import ModelError, ModelUnusable
from corpus2skill.ports.batch_model import BatchResult, BatchStatus

if TYPE_CHECKING:
    from openai.types import Batch

_Result = TypeVar("_Result")
_MOST_CALLS = 10_000
"""The provider takes five times that; results come as one file, and memory is to stay flat."""
_LOOKED_THROUGH = 100
"""So many of the newest batches are looked through for a lost one."""
_ENDPOINT = "/v1/chat/completions"
_TOKEN = "corpus2skill"  # noqa: S105 - a name, no secret
"""The batch's metadata under which our token stands."""
_KEPT_SECONDS = 7 * 24 * 3600
"""What was sent is deleted at the provider after that."""
_WORKING = frozenset({"validating", "in_progress", "finalizing", "cancelling"})
_NOT_DONE = frozenset({"batch_expired", "batch_cancelled", "request_cancelled"})


class _Response(msgspec.Struct, frozen=True):
    status_code: int
    body: msgspec.Raw


class _Error(msgspec.Struct, frozen=True):
    code: str | None = None
    message: str | None = None


class _Line(msgspec.Struct, frozen=True):
    custom_id: str
    response: _Response | None = None
    error: _Error | None = None


_decoder = msgspec.json.Decoder(_Line)


class OpenAIBatches:
    """A `BatchModel`. What an endpoint refuses is learned from single calls: make one before a batch."""

    def __init__(self, model: OpenAIModel) -> None:
        self._model = model
        self._client = model.client

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
        """Upload the requests and start the batch, `token` in its metadata."""
        lines = b"".join(self._line(call_id, call) for call_id, call in calls.items())
        file = await self._asked(
            self._client.files.create(
                file=(f"{token}.jsonl", lines),
                purpose="batch",
                expires_after={"anchor": "created_at", "seconds": _KEPT_SECONDS},
            )
        )
        batch = await self._asked(
            self._client.batches.create(
                completion_window="24h",
                endpoint=_ENDPOINT,
                input_file_id=file.id,
                metadata={_TOKEN: token},
                output_expires_after={"anchor": "created_at", "seconds": _KEPT_SECONDS},
            )
        )
        return batch.id

    async def find(self, token: str, calls: Mapping[str, TextCall]) -> str | None:
        """Return the batch that has `token` in its metadata."""
        del calls
        page = await self._asked(self._client.batches.list(limit=_LOOKED_THROUGH))
        for batch in page.data:
            is_ours = (batch.metadata or {}).get(_TOKEN) == token
            if is_ours and batch.status not in {"failed", "cancelling", "cancelled"}:
                return batch.id
        return None

    async def status(self, batch_id: str) -> BatchStatus:
        batch = await self._retrieved(batch_id)
        counts = batch.request_counts
        return BatchStatus(
            batch_id=batch.id,
            state="working" if batch.status in _WORKING else "ended",
            calls=counts.total if counts else 0,
            answered=counts.completed if counts else 0,
            failed=counts.failed if counts else 0,
        )

    async def results(self, batch_id: str) -> AsyncIterator[BatchResult]:
        batch = await self._retrieved(batch_id)
        if batch.status == "failed":
            raise ModelUnusable("batch_refused", model=self.name, reason=self._faults(batch))
        for file_id in (batch.output_file_id, batch.error_file_id):
            for line in await self._lines(file_id):
                yield BatchResult(call_id=line.custom_id, outcome=self._outcome(line))

    async def cancel(self, batch_id: str) -> None:
        await self._asked(self._client.batches.cancel(batch_id))

    async def close(self) -> None:
        await self._model.close()

    def _line(self, call_id: str, call: TextCall) -> bytes:
        request = {
            "custom_id": call_id,
            "method": "POST",
            "url": _ENDPOINT,
            "body": self._model.text_params(call),
        }
        return msgspec.json.encode(request) + b"\n"

    async def _retrieved(self, batch_id: str) -> Batch:
        return await self._asked(self._client.batches.retrieve(batch_id))

    async def _lines(self, file_id: str | None) -> list[_Line]:
        if file_id is None:
            return []
        file = await self._asked(self._client.files.content(file_id))
        lines = self._decoded(file.content)
        if isinstance(lines, ModelError):
            raise lines
        return lines

    def _decoded(self, content: bytes) -> list[_Line] | ModelError:
        try:
            return [_decoder.decode(line) for line in content.splitlines() if line.strip()]
        except msgspec.MsgspecError as error:
            endpoint = self._model.endpoint
            return unreadable(endpoint.target, endpoint.redactor.clean(str(error)))

    def _outcome(self, line: _Line) -> TextReply | ModelError | None:
        if line.response is None:
            return self._error(line.error or _Error())
        body = bytes(line.response.body)
        if line.response.status_code == 200:
            try:
                return self._model.text_reply(body)
            except ModelError as error:
                return error
        endpoint = self._model.endpoint
        failure = endpoint.failure(line.response.status_code, msgspec.json.decode(body), {}, "")
        return classify(failure, endpoint.target)

    def _error(self, error: _Error) -> ModelError | None:
        if error.code in _NOT_DONE:
            return None
        endpoint = self._model.endpoint
        described = {"error": {"code": error.code, "message": error.message}}
        return classify(endpoint.failure(0, described, {}, ""), endpoint.target)

    def _faults(self, batch: Batch) -> str:
        found = (batch.errors.data if batch.errors else None) or []
        return (
            self._model.endpoint.redactor.clean("; ".join(fault.message or "" for fault in found)[:300])
            or "-"
        )

    async def _asked(self, sent: Awaitable[_Result]) -> _Result:
        answer = await self._model.attempt(sent)
        if isinstance(answer, Failure):
            raise classify(answer, self._model.endpoint.target)
        return answer
