"""What OpenAI's chat completions refuse, in their own words, and what a call says in neutral ones."""

from __future__ import annotations

import re
from collections.abc import Mapping

from corpus2skill.domain.message import ModelPart, Text, ToolCall
from tests.fakes.providers.models import ModelCard
from tests.fakes.providers.prompt import Prompt, ToolOutcome, Turn
from tests.fakes.providers.quirks import Quirks
from tests.fakes.providers.schema_rules import check_openai_schema
from tests.fakes.providers.wire import (
    JsonObject,
    WireError,
    encode,
    items,
    number,
    obj,
    objects,
    text,
    tokens,
)

_FIELDS = frozenset(
    {
        "messages",
        "model",
        "audio",
        "frequency_penalty",
        "function_call",
        "functions",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "metadata",
        "modalities",
        "moderation",
        "n",
        "parallel_tool_calls",
        "prediction",
        "presence_penalty",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning_effort",
        "response_format",
        "safety_identifier",
        "seed",
        "service_tier",
        "stop",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "user",
        "verbosity",
        "web_search_options",
    }
)
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def refuse(
    message: str,
    *,
    param: str | None = None,
    code: str | None = None,
    status: int = 400,
    kind: str = "invalid_request_error",
) -> WireError:
    return WireError(status=status, kind=kind, message=message, param=param, code=code)


def read_chat_call(body: JsonObject, models: Mapping[str, ModelCard], quirks: Quirks) -> Prompt:
    """Check the body of `/v1/chat/completions` and return what it asks.

    Raises:
        WireError: the server would refuse it.
    """
    card = _card(body, models)
    if not quirks.is_lax:
        _check_parameters(body, card)
    system, turns = _history(body, is_lax=quirks.is_lax)
    if not quirks.is_lax:
        _check_pairs(objects(body.get("messages")))
    count = prompt_tokens(body)
    limit = _limit(body, card, quirks)
    if quirks.cuts_long_prompts:
        turns, count = _last_of(turns, card.window), min(count, card.window)
    else:
        _check_window(count, limit or 0, card)
    return Prompt(
        provider="openai",
        model=card.name,
        system=system,
        turns=turns,
        tools=_tools(body, quirks),
        schema=_schema(body, quirks),
        max_tokens=limit,
        input_tokens=count,
        is_streamed=body.get("stream") is True,
        includes_usage=obj(body.get("stream_options")).get("include_usage") is True,
        wants_thinking=card.reasons and body.get("reasoning_effort") not in (None, "none", "minimal"),
    )


def _check_window(count: int, limit: int, card: ModelCard) -> None:
    if count > card.window:
        told = f"your messages resulted in {count} tokens. Please reduce the length of the messages."
    elif count + limit > card.window:
        told = (
            f"you requested {count + limit} tokens ({count} in the messages, {limit} in the completion). "
            "Please reduce the length of the messages or completion."
        )
    else:
        return
    raise refuse(
        f"This model's maximum context length is {card.window} tokens. However, {told}",
        param="messages",
        code="context_length_exceeded",
    )


def _last_of(turns: tuple[Turn, ...], window: int) -> tuple[Turn, ...]:
    """The end of the first turn's text, as long as the window takes it."""
    first, *rest = turns
    words = first.text
    excess = tokens(words) - window
    if excess <= 0:
        return turns
    return (Turn(role=first.role, parts=(Text(words[excess:]),)), *rest)


def prompt_tokens(body: JsonObject) -> int:
    parts = (body.get("messages"), body.get("tools"))
    return sum(tokens(encode(part).decode()) for part in parts if part)


def _card(body: JsonObject, models: Mapping[str, ModelCard]) -> ModelCard:
    name = body.get("model")
    if not isinstance(name, str) or not name:
        raise refuse("you must provide a model parameter")
    if name not in models:
        raise refuse(
            f"The model `{name}` does not exist or you do not have access to it.",
            code="model_not_found",
            status=404,
        )
    return models[name]


