"""Between our messages and Anthropic's: what is sent and what comes back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

import msgspec

from corpus2skill.adapters.llm.anthropic_quirks import AnthropicQuirks
from corpus2skill.adapters.llm.token_count import token_count
from corpus2skill.domain.message import (
    MADE_UP_CALL,
    Message,
    ModelMessage,
    ModelPart,
    ProgramMessage,
    ProgramPart,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from corpus2skill.ports.navigator_model import ToolSpec

if TYPE_CHECKING:
    from anthropic.types import (
        CacheControlEphemeralParam,
        ContentBlockParam,
        MessageParam,
        TextBlockParam,
        ToolParam,
        ToolResultBlockParam,
    )

_REDACTED = "redacted_thinking:"
"""Marks the signature of a block whose thinking came encrypted: it goes back in its own form."""
_CACHED: CacheControlEphemeralParam = {"type": "ephemeral"}


class WireUsage(msgspec.Struct, frozen=True):
    """Tokens as Anthropic counts them: the three kinds of input exclude each other."""

    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cache_read_input_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0


class WireBlock(msgspec.Struct, frozen=True):
    type: str
    text: str = ""
    thinking: str = ""
    signature: str | None = None
    data: str = ""
    id: str = ""
    name: str = ""
    input: dict[str, object] = {}


class WireMessage(msgspec.Struct, frozen=True):
    """A whole reply."""

    content: list[WireBlock]
    stop_reason: str | None = None
    usage: WireUsage = WireUsage()


def decoded_message(body: bytes) -> WireMessage:
    """Return the reply.

    Raises:
        msgspec.MsgspecError: it is none.
    """
    return _decoder.decode(body)


_decoder = msgspec.json.Decoder(WireMessage)


def usage_of(wire: WireUsage) -> Usage:
    cached, written = token_count(wire.cache_read_input_tokens), token_count(wire.cache_creation_input_tokens)
    return Usage(
        input_tokens=token_count(wire.input_tokens) + cached + written,
        output_tokens=token_count(wire.output_tokens),
        cached_tokens=cached,
        cache_written_tokens=written,
    )


def stop_of(reason: str | None) -> StopReason:
    match reason:
        case "tool_use" | "refusal":
            return reason
        case "max_tokens" | "model_context_window_exceeded":
            return "max_tokens"
        case _:
            return "end"


def redacted_thinking(data: str) -> Thinking:
    return Thinking(text="", signature=_REDACTED + data)


def system_blocks(system: str, quirks: AnthropicQuirks) -> list[TextBlockParam]:
    block: TextBlockParam = {"type": "text", "text": system}
    if quirks.has_caching:
        block["cache_control"] = _CACHED
    return [block]


def tool_params(tools: Sequence[ToolSpec]) -> list[ToolParam]:
    """Return the tools. They stand before the instructions, whose mark for the cache counts for them too."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": json.loads(tool.schema)}
        for tool in tools
    ]


def tools_of_history(messages: Sequence[Message]) -> list[ToolParam]:
    """Return tools for a request that may use none: a history with calls in it wants them named."""
    names = dict.fromkeys(
        part.name
        for message in messages
        if isinstance(message, ModelMessage)
        for part in message.parts
        if isinstance(part, ToolCall)
    )
    return [{"name": name, "input_schema": {"type": "object"}} for name in names]


def message_params(messages: Sequence[Message], quirks: AnthropicQuirks) -> list[MessageParam]:
    """Return the history: neighbours of one role joined, results before words, nothing empty."""
    params: list[MessageParam] = []
    for role, blocks in _turns(messages, quirks):
        if params and params[-1]["role"] == role:
            cast("list[ContentBlockParam]", params[-1]["content"]).extend(blocks)
        elif blocks:
            params.append(cast("MessageParam", {"role": role, "content": blocks}))
    for param in params:
        if param["role"] == "user":
            cast("list[ContentBlockParam]", param["content"]).sort(key=_results_first)
    return params


def cache_prefix(params: Sequence[MessageParam]) -> None:
    """Mark the ends of the last two messages of the user: the next round's prefix is found by either."""
    users = [param for param in params if param["role"] == "user"]
    for param in users[-2:]:
        block = cast("list[ContentBlockParam]", param["content"])[-1]
        cast("TextBlockParam", block)["cache_control"] = _CACHED


def _turns(
    messages: Sequence[Message], quirks: AnthropicQuirks
) -> Iterator[tuple[str, list[ContentBlockParam]]]:
    for message in messages:
        match message:
            case ProgramMessage(parts):
                yield (
                    "user",
                    [block for part in parts if (block := _user_block(part, quirks)) is not None],
                )
            case ModelMessage(parts):
                yield (
                    "assistant",
                    [
                        block
                        for part in parts
                        if (block := _model_block(part, quirks.takes_made_up_calls)) is not None
                    ],
                )


def _user_block(part: ProgramPart, quirks: AnthropicQuirks) -> ContentBlockParam | None:
    match part:
        case ToolResult(call_id=call_id) if call_id == MADE_UP_CALL:
            return _made_up_block(part, quirks)
        case ToolResult():
            return _result_block(part)
        case Text(text):
            return {"type": "text", "text": text} if text.strip() else None


def _made_up_block(result: ToolResult, quirks: AnthropicQuirks) -> TextBlockParam | ToolResultBlockParam:
    """Up to its end all first rounds on a version are alike: that is what later runs find in the cache."""
    block: TextBlockParam | ToolResultBlockParam = (
        _result_block(result) if quirks.takes_made_up_calls else {"type": "text", "text": result.content}
    )
    if quirks.has_caching:
        block["cache_control"] = _CACHED
    return block


def _result_block(result: ToolResult) -> ToolResultBlockParam:
    return {
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": result.content,
        "is_error": result.is_error,
    }


def _model_block(part: ModelPart, takes_made_up_calls: bool) -> ContentBlockParam | None:
    match part:
        case Text(text):
            return {"type": "text", "text": text} if text.strip() else None
        case Thinking(text=text, signature=signature):
            return _thinking_block(text, signature)
        case ToolCall(call_id=call_id, name=name, arguments=arguments):
            if call_id == MADE_UP_CALL and not takes_made_up_calls:
                return None
            return {"type": "tool_use", "id": call_id, "name": name, "input": _arguments(arguments)}


def _thinking_block(text: str, signature: str | None) -> ContentBlockParam | None:
    if signature is None:
        return None
    if signature.startswith(_REDACTED):
        return {"type": "redacted_thinking", "data": signature.removeprefix(_REDACTED)}
    return {"type": "thinking", "thinking": text, "signature": signature}


def _arguments(arguments: str) -> dict[str, object]:
    """What a call asked for, with a question mark for each half of a surrogate pair: no request can carry it."""
    try:
        written = json.dumps(json.loads(arguments), ensure_ascii=False)
        value = json.loads(written.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _results_first(block: ContentBlockParam) -> bool:
    return cast("dict[str, object]", block)["type"] != "tool_result"
