"""Messages, streams and errors in Anthropic's shapes."""

from __future__ import annotations

from collections.abc import Iterator

from corpus2skill.domain.message import ModelPart, StopReason, Text, Thinking, ToolCall, Usage
from tests.fakes.providers.behaviour import ErrorKind
from tests.fakes.providers.prompt import Answer
from tests.fakes.providers.signature import sign
from tests.fakes.providers.wire import JsonObject, WireError, decode, encode, obj

STOP_REASONS: dict[StopReason, str] = {
    "end": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
}
_FAILURES: dict[ErrorKind, tuple[int, str, str, str | None]] = {
    "authentication": (401, "authentication_error", "invalid x-api-key", None),
    "permission": (
        403,
        "permission_error",
        "Your API key does not have permission to use the specified resource.",
        None,
    ),
    "rate_limit": (
        429,
        "rate_limit_error",
        "This request would exceed your organization's rate limit of 50 requests per minute.",
        None,
    ),
    "overloaded": (529, "overloaded_error", "Overloaded", None),
    "server_error": (500, "api_error", "Internal server error", None),
    "bad_gateway": (502, "api_error", "Bad gateway", None),
    "unavailable": (503, "api_error", "Service unavailable", None),
    "gateway_timeout": (504, "timeout_error", "Gateway timeout", None),
    "quota": (
        429,
        "rate_limit_error",
        "You have reached your specified API usage limits. You will regain access on 2027-01-01 at 00:00 UTC.",
        "enforced_spend_limit_reached",
    ),
    "payment": (
        402,
        "billing_error",
        "There is an issue with your billing or payment information.",
        None,
    ),
    "billing": (
        400,
        "invalid_request_error",
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
        None,
    ),
}
_PIECE = 12
"""Characters in one delta."""


def failure(kind: ErrorKind) -> WireError:
    status, error_type, message, code = _FAILURES[kind]
    return WireError(status=status, kind=error_type, message=message, code=code)


def error_body(error: WireError, request_id: str) -> JsonObject:
    inner: JsonObject = {"type": error.kind, "message": error.message}
    if error.code is not None:
        inner["details"] = {"error_code": error.code}
    return {"type": "error", "error": inner, "request_id": request_id}


def message(message_id: str, model: str, answer: Answer, usage: Usage, *, omits_thoughts: bool) -> JsonObject:
    return {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [_block(part, omits_thoughts=omits_thoughts) for part in answer.parts],
        **_stop(answer),
        "usage": _usage(usage),
    }


def events(
    message_id: str, model: str, answer: Answer, usage: Usage, *, omits_thoughts: bool
) -> Iterator[bytes]:
    """The stream of one message, event by event."""
    begun: JsonObject = {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
        "usage": {**_usage(usage), "output_tokens": 1},
    }
    yield event("message_start", {"message": begun})
    yield event("ping", {})
    for index, part in enumerate(answer.parts):
        yield event("content_block_start", {"index": index, "content_block": _empty_block(part)})
        for delta in _deltas(part, omits_thoughts=omits_thoughts):
            yield event("content_block_delta", {"index": index, "delta": delta})
        yield event("content_block_stop", {"index": index})
    yield event("message_delta", {"delta": _stop(answer), "usage": {"output_tokens": usage.output_tokens}})
    yield event("message_stop", {})


def event(name: str, value: JsonObject) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + encode({"type": name, **value}) + b"\n\n"


def _stop(answer: Answer) -> JsonObject:
    details = None
    if answer.stop == "refusal":
        details = {"type": "refusal", "category": None, "explanation": "The request was declined."}
    return {"stop_reason": STOP_REASONS[answer.stop], "stop_sequence": None, "stop_details": details}


def _usage(usage: Usage) -> JsonObject:
    """Anthropic counts cached input beside `input_tokens`, not within them."""
    return {
        "input_tokens": usage.input_tokens - usage.cached_tokens - usage.cache_written_tokens,
        "output_tokens": usage.output_tokens,
        "cache_creation_input_tokens": usage.cache_written_tokens,
        "cache_read_input_tokens": usage.cached_tokens,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_written_tokens,
            "ephemeral_1h_input_tokens": 0,
        },
        "service_tier": "standard",
    }


def _block(part: ModelPart, *, omits_thoughts: bool) -> JsonObject:
    match part:
        case Text(words):
            return {"type": "text", "text": words, "citations": None}
        case Thinking(text=thought, signature=signature):
            shown = "" if omits_thoughts else thought
            return {"type": "thinking", "thinking": shown, "signature": _signature(thought, signature)}
        case ToolCall(call_id=call_id, name=name, arguments=arguments):
            return {"type": "tool_use", "id": call_id, "name": name, "input": _input(arguments)}


def _empty_block(part: ModelPart) -> JsonObject:
    match part:
        case Text():
            return {"type": "text", "text": ""}
        case Thinking():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case ToolCall(call_id=call_id, name=name):
            return {"type": "tool_use", "id": call_id, "name": name, "input": {}}


def _deltas(part: ModelPart, *, omits_thoughts: bool) -> Iterator[JsonObject]:
    match part:
        case Text(words):
            for piece in _pieces(words):
                yield {"type": "text_delta", "text": piece}
        case Thinking(text=thought, signature=signature):
            if not omits_thoughts:
                for piece in _pieces(thought):
                    yield {"type": "thinking_delta", "thinking": piece}
            yield {"type": "signature_delta", "signature": _signature(thought, signature)}
        case ToolCall(arguments=arguments):
            for piece in ("", *_pieces(arguments)):
                yield {"type": "input_json_delta", "partial_json": piece}


def _pieces(words: str) -> Iterator[str]:
    for start in range(0, len(words), _PIECE):
        yield words[start : start + _PIECE]


def _signature(thought: str, given: str | None) -> str:
    return sign(thought) if given is None else given


def _input(arguments: str) -> JsonObject:
    """A whole message can only carry an object; what is none comes as the empty object."""
    try:
        value = decode(arguments)
    except ValueError:
        return {}
    return obj(value)