def _check_parameters(body: JsonObject, card: ModelCard) -> None:
    for name in body:
        if name not in _FIELDS:
            raise refuse(f"Unknown parameter: '{name}'.", param=name, code="unknown_parameter")
    if body.get("max_tokens") is not None and not card.takes_max_tokens:
        raise refuse(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            param="max_tokens",
            code="unsupported_parameter",
        )
    if body.get("reasoning_effort") is not None and not card.reasons:
        raise refuse("Unrecognized request argument supplied: reasoning_effort", param="reasoning_effort")
    for name in ("temperature", "top_p"):
        if body.get(name) not in (None, 1, 1.0) and not card.takes_sampling:
            raise refuse(
                f"Unsupported value: '{name}' does not support {body[name]} with this model. Only the default (1) value is supported.",
                param=name,
                code="unsupported_value",
            )
    if body.get("stream_options") is not None and body.get("stream") is not True:
        raise refuse(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.", param="stream_options"
        )
    for name in ("tool_choice", "parallel_tool_calls"):
        if body.get(name) is not None and not items(body.get("tools")):
            raise refuse(
                f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified.",
                param=name,
            )


def _limit(body: JsonObject, card: ModelCard, quirks: Quirks) -> int | None:
    names = {
        "by model": ("max_completion_tokens", "max_tokens"),
        "either": ("max_completion_tokens", "max_tokens"),
        "max_tokens": ("max_tokens",),
        "max_completion_tokens": ("max_completion_tokens",),
    }[quirks.tokens_field]
    for name in names:
        if (value := body.get(name)) is None:
            continue
        limit = number(value)
        if limit is None or limit < 1:
            raise refuse(
                f"Invalid '{name}': integer below minimum value. Expected a value >= 1, but got {value} instead.",
                param=name,
                code="integer_below_min_value",
            )
        if limit > card.max_output and not quirks.is_lax:
            raise refuse(
                f"{name} is too large: {limit}. This model supports at most {card.max_output} completion tokens, whereas you provided {limit}.",
                param=name,
                code="invalid_value",
            )
        return limit
    return None


def _history(body: JsonObject, *, is_lax: bool) -> tuple[str, tuple[Turn, ...]]:
    messages = items(body.get("messages"))
    if "messages" not in body:
        raise refuse(
            "Missing required parameter: 'messages'.", param="messages", code="missing_required_parameter"
        )
    if not messages:
        raise refuse(
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            param="messages",
            code="empty_array",
        )
    system: list[str] = []
    turns: list[Turn] = []
    for position, message in enumerate(map(obj, messages)):
        if message.get("role") in ("system", "developer"):
            system.append(_words(position, message, is_lax=is_lax))
            continue
        turn = _turn(position, message, is_lax=is_lax)
        if turns and turns[-1].role == turn.role:
            turns[-1] = Turn(role=turn.role, parts=turns[-1].parts + turn.parts)
        else:
            turns.append(turn)
    return "\n".join(system), tuple(turns)


def _turn(position: int, message: JsonObject, *, is_lax: bool) -> Turn:
    match message.get("role"):
        case "user":
            return Turn(role="user", parts=(Text(_words(position, message, is_lax=is_lax)),))
        case "assistant":
            return Turn(role="assistant", parts=_assistant(position, message, is_lax=is_lax))
        case "tool":
            outcome = ToolOutcome(
                call_id=text(message.get("tool_call_id")), content=_words(position, message, is_lax=is_lax)
            )
            return Turn(role="user", parts=(outcome,))
        case role:
            raise refuse(
                f"Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
                param=f"messages[{position}].role",
                code="invalid_value",
            )


def _assistant(position: int, message: JsonObject, *, is_lax: bool) -> tuple[ModelPart, ...]:
    calls = [_call(position, index, call) for index, call in enumerate(objects(message.get("tool_calls")))]
    if "tool_calls" in message and not calls and not is_lax:
        raise refuse(
            f"Invalid 'messages[{position}].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            param=f"messages[{position}].tool_calls",
            code="empty_array",
        )
    if message.get("content") is None and calls:
        return tuple(calls)
    return (Text(_words(position, message, is_lax=is_lax)), *calls)


