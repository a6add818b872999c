"""Completions, chunks and errors in OpenAI's shapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from corpus2skill.domain.message import ModelPart, StopReason, Thinking, ToolCall, Usage
from tests.fakes.providers.behaviour import ErrorKind
from tests.fakes.providers.prompt import Answer
from tests.fakes.providers.quirks import Quirks
from tests.fakes.providers.wire import JsonObject, WireError, encode

_FINISH: dict[StopReason, str] = {
    "end": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "stop",
}
_FAILURES: dict[ErrorKind, tuple[int, str, str, str | None]] = {
    "authentication": (
        401,
        "invalid_request_error",
        "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys.",
        "invalid_api_key",
    ),
    "permission": (
        403,
        "invalid_request_error",
        "You do not have access to this resource.",
        "insufficient_permissions",
    ),
    "rate_limit": (
        429,
        "requests",
        "Rate limit reached for requests: Limit 3, Used 3, Requested 1. Please try again in 20s.",
        "rate_limit_exceeded",
    ),
    "overloaded": (
        503,
        "server_error",
        "The engine is currently overloaded, please try again later",
        None,
    ),
    "server_error": (
        500,
        "server_error",
        "The server had an error while processing your request. Sorry about that!",
        None,
    ),
    "bad_gateway": (502, "server_error", "Bad gateway.", None),
    "unavailable": (503, "server_error", "Service unavailable.", None),
    "gateway_timeout": (504, "server_error", "Gateway timeout.", None),
    "quota": (
        429,
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
        "insufficient_quota",
    ),
    "payment": (402, "billing_error", "Insufficient credits.", None),
    "billing": (
        429,
        "insufficient_quota",
        "Your account is not active, please check your billing details on our website.",
        "billing_not_active",
    ),
}
_PIECE = 12
"""Characters in one delta."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What every chunk of a stream repeats."""

    completion_id: str
    model: str
    created: int
    quirks: Quirks
    includes_usage: bool


def failure(kind: ErrorKind) -> WireError:
    status, error_type, message, code = _FAILURES[kind]
    return WireError(status=status, kind=error_type, message=message, code=code)


def error_body(error: WireError, quirks: Quirks) -> JsonObject:
    if quirks.is_error_a_string:
        return {"error": error.message}
    return {
        "error": {
            "message": error.message,
            "type": error.kind,
            "param": error.param,
            "code": error.code,
        }
    }


def completion(frame: Frame, answer: Answer, usage: Usage) -> JsonObject:
    choice: JsonObject = {"index": 0, "message": _message(answer, frame.quirks), "logprobs": None}
    if frame.quirks.has_finish_reason:
        choice["finish_reason"] = finish_reason(answer)
    whole: JsonObject = {
        "id": frame.completion_id,
        "object": "chat.completion",
        "created": frame.created,
        "model": frame.model,
        "choices": [choice],
        "service_tier": "default",
        "system_fingerprint": "fp_fake",
    }
    if frame.quirks.has_usage:
        whole["usage"] = _usage(usage)
    return whole


def chunks(frame: Frame, answer: Answer, usage: Usage) -> Iterator[bytes]:
    """The stream of one completion, event by event."""
    yield _chunk(frame, {"role": "assistant", "content": "", "refusal": None})
    for delta in _deltas(answer, frame.quirks):
        yield _chunk(frame, delta)
    if frame.quirks.has_finish_reason:
        yield _chunk(frame, {}, finish_reason(answer))
    if frame.includes_usage and frame.quirks.has_stream_usage:
        yield _event({**_head(frame), "choices": [], "usage": _usage(usage)})
    if frame.quirks.ends_with_done:
        yield b"data: [DONE]\n\n"


def error_chunk(error: WireError, quirks: Quirks) -> bytes:
    return _event(error_body(error, quirks))


def finish_reason(answer: Answer) -> str:
    """A refusal with words is the model's own; one without is the content filter's."""
    if answer.stop == "refusal" and not answer.text:
        return "content_filter"
    return _FINISH[answer.stop]


def _message(answer: Answer, quirks: Quirks) -> JsonObject:
    calls = [_tool_call(part) for part in answer.parts if isinstance(part, ToolCall)]
    is_refusal = answer.stop == "refusal" and bool(answer.text)
    words = _thinking_first(answer, quirks)
    message: JsonObject = {
        "role": "assistant",
        "content": None if is_refusal or (calls and not words) else words,
        "refusal": answer.text if is_refusal else None,
        "annotations": [],
    }
    if calls:
        message["tool_calls"] = calls
    if quirks.thinks_beside and (thought := _thought(answer)):
        message["reasoning_content"] = thought
    return message


def _thinking_first(answer: Answer, quirks: Quirks) -> str:
    thought = _thought(answer)
    return (
        f"<think>\n{thought}\n</think>\n\n{answer.text}" if thought and quirks.thinks_in_text else answer.text
    )


def _thought(answer: Answer) -> str:
    return "".join(part.text for part in answer.parts if isinstance(part, Thinking))


def _tool_call(part: ToolCall) -> JsonObject:
    return {
        "id": part.call_id,
        "type": "function",
        "function": {"name": part.name, "arguments": part.arguments},
    }


def _deltas(answer: Answer, quirks: Quirks) -> Iterator[JsonObject]:
    if quirks.thinks_beside:
        for piece in _pieces(_thought(answer)):
            yield {"reasoning_content": piece}
    field = "refusal" if answer.stop == "refusal" else "content"
    for piece in _pieces(_thinking_first(answer, quirks)):
        yield {field: piece}
    for index, part in enumerate(_calls(answer.parts)):
        yield from _call_deltas(index, part, quirks)


def _call_deltas(index: int, part: ToolCall, quirks: Quirks) -> Iterator[JsonObject]:
    if quirks.tools == "whole in a stream":
        yield {"tool_calls": [_tool_call(part)]}
        return
    head = {"name": part.name, "arguments": ""}
    yield {"tool_calls": [{"index": index, "id": part.call_id, "type": "function", "function": head}]}
    for piece in _pieces(part.arguments):
        yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _calls(parts: tuple[ModelPart, ...]) -> list[ToolCall]:
    return [part for part in parts if isinstance(part, ToolCall)]


def _pieces(words: str) -> Iterator[str]:
    for start in range(0, len(words), _PIECE):
        yield words[start : start + _PIECE]


def _chunk(frame: Frame, delta: JsonObject, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    value: JsonObject = {**_head(frame), "choices": [choice]}
    if frame.includes_usage and frame.quirks.has_stream_usage:
        value["usage"] = None
    return _event(value)


def _head(frame: Frame) -> JsonObject:
    return {
        "id": frame.completion_id,
        "object": "chat.completion.chunk",
        "created": frame.created,
        "model": frame.model,
        "system_fingerprint": "fp_fake",
    }


def _event(value: JsonObject) -> bytes:
    return b"data: " + encode(value) + b"\n\n"


def _usage(usage: Usage) -> JsonObject:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }
