"""OpenAI's files and batches: uploaded, created, processed, fetched, cancelled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import HTTP

from tests.fakes.providers.batches import BatchPlan
from tests.fakes.providers.http_server import HttpRequest
from tests.fakes.providers.openai_rules import refuse
from tests.fakes.providers.wire import JsonObject, WireError, decode, encode, obj, text

RunItem = Callable[[JsonObject], JsonObject]
"""Answers the body of one request with a completion. Raises WireError."""
_ENDPOINT = "/v1/chat/completions"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    file_id: str
    name: str
    purpose: str
    content: bytes
    created_at: int

    def shown(self) -> JsonObject:
        return {
            "id": self.file_id,
            "object": "file",
            "bytes": len(self.content),
            "created_at": self.created_at,
            "filename": self.name,
            "purpose": self.purpose,
            "status": "processed",
        }


@dataclass(slots=True, kw_only=True)
class _Batch:
    batch_id: str
    input_file_id: str
    metadata: object
    lines: list[JsonObject]
    created_at: int
    polls_left: int
    status: str = "validating"
    ended_at: int | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    completed: int = 0
    failed: int = 0
    fault: JsonObject | None = None


@dataclass(slots=True, kw_only=True)
class OpenAIBatches:
    """All files and batches of a server, in memory."""

    plan: BatchPlan
    seconds: Callable[[], float]
    error_body: Callable[[WireError], JsonObject]
    files: dict[str, StoredFile] = field(default_factory=dict[str, StoredFile])
    batches: dict[str, _Batch] = field(default_factory=dict[str, _Batch])
    _stored: int = 0

    def upload(self, request: HttpRequest) -> JsonObject:
        name, content, purpose = _form(request)
        if content is None:
            raise refuse(
                "Missing required parameter: 'file'.", param="file", code="missing_required_parameter"
            )
        if purpose != "batch":
            raise refuse(
                f"'{purpose}' is not one of ['batch'] - 'purpose'", param="purpose", code="invalid_value"
            )
        return self._store(name, content, purpose).shown()

    def file(self, file_id: str) -> StoredFile:
        if file_id not in self.files:
            raise refuse(f"No such File object: {file_id}", param="id", status=404)
        return self.files[file_id]

    def delete(self, file_id: str) -> JsonObject:
        del self.files[self.file(file_id).file_id]
        return {"id": file_id, "object": "file", "deleted": True}

    def create(self, body: JsonObject) -> JsonObject:
        if body.get("completion_window") != "24h":
            raise refuse("Invalid value for 'completion_window': expected '24h'.", param="completion_window")
        if body.get("endpoint") != _ENDPOINT:
            raise refuse(f"Invalid value: '{body.get('endpoint')}'.", param="endpoint", code="invalid_value")
        source = self.file(text(body.get("input_file_id")))
        batch = _Batch(
            batch_id=f"batch_{len(self.batches) + 1:024d}",
            input_file_id=source.file_id,
            metadata=body.get("metadata"),
            lines=[],
            created_at=int(self.seconds()),
            polls_left=self.plan.polls,
        )
        self.batches[batch.batch_id] = batch
        return self._shown(batch)

    def retrieve(self, batch_id: str, run: RunItem) -> JsonObject:
        """Show a batch; every look brings it nearer to its end."""
        batch = self._find(batch_id)
        if batch.status in ("validating", "in_progress", "cancelling"):
            self._go_on(batch, run)
        return self._shown(batch)

    def listed(self, query: Mapping[str, str]) -> JsonObject:
        limit = int(query.get("limit", "20"))
        newest = list(reversed(self.batches.values()))
        if (after := query.get("after")) is not None:
            ids = [batch.batch_id for batch in newest]
            newest = newest[ids.index(after) + 1 :] if after in ids else []
        page = [self._shown(batch) for batch in newest[:limit]]
        return {
            "object": "list",
            "data": page,
            "first_id": page[0]["id"] if page else None,
            "last_id": page[-1]["id"] if page else None,
            "has_more": len(newest) > limit,
        }

    def cancel(self, batch_id: str) -> JsonObject:
        batch = self._find(batch_id)
        if batch.status not in ("validating", "in_progress"):
            raise refuse(f"Cannot cancel a batch with status '{batch.status}'.", status=409)
        batch.status = "cancelling"
        return self._shown(batch)

    def _go_on(self, batch: _Batch, run: RunItem) -> None:
        if batch.status == "cancelling":
            batch.status, batch.ended_at = "cancelled", int(self.seconds())
            return
        if batch.status == "validating" and (fault := self._validate(batch)):
            batch.fault, batch.status, batch.ended_at = fault, "failed", int(self.seconds())
            return
        batch.status = "in_progress"
        if batch.polls_left <= 0:
            self._finish(batch, run)
        batch.polls_left -= 1

    def _validate(self, batch: _Batch) -> JsonObject | None:
        if self.plan.fails:
            return _fault("token_limit_exceeded", "Enqueued token limit reached for this model.", None)
        seen: set[str] = set()
        lines = self.file(batch.input_file_id).content.splitlines()
        for position, line in enumerate(lines, 1):
            try:
                request = obj(decode(line))
            except ValueError:
                return _fault("invalid_json_line", "This line is not parseable as valid JSON.", position)
            custom_id = text(request.get("custom_id"))
            if not custom_id:
                return _fault(
                    "missing_required_parameter", "Missing required parameter: 'custom_id'.", position
                )
            if custom_id in seen:
                return _fault("duplicate_custom_id", f"The custom_id '{custom_id}' appears twice.", position)
            if request.get("method") != "POST" or request.get("url") != _ENDPOINT:
                return _fault("mismatched_url", "The URL does not match the batch's endpoint.", position)
            seen.add(custom_id)
            batch.lines.append(request)
        return None if lines else _fault("empty_file", "The batch input file is empty.", None)

    def _finish(self, batch: _Batch, run: RunItem) -> None:
        by_name = {text(line.get("custom_id")): line for line in batch.lines}
        good: list[JsonObject] = []
        bad: list[JsonObject] = []
        for name in self.plan.order(list(by_name)):
            result, is_good = self._result(batch, name, obj(by_name[name].get("body")), run)
            (good if is_good else bad).append(result)
        batch.completed, batch.failed = len(good), len(bad)
        batch.output_file_id = self._lines_file("output", good)
        batch.error_file_id = self._lines_file("errors", bad)
        batch.status, batch.ended_at = "completed", int(self.seconds())

    def _result(self, batch: _Batch, name: str, body: JsonObject, run: RunItem) -> tuple[JsonObject, bool]:
        line: JsonObject = {"id": f"batch_req_{name}", "custom_id": name, "response": None, "error": None}
        if self.plan.expires(name):
            message = "This request could not be executed before the completion window expired."
            return {**line, "error": {"code": "batch_expired", "message": message}}, False
        try:
            status, answer, is_good = 200, run(body), True
        except WireError as error:
            status, answer, is_good = error.status, self.error_body(error), False
        response = {"status_code": status, "request_id": f"req_{batch.batch_id}", "body": answer}
        return {**line, "response": response}, is_good

    def _lines_file(self, name: str, lines: list[JsonObject]) -> str | None:
        if not lines:
            return None
        content = b"".join(encode(line) + b"\n" for line in lines)
        return self._store(f"batch_{name}.jsonl", content, "batch_output").file_id

    def _store(self, name: str, content: bytes, purpose: str) -> StoredFile:
        self._stored += 1
        stored = StoredFile(
            file_id=f"file-{self._stored:024d}",
            name=name,
            purpose=purpose,
            content=content,
            created_at=int(self.seconds()),
        )
        self.files[stored.file_id] = stored
        return stored

    def _find(self, batch_id: str) -> _Batch:
        if batch_id not in self.batches:
            raise refuse(f"No batch found with id '{batch_id}'.", status=404)
        return self.batches[batch_id]

    def _shown(self, batch: _Batch) -> JsonObject:
        ended = {
            f"{status}_at": batch.ended_at if batch.status == status else None
            for status in ("completed", "failed", "cancelled")
        }
        return {
            "id": batch.batch_id,
            "object": "batch",
            "endpoint": _ENDPOINT,
            "errors": {"object": "list", "data": [batch.fault]} if batch.fault else None,
            "input_file_id": batch.input_file_id,
            "completion_window": "24h",
            "status": batch.status,
            "output_file_id": batch.output_file_id,
            "error_file_id": batch.error_file_id,
            "created_at": batch.created_at,
            "in_progress_at": batch.created_at,
            "expires_at": batch.created_at + 86_400,
            **ended,
            "request_counts": {
                "total": len(batch.lines),
                "completed": batch.completed,
                "failed": batch.failed,
            },
            "metadata": batch.metadata,
        }


def _fault(code: str, message: str, line: int | None) -> JsonObject:
    return {"code": code, "message": message, "param": None, "line": line}


def _form(request: HttpRequest) -> tuple[str, bytes | None, str]:
    """Return the file's name, its bytes and the purpose of a multipart upload."""
    head = f"content-type: {request.headers.get('content-type', '')}\r\n\r\n".encode()
    name, content, purpose = "", None, ""
    for part in message_from_bytes(head + request.body, policy=HTTP).iter_parts():
        field_name = part.get_param("name", header="content-disposition")
        payload = part.get_payload(decode=True)
        if not isinstance(payload, bytes):
            continue
        if field_name == "file":
            name, content = part.get_filename() or "file", payload
        elif field_name == "purpose":
            purpose = payload.decode()
    return name, content, purpose
