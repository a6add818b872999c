"""Chat completions over OpenAI's SDK: OpenAI itself, Azure, and every server that speaks as it does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import httpx2
import msgspec
import openai

from corpus2skill.adapters.llm.adapting import Adapting
from corpus2skill.adapters.llm.endpoint import Endpoint
from corpus2skill.adapters.llm.failures import Failure, Target, broken, classify, unreadable
from corpus2skill.adapters.llm.openai_effort import ALLOWANCE, effort_ladder
from corpus2skill.adapters.llm.openai_quirks import OpenAIQuirks
from corpus2skill.adapters.llm.openai_stream import OpenAIStream, whole_reply
from corpus2skill.adapters.llm.openai_wire import (
    WireCompletion,
    cache_key,
    decoded_completion,
    message_params,
    response_format,
    tool_params,
)
from corpus2skill.domain.message import MADE_UP_CALL, ModelEvent, ModelMessage, Reply, TextDelta, ToolCall
from corpus2skill.domain.model_call import TextCall, TextReply
from corpus2skill.domain.model_name import ModelName
from corpus2skill.errors import BadReply, ModelError, ModelUnusable
from corpus2skill.ports.navigator_model import NavigatorRequest

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream
    from openai.types.chat import ChatCompletionChunk
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

_Result = TypeVar("_Result")
_SDK_ERRORS = (openai.OpenAIError, httpx2.RequestError, TimeoutError)
_known: dict[Target, OpenAIQuirks] = {}


class OpenAIModel:
    """A `LanguageModel`.

    A reply that the model's own safety rules ended has the stop reason `refusal`: it was paid for like any
    other. Refusals of the provider before that raise.
    """

    def __init__(
        self, client: AsyncOpenAI, name: ModelName, endpoint: Endpoint, *, is_official: bool
    ) -> None:
        self._client = client
        self._model = name.model
        self._endpoint = endpoint
        self._is_official = is_official
        first = OpenAIQuirks(
            max_tokens_field="max_completion_tokens" if is_official else "max_tokens",
            efforts=effort_ladder(name.model),
            has_cache_key=is_official,
            is_stream_trusted=is_official,
        )
        self._habits = Adapting(endpoint.target, _known, first)

    @property
    def name(self) -> str:
        return self._endpoint.target.model

    @property
    def identity(self) -> str:
        return self._endpoint.identity

    @property
    def window(self) -> int:
        return self._endpoint.window

    @property
    def thinking_tokens(self) -> int:
        return _allowance(self._habits.quirks)

    @property
    def client(self) -> AsyncOpenAI:
        """The SDK's client, for the batch interface."""
        return self._client

    @property
    def endpoint(self) -> Endpoint:
        return self._endpoint

    async def complete(self, call: TextCall) -> TextReply:
        return await self._habits.call(lambda quirks: self._complete(call, quirks))

    async def reply(self, request: NavigatorRequest) -> AsyncIterator[ModelEvent]:
        opened = await self._habits.call(lambda quirks: self._open(request, quirks))
        if isinstance(opened, Reply):
            if opened.text:
                yield TextDelta(opened.text)
            yield opened
            return
        async for event in self._streamed(opened):
            yield await self._trusted(event, request) if isinstance(event, Reply) else event

    async def close(self) -> None:
        await self._client.close()

    def text_params(
        self, call: TextCall, quirks: OpenAIQuirks | None = None
    ) -> CompletionCreateParamsNonStreaming:
        """Return the request for a whole reply, for a batch as well."""
        quirks = quirks or self._habits.quirks
        params: CompletionCreateParamsNonStreaming = {
            "model": self._model,
            "messages": message_params(call.system, call.messages, quirks),
        }
        params[quirks.max_tokens_field] = call.max_output_tokens + _allowance(quirks)
        if quirks.effort is not None:
            params["reasoning_effort"] = quirks.effort
        if (held := response_format(call.schema, quirks)) is not None:
            params["response_format"] = held
        return params

    def text_reply(
        self, body: bytes, *, content_type: str = "application/json", status: int = 200
    ) -> TextReply:
        """Read a whole reply.

        Raises:
            ModelError: it is none.
        """
        reply = whole_reply(self._read(body, content_type, status), self._endpoint.redactor)
        return TextReply(text=reply.text, stop=reply.stop, usage=reply.usage)

    async def attempt(self, sent: Awaitable[_Result]) -> _Result | Failure:
        """Wait for an answer of the SDK's. What it raises ends here: its exceptions may show the key.

        Raises:
            ModelError: the network failed.
        """
        try:
            return await sent
        except _SDK_ERRORS as error:
            failed = self._failed(error)
        if isinstance(failed, ModelError):
            raise failed
        return failed

    async def _complete(self, call: TextCall, quirks: OpenAIQuirks) -> TextReply | Failure:
        response = await self.attempt(self._ask(self.text_params(call, quirks)))
        if isinstance(response, Failure):
            return response
        content_type = response.headers.get("content-type", "")
        reply = self.text_reply(response.content, content_type=content_type, status=response.status_code)
        if reply.stop == "max_tokens" and not reply.text.strip() and not quirks.reasons_anyway:
            self._habits.remember(replace(quirks, reasons_anyway=True))
        return reply

    async def _ask(self, params: CompletionCreateParamsNonStreaming) -> httpx2.Response:
        async with asyncio.timeout(self._endpoint.timeouts.reply):
            response = await self._client.chat.completions.with_raw_response.create(
                **_unwalked(params),  # pyright: ignore[reportArgumentType, reportCallIssue]
                timeout=self._endpoint.timeout_of_replies(),
            )
        return response.http_response

    async def _open(
        self, request: NavigatorRequest, quirks: OpenAIQuirks
    ) -> AsyncStream[ChatCompletionChunk] | Reply | Failure:
        if request.offers_tools and not quirks.has_tools:
            raise ModelUnusable(
                "model_without_tools", model=self.name, endpoint=self._endpoint.target.endpoint
            )
        params = self._round_params(request, quirks)
        if quirks.has_streamed_tools or not request.offers_tools:
            return await self.attempt(self._stream(params, quirks))
        response = await self.attempt(self._ask(params))
        if isinstance(response, Failure):
            return response
        content_type = response.headers.get("content-type", "")
        completion = self._read(response.content, content_type, response.status_code)
        return whole_reply(completion, self._endpoint.redactor)

    def _round_params(
        self, request: NavigatorRequest, quirks: OpenAIQuirks
    ) -> CompletionCreateParamsNonStreaming:
        params: CompletionCreateParamsNonStreaming = {
            "model": self._model,
            "messages": message_params(request.system, request.messages, quirks),
        }
        params[quirks.max_tokens_field] = request.max_output_tokens + _allowance(quirks)
        if request.tools:
            params["tools"] = tool_params(request.tools)
            if not request.may_use_tools:
                params["tool_choice"] = "none"
        if quirks.effort is not None:
            params["reasoning_effort"] = quirks.effort
        if quirks.has_cache_key:
            params["prompt_cache_key"] = cache_key(request)
        return params

    async def _stream(
        self, params: CompletionCreateParamsNonStreaming, quirks: OpenAIQuirks
    ) -> AsyncStream[ChatCompletionChunk]:
        return await self._client.chat.completions.create(
            **_unwalked(params),  # pyright: ignore[reportArgumentType, reportCallIssue]
            stream=True,
            stream_options={"include_usage": True} if quirks.has_usage_chunk else openai.omit,
            timeout=self._endpoint.timeout_of_streams(),
        )

    async def _streamed(self, chunks: AsyncStream[ChatCompletionChunk]) -> AsyncIterator[ModelEvent]:
        stream = OpenAIStream(self._endpoint.redactor)
        failed: Failure | ModelError | None = self._endpoint.page_instead_of_stream(chunks.response)
        has_events = False
        try:
            async for chunk in chunks:
                has_events = True
                if shown := stream.add(chunk):
                    yield TextDelta(shown)
        except _SDK_ERRORS as error:
            failed = self._failed(error)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            has_events = True
            failed = unreadable(self._endpoint.target, self._endpoint.redactor.clean(repr(error)))
        finally:
            await chunks.close()
        if not stream.has_begun and (failed is None or isinstance(failed, BadReply)):
            failed = self._endpoint.stream_without_reply(chunks.response, "choices", has_events=has_events)
        if failed is None and not self._is_whole(stream):
            failed = broken(self._endpoint.target, "the stream ended before its end")
        if failed is not None:
            raise classify(failed, self._endpoint.target) if isinstance(failed, Failure) else failed
        if rest := stream.rest():
            yield TextDelta(rest)
        yield stream.reply()

    async def _trusted(self, reply: Reply, request: NavigatorRequest) -> Reply:
        """Doubt the first round that asks for nothing: some servers leave tool calls out of a stream.

        The round is asked once more as a whole, once for each endpoint and process.
        """
        quirks = self._habits.quirks
        if not request.offers_tools or quirks.is_stream_trusted:
            return reply
        if reply.tool_calls or reply.stop != "end" or _has_own_calls(request):
            self._habits.remember(replace(quirks, is_stream_trusted=bool(reply.tool_calls)))
            return reply
        again = await self._habits.call(
            lambda known: self._open(request, replace(known, has_streamed_tools=False))
        )
        assert isinstance(again, Reply)
        has_missed = bool(again.tool_calls)
        self._habits.remember(replace(quirks, is_stream_trusted=True, has_streamed_tools=not has_missed))
        return replace(again, usage=reply.usage + again.usage) if has_missed else reply

    def _is_whole(self, stream: OpenAIStream) -> bool:
        return stream.is_complete or (not self._is_official and stream.could_be_complete)

    def _read(self, body: bytes, content_type: str, status: int) -> WireCompletion:
        completion = self._decoded(body, content_type, status)
        if isinstance(completion, ModelError):
            raise completion
        if completion.error is not None and not completion.choices:
            raise classify(self._hidden_failure(completion.error), self._endpoint.target)
        if not completion.choices:
            raise self._endpoint.not_a_reply(status, content_type, body, "no choices", "choices")
        return completion

    def _decoded(self, body: bytes, content_type: str, status: int) -> WireCompletion | ModelError:
        try:
            return decoded_completion(body)
        except msgspec.MsgspecError as error:
            return self._endpoint.not_a_reply(status, content_type, body, str(error), "choices")

    def _hidden_failure(self, error: object) -> Failure:
        """An error with status 200: its `code` is the status of the provider behind."""
        code = error.get("code") if isinstance(error, dict) else None
        return self._endpoint.failure(code if isinstance(code, int) else 0, {"error": error}, {}, str(error))

    def _failed(self, error: Exception) -> Failure | ModelError:
        match error:
            case openai.APIStatusError():
                headers = dict(error.response.headers)
                return self._endpoint.failure(error.status_code, error.body, headers, error.message)
            case openai.APIConnectionError() | httpx2.RequestError() | TimeoutError():
                return self._endpoint.transport_error(error)
            case openai.APIError():
                return self._endpoint.failure(0, error.body, {}, error.message)
            case _:
                reason = self._endpoint.redactor.clean(f"{type(error).__name__}: {error}")
                return ModelUnusable("credentials_unusable", model=self.name, reason=reason)


def _has_own_calls(request: NavigatorRequest) -> bool:
    """True where the model has asked for something in this run: it can."""
    return any(
        isinstance(part, ToolCall) and part.call_id != MADE_UP_CALL
        for message in request.messages
        if isinstance(message, ModelMessage)
        for part in message.parts
    )


def _unwalked(params: CompletionCreateParamsNonStreaming) -> dict[str, object]:
    """The request with its messages where the SDK takes them as they are.

    It would walk through every message by its declared type before each request, which takes milliseconds and
    changes nothing in plain dictionaries.
    """
    return {**params, "messages": [], "extra_body": {"messages": params["messages"]}}


def _allowance(quirks: OpenAIQuirks) -> int:
    return ALLOWANCE if quirks.reasons_anyway or quirks.effort in {"minimal", "low"} else 0
