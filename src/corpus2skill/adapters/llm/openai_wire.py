"""Between our messages and chat completions: what is sent and what comes back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import msgspec

from corpus2skill.adapters.llm.openai_quirks import OpenAIQuirks
from corpus2skill.adapters.llm.token_count import token_count
from corpus2skill.domain.message import (
    MADE_UP_CALL,
    Message,
    ModelMessage,
    ProgramMessage,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from corpus2skill.ports.navigator_model import NavigatorRequest, ToolSpec

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam
    from openai.types.chat.completion_create_params import ResponseFormat

EXTRA = "extra_content:"
"""Marks the signature of what a server wants back beside its tool calls, such as Gemini's thought signatures."""
_UNKNOWN_TO_STRICT = frozenset({"minLength", "maxLength", "default", "uniqueItems", "$schema"})


class _PromptDetails(msgspec.Struct, frozen=True):
    cached_tokens: int | None = 0
    cache_write_tokens: int | None = 0


class _CompletionDetails(msgspec.Struct, frozen=True):
    reasoning_tokens: int | None = 0


class WireUsage(msgspec.Struct, frozen=True):
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _CompletionDetails | None = None


class _Piece(msgspec.Struct, frozen=True):
    text: str = ""


class WireFunction(msgspec.Struct, frozen=True):
    name: str | None = ""
    arguments: str | dict[str, object] | None = ""


class WireCall(msgspec.Struct, frozen=True):
    function: WireFunction = WireFunction()
    id: str | None = ""
    extra_content: dict[str, object] | None = None


class WireReply(msgspec.Struct, frozen=True):
    """A whole message of the model's."""

    content: str | list[_Piece] | None = None
    refusal: str | None = None
    tool_calls: list[WireCall] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "".join(piece.text for piece in self.content)
        return self.content or ""


class WireChoice(msgspec.Struct, frozen=True):
    message: WireReply
    finish_reason: str | None = None


class WireCompletion(msgspec.Struct, frozen=True):
    choices: list[WireChoice] | None = None
    usage: WireUsage | None = None
    error: object = None
    """Gateways report an error of the provider behind them with status 200."""


_decoder = msgspec.json.Decoder(WireCompletion)


def decoded_completion(body: bytes) -> WireCompletion:
    """Return the reply.

    Raises:
        msgspec.MsgspecError: it is none.
    """
    return _decoder.decode(body)


def usage_of(wire: WireUsage | None) -> Usage:
    if wire is None:
        return Usage()
    details = wire.prompt_tokens_details or _PromptDetails()
    return Usage(
        input_tokens=token_count(wire.prompt_tokens),
        output_tokens=token_count(wire.completion_tokens),
        cached_tokens=token_count(details.cached_tokens),
        cache_written_tokens=token_count(details.cache_write_tokens),
    )


def stop_of(reason: str | None, *, has_calls: bool = False, is_refused: bool = False) -> StopReason:
    match reason:
        case "length":
            return "max_tokens"
        case "content_filter":
            return "refusal"
        case _ if is_refused:
            return "refusal"
        case _:
            return "tool_use" if has_calls or reason in {"tool_calls", "function_call"} else "end"


def extra_part(extras: Mapping[int, object]) -> Thinking:
    """Return what keeps `extras` in the history, by the number of the call in its reply, from 0.

    Not by its id: one that came twice is replaced before it goes back.
    """
    return Thinking(text="", signature=EXTRA + json.dumps(extras))


def message_params(
    system: str, messages: Sequence[Message], quirks: OpenAIQuirks
) -> list[ChatCompletionMessageParam]:
    """Return the history: results before words, neighbours of the user joined, nothing empty."""
    params: list[dict[str, object]] = []
    if system:
        params.append({"role": "system" if quirks.has_system_role else "user", "content": system})
    for message in messages:
        match message:
            case ProgramMessage(parts):
                params.extend(_results(parts, takes_made_up_calls=quirks.takes_made_up_calls))
            case ModelMessage():
                params.extend(_model_message(message, takes_made_up_calls=quirks.takes_made_up_calls))
    return cast("list[ChatCompletionMessageParam]", _joined(params))


