"""Claude, over Anthropic's SDK: the Messages API at Anthropic, on Bedrock, on Vertex, or behind a gateway."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar, cast

import anthropic
import httpx2
import msgspec

from corpus2skill.adapters.llm.adapting import Adapting
from corpus2skill.adapters.llm.anthropic_quirks import AnthropicQuirks
from corpus2skill.adapters.llm.anthropic_stream import AnthropicStream
from corpus2skill.adapters.llm.anthropic_thinking import ALLOWANCE, least_thinking, may_think
from corpus2skill.adapters.llm.anthropic_wire import (
    WireMessage,
    cache_prefix,
    decoded_message,
    message_params,
    stop_of,
    system_blocks,
    tool_params,
    tools_of_history,
    usage_of,
)
from corpus2skill.adapters.llm.endpoint import Endpoint
from corpus2skill.adapters.llm.failures import Failure, Target, broken, classify, unreadable
from corpus2skill.domain.message import ModelEvent, TextDelta
from corpus2skill.domain.model_call import TextCall, TextReply
from corpus2skill.domain.model_name import ModelName
from corpus2skill.errors import BadReply, ModelError, ModelUnusable
from corpus2skill.ports.navigator_model import NavigatorRequest

if TYPE_CHECKING:
    from anthropic import AsyncStream
    from anthropic.lib.bedrock import AsyncAnthropicBedrock
    from anthropic.lib.vertex import AsyncAnthropicVertex
    from anthropic.types import (
        OutputConfigParam,
        RawMessageStreamEvent,
        ThinkingConfigParam,
    )
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    Client = anthropic.AsyncAnthropic | AsyncAnthropicBedrock | AsyncAnthropicVertex

_Result = TypeVar("_Result")
_SDK_ERRORS = (anthropic.AnthropicError, httpx2.RequestError, TimeoutError)
_known: dict[Target, AnthropicQuirks] = {}


class AnthropicModel:
    """A `LanguageModel`.

    A reply that the model's own safety rules ended has the stop reason `refusal`: it was paid for like any
    other. Refusals of the provider before that raise.
    """

    def __init__(
        self,
        client: Client,
        name: ModelName,
        endpoint: Endpoint,
        credential_errors: tuple[type[Exception], ...] = (),
    ) -> None:
        self._client = client
        self._model = name.model
        self._endpoint = endpoint
        self._credential_errors = credential_errors
        first = AnthropicQuirks(thinking=least_thinking(name.model))
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
    def client(self) -> Client:
        """The SDK's client, for the batch interface."""
        return self._client

    @property
    def endpoint(self) -> Endpoint:
        return self._endpoint

    async def complete(self, call: TextCall) -> TextReply:
        return await self._habits.call(lambda quirks: self._complete(call, quirks))

    async def reply(self, request: NavigatorRequest) -> AsyncIterator[ModelEvent]:
        events = await self._habits.call(lambda quirks: self.attempt(self._open(request, quirks)))
        stream = AnthropicStream(self._endpoint.redactor)
        failed: Failure | ModelError | None = self._endpoint.page_instead_of_stream(events.response)
        has_events = False
        try:
            async for event in events:
                has_events = True
                if shown := stream.add(event):
                    yield TextDelta(shown)
        except _SDK_ERRORS as error:
            failed = self._failed(error)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            has_events = True
            failed = unreadable(self._endpoint.target, self._endpoint.redactor.clean(repr(error)))
        finally:
            await events.close()
        if not stream.has_begun and (failed is None or isinstance(failed, BadReply)):
            failed = self._endpoint.stream_without_reply(events.response, "content", has_events=has_events)
        if failed is None and not stream.is_complete:
            failed = broken(self._endpoint.target, "the stream ended before its end")
        if failed is not None:
            raise classify(failed, self._endpoint.target) if isinstance(failed, Failure) else failed
        if rest := stream.rest():
            yield TextDelta(rest)
        yield stream.reply()

    async def close(self) -> None:
        await self._client.close()

    def text_params(
        self, call: TextCall, quirks: AnthropicQuirks | None = None
    ) -> MessageCreateParamsNonStreaming:
        """Return the request for a whole reply, for a batch as well."""
        quirks = quirks or self._habits.quirks
        params: MessageCreateParamsNonStreaming = {
            "model": self._model,
            "max_tokens": call.max_output_tokens + _allowance(quirks),
            "system": system_blocks(call.system, quirks),
            "messages": message_params(call.messages, quirks),
        }
        if (thinking := _thinking(quirks)) is not None:
            params["thinking"] = thinking
        if output := _output_config(quirks, call.schema):
            params["output_config"] = output
        return params

    def text_reply(
        self, body: bytes, *, content_type: str = "application/json", status: int = 200
    ) -> TextReply:
        """Read a whole reply.

        Raises:
            BadReply, ModelUnusable: it is none.
        """
        message = self._decoded(body, content_type, status)
        if isinstance(message, ModelError):
            raise message
        text = "".join(block.text for block in message.content if block.type == "text")
        return TextReply(
            text=self._endpoint.redactor.clean(text),
            stop=stop_of(message.stop_reason),
            usage=usage_of(message.usage),
        )

    def _decoded(self, body: bytes, content_type: str, status: int) -> WireMessage | ModelError:
        try:
            return decoded_message(body)
        except msgspec.MsgspecError as error:
            return self._endpoint.not_a_reply(status, content_type, body, str(error), "content")

    async def attempt(self, sent: Awaitable[_Result]) -> _Result | Failure:
        """Wait for an answer of the SDK's. What it raises ends here: its exceptions may show the key.

        Raises:
            ModelError: the network failed, or there are no credentials.
        """
        try:
            return await sent
        except (*_SDK_ERRORS, *self._credential_errors) as error:
            failed = self._failed(error)
        if isinstance(failed, ModelError):
            raise failed
        return failed

    async def _complete(self, call: TextCall, quirks: AnthropicQuirks) -> TextReply | Failure:
        response = await self.attempt(self._ask(call, quirks))
        if isinstance(response, Failure):
            return response
        content_type = response.headers.get("content-type", "")
        return self.text_reply(response.content, content_type=content_type, status=response.status_code)

    async def _ask(self, call: TextCall, quirks: AnthropicQuirks) -> httpx2.Response:
        async with asyncio.timeout(self._endpoint.timeouts.reply):
            response = await self._client.messages.with_raw_response.create(
                **self.text_params(call, quirks), timeout=self._endpoint.timeout_of_replies()
            )
            await response.read()
        return response.http_response

    async def _open(
        self, request: NavigatorRequest, quirks: AnthropicQuirks
    ) -> AsyncStream[RawMessageStreamEvent]:
        messages = message_params(request.messages, quirks)
        if quirks.has_caching:
            cache_prefix(messages)
        tools = tool_params(request.tools) or tools_of_history(request.messages)
        return await self._client.messages.create(
            model=self._model,
            max_tokens=request.max_output_tokens + _allowance(quirks),
            system=system_blocks(request.system, quirks),
            messages=messages,
            tools=tools or anthropic.omit,
            tool_choice=anthropic.omit if request.offers_tools or not tools else {"type": "none"},
            thinking=_thinking(quirks) or anthropic.omit,
            output_config=_output_config(quirks, "") or anthropic.omit,
            stream=True,
            timeout=self._endpoint.timeout_of_streams(),
        )

    def _failed(self, error: Exception) -> Failure | ModelError:
        match error:
            case anthropic.APIStatusError():
                headers = dict(error.response.headers)
                return self._endpoint.failure(error.status_code, error.body, headers, error.message)
            case anthropic.APIConnectionError() | httpx2.RequestError() | TimeoutError():
                return self._endpoint.transport_error(error)
            case ImportError():
                return ModelUnusable("sdk_missing", model=self.name, library=error.name or str(error))
            case _:
                reason = self._endpoint.redactor.clean(f"{type(error).__name__}: {error}")
                return ModelUnusable("credentials_unusable", model=self.name, reason=reason)


def _thinking(quirks: AnthropicQuirks) -> ThinkingConfigParam | None:
    match quirks.thinking:
        case "disabled":
            return {"type": "disabled"}
        case "between_tools":
            return {"type": "between_tools"}
        case _:
            return None


def _output_config(quirks: AnthropicQuirks, schema: str) -> OutputConfigParam:
    config: OutputConfigParam = {}
    if quirks.thinking == "low_effort":
        config["effort"] = "low"
    if schema and quirks.has_schema:
        config["format"] = {"type": "json_schema", "schema": _schema(schema)}
    return config


@lru_cache(maxsize=32)
def _schema(schema: str) -> dict[str, object]:
    """Return the schema as the API takes it: limits that it does not know become words."""
    return cast("dict[str, object]", anthropic.transform_schema(json.loads(schema)))


def _allowance(quirks: AnthropicQuirks) -> int:
    return ALLOWANCE if may_think(quirks.thinking) else 0