def _call(position: int, index: int, call: JsonObject) -> ToolCall:
    where = f"messages[{position}].tool_calls[{index}]"
    function = obj(call.get("function"))
    if call.get("type") != "function":
        raise refuse(
            f"Missing required parameter: '{where}.type'.",
            param=f"{where}.type",
            code="missing_required_parameter",
        )
    if not isinstance(function.get("arguments"), str):
        raise refuse(
            f"Invalid type for '{where}.function.arguments': expected a string, but got an object instead.",
            param=f"{where}.function.arguments",
            code="invalid_type",
        )
    return ToolCall(
        call_id=text(call.get("id")), name=text(function.get("name")), arguments=text(function["arguments"])
    )


def _words(position: int, message: JsonObject, *, is_lax: bool) -> str:
    content = message.get("content")
    if parts := objects(content):
        return "\n".join(text(part.get("text")) for part in parts)
    if not isinstance(content, str):
        if is_lax and content is None:
            return ""
        raise refuse(
            "Invalid value for 'content': expected a string, got null.",
            param=f"messages.[{position}].content",
        )
    return content


def _check_pairs(messages: list[JsonObject]) -> None:
    waiting: list[str] = []
    for position, message in enumerate(messages):
        if message.get("role") == "tool":
            call_id = text(message.get("tool_call_id"))
            if call_id not in waiting:
                raise refuse(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
                    param=f"messages.[{position}].role",
                )
            waiting.remove(call_id)
            continue
        _check_answered(position, waiting)
        waiting = [text(call.get("id")) for call in objects(message.get("tool_calls"))]
    _check_answered(len(messages), waiting)


def _check_answered(position: int, waiting: list[str]) -> None:
    if waiting:
        raise refuse(
            f"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(waiting)}",
            param=f"messages.[{position}].role",
        )


def _schema(body: JsonObject, quirks: Quirks) -> JsonObject | None:
    wanted = obj(body.get("response_format"))
    kind = wanted.get("type")
    if not wanted or kind == "text" or quirks.response_format == "ignored":
        return None
    if quirks.response_format == "refused" or (
        kind == "json_schema" and quirks.response_format == "json_object"
    ):
        raise refuse("'response_format' is not supported by this server", param="response_format")
    if kind == "json_object":
        if not quirks.is_lax and "json" not in encode(body.get("messages")).decode().lower():
            raise refuse(
                "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
                param="messages",
            )
        return {}
    if kind != "json_schema":
        raise refuse(
            f"Invalid value: '{kind}'. Supported values are: 'json_object', 'json_schema', and 'text'.",
            param="response_format.type",
            code="invalid_value",
        )
    return _checked_schema(obj(wanted.get("json_schema")), is_lax=quirks.is_lax)


def _checked_schema(wanted: JsonObject, *, is_lax: bool) -> JsonObject:
    schema = obj(wanted.get("schema"))
    if is_lax:
        return schema
    name = text(wanted.get("name"))
    if not _NAME.fullmatch(name):
        raise refuse(
            "Missing required parameter: 'response_format.json_schema.name'.",
            param="response_format.json_schema.name",
            code="missing_required_parameter",
        )
    if wanted.get("strict") is True and (fault := check_openai_schema(schema)):
        raise refuse(f"Invalid schema for response_format '{name}': {fault}", param="response_format")
    return schema


def _tools(body: JsonObject, quirks: Quirks) -> tuple[str, ...]:
    tools = objects(body.get("tools"))
    if tools and quirks.tools == "refused":
        raise refuse(f"{body.get('model')} does not support tools")
    names: list[str] = []
    for position, tool in enumerate(tools):
        name = text(obj(tool.get("function")).get("name"))
        if tool.get("type") != "function" or not _NAME.fullmatch(name):
            raise refuse(
                f"Missing required parameter: 'tools[{position}].function'.",
                param=f"tools[{position}].function",
                code="missing_required_parameter",
            )
        names.append(name)
    is_silent = quirks.tools == "ignored" or (
        quirks.tools == "not in a stream" and body.get("stream") is True
    )
    return () if is_silent or body.get("tool_choice") == "none" else tuple(names)