def tool_params(tools: Sequence[ToolSpec]) -> list[ChatCompletionFunctionToolParam]:
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": json.loads(tool.schema),
            },
        }
        for tool in tools
    ]


def response_format(schema: str, quirks: OpenAIQuirks) -> ResponseFormat | None:
    match quirks.reply_format:
        case "json_schema" if schema:
            held, is_strict = strict_schema(schema)
            return {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": held, "strict": is_strict},
            }
        case "json_object" if schema:
            return {"type": "json_object"}
        case _:
            return None


def cache_key(request: NavigatorRequest) -> str:
    """Return what leads the rounds of one run to the same cache: they share system prompt and first message."""
    first = repr(request.messages[:1])
    return hashlib.sha256(f"{request.system}\0{first}".encode()).hexdigest()[:32]


@lru_cache(maxsize=32)
def strict_schema(schema: str) -> tuple[dict[str, object], bool]:
    """Return the schema as strict mode wants it, and whether it can be strict: maps of free keys cannot."""
    held = _strict(json.loads(schema))
    return cast("dict[str, object]", held), not _has_free_keys(held)


def _results(parts: Sequence[Text | ToolResult], *, takes_made_up_calls: bool) -> Iterator[dict[str, object]]:
    for part in parts:
        if isinstance(part, ToolResult):
            if part.call_id == MADE_UP_CALL and not takes_made_up_calls:
                yield {"role": "user", "content": part.content}
            else:
                yield {"role": "tool", "tool_call_id": part.call_id, "content": part.content}
    for part in parts:
        if isinstance(part, Text) and part.text.strip():
            yield {"role": "user", "content": part.text}


def _model_message(message: ModelMessage, *, takes_made_up_calls: bool) -> Iterator[dict[str, object]]:
    extras = _extras(message)
    calls = [
        {
            "id": call.call_id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments or "{}"},
            **({"extra_content": extras[number]} if number in extras else {}),
        }
        for number, call in enumerate(part for part in message.parts if isinstance(part, ToolCall))
        if takes_made_up_calls or call.call_id != MADE_UP_CALL
    ]
    text = "".join(part.text for part in message.parts if isinstance(part, Text))
    if calls:
        yield {"role": "assistant", **({"content": text} if text.strip() else {}), "tool_calls": calls}
    elif text.strip():
        yield {"role": "assistant", "content": text}


def _extras(message: ModelMessage) -> dict[int, object]:
    extras: dict[int, object] = {}
    for part in message.parts:
        if isinstance(part, Thinking) and part.signature is not None and part.signature.startswith(EXTRA):
            kept: dict[str, object] = json.loads(part.signature.removeprefix(EXTRA))
            extras |= {int(number): extra for number, extra in kept.items()}
    return extras


def _joined(params: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    """Join neighbours that only have words: many templates want the roles to take turns."""
    joined: list[dict[str, object]] = []
    for param in params:
        last = joined[-1] if joined else {}
        if param["role"] == "user" and last.get("role") == "user":
            last["content"] = f"{last['content']}\n\n{param['content']}"
        else:
            joined.append(dict(param))
    return joined


def _strict(schema: object) -> object:
    if isinstance(schema, list):
        return [_strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    strict: dict[str, object] = {}
    for name, value in schema.items():
        if name == "properties" and isinstance(value, dict):
            strict[name] = {key: _strict(held) for key, held in value.items()}
            strict["required"] = list(value)
            strict.setdefault("additionalProperties", False)
        elif name not in _UNKNOWN_TO_STRICT and (name != "required" or "properties" not in schema):
            strict[name] = value if name in {"enum", "const"} else _strict(value)
    return strict


def _has_free_keys(schema: object) -> bool:
    if isinstance(schema, list):
        return any(_has_free_keys(item) for item in schema)
    if not isinstance(schema, dict):
        return False
    is_free = schema.get("type") == "object" and schema.get("additionalProperties") is not False
    return is_free or any(_has_free_keys(value) for value in schema.values())
