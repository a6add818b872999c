"""OpenAI's routes, and those of servers that speak its format."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from corpus2skill.domain.message import Usage
from tests.fakes.providers.batches import BatchPlan
from tests.fakes.providers.behaviour import ErrorKind
from tests.fakes.providers.dialect import AnswerItem, HttpAnswer, json_answer
from tests.fakes.providers.http_server import HttpRequest
from tests.fakes.providers.models import LOCAL_MODELS, OPENAI_MODELS, ModelCard, cards
from tests.fakes.providers.openai_batches import OpenAIBatches
from tests.fakes.providers.openai_replies import Frame, chunks, completion, error_body, error_chunk, failure
from tests.fakes.providers.openai_rules import read_chat_call, refuse
from tests.fakes.providers.prompt import Answer, Prompt, Provider
from tests.fakes.providers.quirks import OPENAI, Quirks
from tests.fakes.providers.token_count import output_tokens
from tests.fakes.providers.wire import JsonObject, WireError, decode, encode, obj

_CHAT = "/v1/chat/completions"


class OpenAIDialect:
    """Chat completions, files, batches and models. `key` None takes every key."""

    provider: Provider = "openai"

    def __init__(
        self,
        *,
        key: str | None = None,
        models: Mapping[str, ModelCard] | None = None,
        quirks: Quirks = OPENAI,
        batch_plan: BatchPlan | None = None,
        seconds: Callable[[], float] = time.time,
    ) -> None:
        self.key = key
        self.quirks = quirks
        self.models = cards(*(LOCAL_MODELS if quirks.is_lax else OPENAI_MODELS)) if models is None else models
        self.batches = OpenAIBatches(
            plan=batch_plan or BatchPlan(), seconds=seconds, error_body=lambda e: error_body(e, quirks)
        )
        self._seconds = seconds
        self._sent = 0

    def is_model_call(self, request: HttpRequest) -> bool:
        return request.method == "POST" and request.path == _CHAT

    def authenticate(self, request: HttpRequest) -> str:
        key = request.headers.get("authorization", "").removeprefix("Bearer").strip()
        if not self.quirks.needs_key:
            return key
        if not key:
            raise refuse(
                "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
                status=401,
            )
        if self.key is not None and key != self.key:
            raise refuse(
                f"Incorrect API key provided: {_masked(key)}. You can find your API key at https://platform.openai.com/account/api-keys.",
                code="invalid_api_key",
                status=401,
            )
        return key

    def read(self, request: HttpRequest) -> Prompt:
        return read_chat_call(_body(request), self.models, self.quirks)

    def whole(self, prompt: Prompt, answer: Answer) -> JsonObject:
        return completion(self._frame(prompt), answer, _usage(prompt, answer))

    def events(self, prompt: Prompt, answer: Answer) -> list[bytes]:
        return list(chunks(self._frame(prompt), answer, _usage(prompt, answer)))

    def failure(self, kind: ErrorKind, key: str | None) -> WireError:
        error = failure(kind)
        words = error.message if key is None else f"{error.message} (key: {key})"
        return WireError(status=error.status, kind=error.kind, message=words, code=error.code)

    def error(self, error: WireError) -> HttpAnswer:
        headers = {"content-type": "application/json", **error.headers}
        return HttpAnswer(status=error.status, body=encode(error_body(error, self.quirks)), headers=headers)

    def error_event(self, error: WireError) -> bytes:
        return error_chunk(error, self.quirks)

    def route(self, request: HttpRequest, answer_item: AnswerItem) -> HttpAnswer:
        if request.path.startswith("/v1/models") and request.method == "GET":
            return json_answer(self._models(request.path.removeprefix("/v1/models").strip("/")))
        if self.quirks.batches and request.path.startswith(("/v1/files", "/v1/batches")):
            return self._batch_route(request, answer_item)
        raise refuse(f"Invalid URL ({request.method} {request.path})", status=404)

    def _batch_route(self, request: HttpRequest, answer_item: AnswerItem) -> HttpAnswer:
        def run(body: JsonObject) -> JsonObject:
            prompt = read_chat_call(body, self.models, self.quirks)
            return self.whole(prompt, answer_item(prompt, encode(body)))

        parts = request.path.removeprefix("/v1/").strip("/").split("/")
        match request.method, parts:
            case "POST", ["files"]:
                return json_answer(self.batches.upload(request))
            case "GET", ["files", file_id]:
                return json_answer(self.batches.file(file_id).shown())
            case "GET", ["files", file_id, "content"]:
                headers = {"content-type": "application/octet-stream"}
                return HttpAnswer(status=200, body=self.batches.file(file_id).content, headers=headers)
            case "DELETE", ["files", file_id]:
                return json_answer(self.batches.delete(file_id))
            case "POST", ["batches"]:
                return json_answer(self.batches.create(_body(request)))
            case "GET", ["batches"]:
                return json_answer(self.batches.listed(request.query))
            case "GET", ["batches", batch_id]:
                return json_answer(self.batches.retrieve(batch_id, run))
            case "POST", ["batches", batch_id, "cancel"]:
                return json_answer(self.batches.cancel(batch_id))
            case _:
                raise refuse(f"Invalid URL ({request.method} {request.path})", status=404)

    def _models(self, name: str) -> JsonObject:
        if name and name not in self.models:
            raise refuse(
                f"The model '{name}' does not exist", param="model", code="model_not_found", status=404
            )
        if name:
            return self._model(self.models[name])
        return {"object": "list", "data": [self._model(card) for card in self.models.values()]}

    def _model(self, card: ModelCard) -> JsonObject:
        told = {"max_model_len": card.window} if self.quirks.tells_window else {}
        return {"id": card.name, "object": "model", "created": 1_767_225_600, "owned_by": "system", **told}

    def _frame(self, prompt: Prompt) -> Frame:
        self._sent += 1
        return Frame(
            completion_id=f"chatcmpl-{self._sent:024d}",
            model=prompt.model,
            created=int(self._seconds()),
            quirks=self.quirks,
            includes_usage=prompt.includes_usage,
        )


def _usage(prompt: Prompt, answer: Answer) -> Usage:
    if answer.usage is not None:
        return answer.usage
    return Usage(input_tokens=prompt.input_tokens, output_tokens=output_tokens(answer))


def _body(request: HttpRequest) -> JsonObject:
    try:
        return obj(decode(request.body))
    except ValueError as error:
        raise refuse(
            "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly.)"
        ) from error


def _masked(key: str) -> str:
    return f"{key[:8]}{'*' * max(0, len(key) - 12)}{key[-4:]}" if len(key) > 12 else "*" * len(key)
