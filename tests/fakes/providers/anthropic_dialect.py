"""Anthropic's routes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from corpus2skill.domain.message import Usage
from tests.fakes.providers.anthropic_batches import AnthropicBatches
from tests.fakes.providers.anthropic_replies import error_body, event, events, failure, message
from tests.fakes.providers.anthropic_rules import VERSIONS, prompt_tokens, read_messages_call, refuse
from tests.fakes.providers.batches import BatchPlan
from tests.fakes.providers.behaviour import ErrorKind
from tests.fakes.providers.dialect import AnswerItem, HttpAnswer, json_answer
from tests.fakes.providers.http_server import HttpRequest
from tests.fakes.providers.models import ANTHROPIC_MODELS, ModelCard, cards
from tests.fakes.providers.prompt import Answer, Prompt, Provider
from tests.fakes.providers.token_count import output_tokens
from tests.fakes.providers.wire import JsonObject, WireError, decode, encode, obj

_MESSAGES = "/v1/messages"
_COUNT = "/v1/messages/count_tokens"
_BATCHES = "/v1/messages/batches"
_CAPABILITY = {"supported": True}


class AnthropicDialect:
    """The Messages API. `key` None takes every key."""

    provider: Provider = "anthropic"

    def __init__(
        self,
        *,
        key: str | None = None,
        models: Mapping[str, ModelCard] | None = None,
        batch_plan: BatchPlan | None = None,
        omits_thoughts: bool = False,
    ) -> None:
        self.key = key
        self.models = cards(*ANTHROPIC_MODELS) if models is None else models
        self.omits_thoughts = omits_thoughts
        """Thinking comes as empty text with a signature."""
        self.batches = AnthropicBatches(
            plan=batch_plan or BatchPlan(), error_body=lambda error: error_body(error, "req_batch")
        )
        self._sent = 0

    def is_model_call(self, request: HttpRequest) -> bool:
        return request.method == "POST" and request.path == _MESSAGES

    def authenticate(self, request: HttpRequest) -> str:
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
        key = request.headers.get("x-api-key", "") or bearer
        if not key:
            raise refuse("x-api-key header is required", "authentication_error", 401)
        if self.key is not None and key != self.key:
            raise refuse("invalid x-api-key", "authentication_error", 401)
        version = request.headers.get("anthropic-version")
        if version is None:
            raise refuse("anthropic-version: header is required")
        if version not in VERSIONS:
            raise refuse(f"anthropic-version: {version!r} is not a valid version")
        return key

    def read(self, request: HttpRequest) -> Prompt:
        return read_messages_call(_body(request), request.headers["anthropic-version"], self.models)

    def whole(self, prompt: Prompt, answer: Answer) -> JsonObject:
        usage = self._usage(prompt, answer)
        return message(self._next_id(), prompt.model, answer, usage, omits_thoughts=self.omits_thoughts)

    def events(self, prompt: Prompt, answer: Answer) -> list[bytes]:
        usage = self._usage(prompt, answer)
        return list(events(self._next_id(), prompt.model, answer, usage, omits_thoughts=self.omits_thoughts))

    def failure(self, kind: ErrorKind, key: str | None) -> WireError:
        error = failure(kind)
        if key is None:
            return error
        words = f"{error.message} (x-api-key: {key})"
        return WireError(status=error.status, kind=error.kind, message=words, code=error.code)

    def error(self, error: WireError) -> HttpAnswer:
        headers = {"content-type": "application/json", **error.headers}
        return HttpAnswer(status=error.status, body=encode(error_body(error, "req_fake")), headers=headers)

    def error_event(self, error: WireError) -> bytes:
        return event("error", error_body(error, "req_fake"))

    def route(self, request: HttpRequest, answer_item: AnswerItem) -> HttpAnswer:
        if request.path == _COUNT and request.method == "POST":
            body = _body(request)
            read_messages_call(body, request.headers["anthropic-version"], self.models, counts_only=True)
            return json_answer({"input_tokens": prompt_tokens(body)})
        if request.path.startswith("/v1/models") and request.method == "GET":
            return json_answer(self._models(request.path.removeprefix("/v1/models").strip("/")))
        if request.path.startswith(_BATCHES):
            return self._batch_route(request, answer_item)
        raise refuse(f"Not found: {request.method} {request.path}", "not_found_error", 404)

    def _batch_route(self, request: HttpRequest, answer_item: AnswerItem) -> HttpAnswer:
        def run(params: JsonObject) -> JsonObject:
            version = request.headers["anthropic-version"]
            prompt = read_messages_call(params, version, self.models)
            return self.whole(prompt, answer_item(prompt, encode(params)))

        origin = f"http://{request.headers.get('host', '127.0.0.1')}"
        rest = request.path.removeprefix(_BATCHES).strip("/").split("/")
        match request.method, rest:
            case "POST", [""]:
                return json_answer(self.batches.create(_body(request)))
            case "GET", [""]:
                return json_answer(self.batches.listed(request.query, origin))
            case "GET", [batch_id]:
                return json_answer(self.batches.retrieve(batch_id, run, origin))
            case "POST", [batch_id, "cancel"]:
                return json_answer(self.batches.cancel(batch_id, origin))
            case "GET", [batch_id, "results"]:
                lines = self.batches.result_lines(batch_id)
                return HttpAnswer(status=200, body=lines, headers={"content-type": "application/x-jsonl"})
            case _:
                raise refuse(f"Not found: {request.method} {request.path}", "not_found_error", 404)

    def _models(self, name: str) -> JsonObject:
        if name:
            if name not in self.models:
                raise refuse(f"model: {name}", "not_found_error", 404)
            return _model(self.models[name])
        listed = [_model(card) for card in self.models.values()]
        return {
            "data": listed,
            "has_more": False,
            "first_id": listed[0]["id"] if listed else None,
            "last_id": listed[-1]["id"] if listed else None,
        }

    def _usage(self, prompt: Prompt, answer: Answer) -> Usage:
        if answer.usage is not None:
            return answer.usage
        return Usage(input_tokens=prompt.input_tokens, output_tokens=output_tokens(answer))

    def _next_id(self) -> str:
        self._sent += 1
        return f"msg_{self._sent:024d}"


def _body(request: HttpRequest) -> JsonObject:
    try:
        return obj(decode(request.body))
    except ValueError as error:
        raise refuse(f"The request body is not valid JSON: {error}") from error


def _model(card: ModelCard) -> JsonObject:
    return {
        "id": card.name,
        "type": "model",
        "display_name": card.name.replace("-", " ").title(),
        "created_at": datetime(2026, 1, 1, tzinfo=UTC).isoformat(),
        "lifecycle": "active",
        "max_input_tokens": card.window,
        "max_tokens": card.max_output,
        "capabilities": {
            "batch": _CAPABILITY,
            "citations": _CAPABILITY,
            "code_execution": _CAPABILITY,
            "context_management": _CAPABILITY,
            "effort": {
                "supported": True,
                **dict.fromkeys(("low", "medium", "high", "max", "xhigh"), _CAPABILITY),
            },
            "image_input": _CAPABILITY,
            "pdf_input": _CAPABILITY,
            "server_tools": {"supported": True, "code_execution": _CAPABILITY, "web_search": _CAPABILITY},
            "structured_outputs": _CAPABILITY,
            "thinking": {
                "supported": True,
                "types": {"adaptive": _CAPABILITY, "enabled": _CAPABILITY},
            },
        },
    }
