"""Anthropic's Message Batches: created, processed, fetched, cancelled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tests.fakes.providers.anthropic_rules import refuse
from tests.fakes.providers.batches import BatchPlan
from tests.fakes.providers.wire import JsonObject, WireError, encode, items, obj, text

RunItem = Callable[[JsonObject], JsonObject]
"""Answers the params of one request with a message. Raises WireError."""


@dataclass(slots=True, kw_only=True)
class _Batch:
    batch_id: str
    requests: dict[str, JsonObject]
    created_at: datetime
    polls_left: int
    results: dict[str, JsonObject] | None = None
    cancelled_at: datetime | None = None
    ended_at: datetime | None = None


@dataclass(slots=True, kw_only=True)
class AnthropicBatches:
    """All batches of a server, in memory."""

    plan: BatchPlan
    error_body: Callable[[WireError], JsonObject]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    batches: dict[str, _Batch] = field(default_factory=dict[str, _Batch])

    def create(self, body: JsonObject) -> JsonObject:
        """Keep a batch. Bad params show as errors of single results, as they do at the real one."""
        requests = items(body.get("requests"))
        if not requests:
            raise refuse("requests: List should have at least 1 item after validation, not 0")
        if len(requests) > 100_000:
            raise refuse("requests: List should have at most 100000 items after validation")
        params: dict[str, JsonObject] = {}
        for position, request in enumerate(map(obj, requests)):
            custom_id = text(request.get("custom_id"))
            if not 1 <= len(custom_id) <= 64:
                raise refuse(
                    f"requests.{position}.custom_id: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
                )
            if custom_id in params:
                raise refuse(f"requests: custom_id must be unique: {custom_id}")
            if "params" not in request:
                raise refuse(f"requests.{position}.params: Field required")
            params[custom_id] = obj(request["params"])
        batch = _Batch(
            batch_id=f"msgbatch_{len(self.batches) + 1:024d}",
            requests=params,
            created_at=self.now(),
            polls_left=self.plan.polls,
        )
        self.batches[batch.batch_id] = batch
        return self.shown(batch, origin="")

    def find(self, batch_id: str) -> _Batch:
        if batch_id not in self.batches:
            raise refuse(f"Message Batch {batch_id} not found", "not_found_error", 404)
        return self.batches[batch_id]

    def retrieve(self, batch_id: str, run: RunItem, origin: str) -> JsonObject:
        """Show a batch; every look brings it nearer to its end."""
        batch = self.find(batch_id)
        if batch.results is None:
            if batch.polls_left <= 0:
                self._finish(batch, run)
            batch.polls_left -= 1
        return self.shown(batch, origin=origin)

    def listed(self, query: Mapping[str, str], origin: str) -> JsonObject:
        limit = int(query.get("limit", "20"))
        newest = list(reversed(self.batches.values()))
        if (after := query.get("after_id")) is not None:
            ids = [batch.batch_id for batch in newest]
            newest = newest[ids.index(after) + 1 :] if after in ids else []
        page = [self.shown(batch, origin=origin) for batch in newest[:limit]]
        return {
            "data": page,
            "has_more": len(newest) > limit,
            "first_id": page[0]["id"] if page else None,
            "last_id": page[-1]["id"] if page else None,
        }

    def cancel(self, batch_id: str, origin: str) -> JsonObject:
        batch = self.find(batch_id)
        if batch.results is not None:
            raise refuse(f"Batch {batch_id} cannot be canceled because it has already ended.")
        batch.cancelled_at = self.now()
        return self.shown(batch, origin=origin)

    def result_lines(self, batch_id: str) -> bytes:
        batch = self.find(batch_id)
        if batch.results is None:
            raise refuse(f"Batch {batch_id} has no results yet: it is still being processed.")
        lines = ({"custom_id": name, "result": result} for name, result in batch.results.items())
        return b"".join(encode(line) + b"\n" for line in lines)

    def shown(self, batch: _Batch, *, origin: str) -> JsonObject:
        ended = batch.results is not None
        return {
            "id": batch.batch_id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "canceling" if batch.cancelled_at else "in_progress",
            "request_counts": _counts(batch),
            "created_at": batch.created_at.isoformat(),
            "expires_at": (batch.created_at + timedelta(hours=24)).isoformat(),
            "ended_at": batch.ended_at.isoformat() if batch.ended_at else None,
            "archived_at": None,
            "cancel_initiated_at": batch.cancelled_at.isoformat() if batch.cancelled_at else None,
            "results_url": f"{origin}/v1/messages/batches/{batch.batch_id}/results" if ended else None,
        }

    def _finish(self, batch: _Batch, run: RunItem) -> None:
        results = {name: self._result(batch, name, params, run) for name, params in batch.requests.items()}
        ordered = self.plan.order(list(results))
        batch.results = {name: results[name] for name in ordered}
        batch.ended_at = self.now()

    def _result(self, batch: _Batch, name: str, params: JsonObject, run: RunItem) -> JsonObject:
        if batch.cancelled_at is not None:
            return {"type": "canceled"}
        if self.plan.expires(name):
            return {"type": "expired"}
        try:
            return {"type": "succeeded", "message": run(params)}
        except WireError as error:
            return {"type": "errored", "error": self.error_body(error)}


def _counts(batch: _Batch) -> JsonObject:
    counts: dict[str, int] = {"processing": 0, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
    if batch.results is None:
        counts["processing"] = len(batch.requests)
    for result in (batch.results or {}).values():
        counts[text(result["type"])] += 1
    return {**counts}
