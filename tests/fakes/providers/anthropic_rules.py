"""What Anthropic's Messages API refuses, in its own words, and what a call says in neutral ones."""

from __future__ import annotations

import re
from collections.abc import Mapping

from corpus2skill.domain.message import ModelPart, Text, Thinking, ToolCall
from tests.fakes.providers.models import ModelCard
from tests.fakes.providers.prompt import Prompt, ToolOutcome, Turn
from tests.fakes.providers.schema_rules import check_anthropic_schema
from tests.fakes.providers.signature import is_signed
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

NEW_VERSION = "2026-10-21"
VERSIONS = ("2023-06-01", NEW_VERSION)

_FIELDS = frozenset(
    {
        "model",
        "messages",
        "max_tokens",
        "system",
        "stream",
        "tools",
        "tool_choice",
        "thinking",
        "output_config",
        "metadata",
        "stop_sequences",
        "service_tier",
        "cache_control",
        "container",
        "diagnostics",
        "inference_geo",
        "speed",
        "user_profile_id",
    }
)
_BLOCK_FIELDS: Mapping[str, frozenset[str]] = {
    "text": frozenset({"type", "text", "citations", "cache_control"}),
    "thinking": frozenset({"type", "thinking", "signature"}),
    "tool_use": frozenset({"type", "id", "name", "input", "caller", "toolset_name", "cache_control"}),
    "tool_result": frozenset({"type", "tool_use_id", "content", "is_error", "cache_control"}),
}
_SAMPLING = frozenset({"temperature", "top_p", "top_k"})
_ID = re.compile(r"[a-zA-Z0-9_-]+")


def refuse(message: str, kind: str = "invalid_request_error", status: int = 400) -> WireError:
    return WireError(status=status, kind=kind, message=message)


def read_messages_call(
    body: JsonObject, version: str, models: Mapping[str, ModelCard], *, counts_only: bool = False
) -> Prompt:
    """Check the body of `/v1/messages` (or of `count_tokens`) and return what it asks.

    Raises:
        WireError: the API would refuse it.
    """
    _check_fields(body, version)
    card = _card(body, models)
    limit = None if counts_only else _limit(body, card)
    turns = _turns(body, card)
    _check_pairs(turns)
    _check_cache_marks(body)
    thinking = _thinking(body, limit)
    schema = _schema(body)
    prompt = Prompt(
        provider="anthropic",
        model=card.name,
        system=_system(body),
        turns=turns,
        tools=_tools(body),
        schema=schema,
        max_tokens=limit,
        input_tokens=prompt_tokens(body),
        is_streamed=body.get("stream") is True,
        wants_thinking=thinking,
    )
    if not counts_only and prompt.input_tokens > card.window:
        raise refuse(f"prompt is too long: {prompt.input_tokens} tokens > {card.window} maximum")
    return prompt


def prompt_tokens(body: JsonObject) -> int:
    """Count all that a model would read of a call."""
    parts = (body.get("system"), body.get("messages"), body.get("tools"))
    return sum(tokens(encode(part).decode()) for part in parts if part)


def _check_fields(body: JsonObject, version: str) -> None:
    for name in body:
        if name in _SAMPLING and version != NEW_VERSION:
            continue
        if name not in _FIELDS:
            raise refuse(f"{name}: Extra inputs are not permitted")


def _card(body: JsonObject, models: Mapping[str, ModelCard]) -> ModelCard:
    name = body.get("model")
    if not isinstance(name, str):
        raise refuse("model: Field required" if name is None else "model: Input should be a valid string")
    if name not in models:
        raise refuse(f"model: {name}", "not_found_error", 404)
    return models[name]


def _limit(body: JsonObject, card: ModelCard) -> int:
    value = body.get("max_tokens")
    if value is None:
        raise refuse("max_tokens: Field required")
    limit = number(value)
    if limit is None:
        raise refuse("max_tokens: Input should be a valid integer")
    if limit < 1:
        raise refuse("max_tokens: Input should be greater than or equal to 1")
    if limit > card.max_output:
        raise refuse(
            f"max_tokens: {limit} > {card.max_output}, which is the maximum allowed number of output tokens for {card.name}"
        )
    return limit


def _system(body: JsonObject) -> str:
    system = body.get("system")
    if isinstance(system, str) or system is None:
        return system or ""
    blocks = objects(system)
    for position, block in enumerate(blocks):
        if block.get("type") != "text":
            raise refuse(f"system.{position}.type: Input should be 'text'")
        if not text(block.get("text")):
            raise refuse("system: text content blocks must be non-empty")
    return "\n".join(text(block.get("text")) for block in blocks)


def _turns(body: JsonObject, card: ModelCard) -> tuple[Turn, ...]:
    value = body.get("messages")
    if value is None:
        raise refuse("messages: Field required")
    if not isinstance(value, list) or not value:
        raise refuse("messages: at least one message is required")
    turns: list[Turn] = []
    for position, message in enumerate(objects(body.get("messages"))):
        turn = _turn(position, message)
        if turns and turns[-1].role == turn.role:
            turns[-1] = Turn(role=turn.role, parts=turns[-1].parts + turn.parts)
        else:
            turns.append(turn)
    if turns[-1].role == "assistant" and not card.takes_prefill:
        raise refuse(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
    return tuple(turns)


def _turn(position: int, message: JsonObject) -> Turn:
    role = message.get("role")
    if role == "system":
        raise refuse(
            'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.'
        )
    if role not in ("user", "assistant"):
        raise refuse(f"messages.{position}.role: Input should be 'user' or 'assistant'")
    for name in message:
        if name not in ("role", "content"):
            raise refuse(f"messages.{position}.{name}: Extra inputs are not permitted")
    content = message.get("content")
    if not content:
        raise refuse(f"messages.{position}: {role} messages must have non-empty content")
    if isinstance(content, str):
        return Turn(role=role, parts=(_text(content),))
    blocks = enumerate(objects(content))
    return Turn(role=role, parts=tuple(_part(f"messages.{position}.content.{i}", role, b) for i, b in blocks))


def _text(words: str) -> Text:
    if not words:
        raise refuse("messages: text content blocks must be non-empty")
    if not words.strip():
        raise refuse("messages: text content blocks must contain non-whitespace text")
    return Text(words)


def _part(where: str, role: str, block: JsonObject) -> ModelPart | ToolOutcome:
    _check_block(where, block)
    match block.get("type"), role:
        case "text", _:
            return _text(text(block.get("text")))
        case "thinking", "assistant":
            return _thought(where, block)
        case "tool_use", "assistant":
            return _use(where, block)
        case "tool_result", "user":
            return _outcome(where, block)
        case ("thinking" | "tool_use" | "tool_result") as kind, _:
            raise refuse(f"{where}: `{kind}` blocks are not permitted in `{role}` messages")
        case kind, _:
            raise refuse(
                f"{where}: Input tag {kind!r} found using 'type' does not match any of the expected tags"
            )


def _check_block(where: str, block: JsonObject) -> None:
    kind = text(block.get("type"))
    for name in block:
        if name not in _BLOCK_FIELDS.get(kind, block):
            raise refuse(f"{where}.{kind}.{name}: Extra inputs are not permitted")
    if kind == "text" and not block.get("text") and block.get("cache_control"):
        raise refuse(f"{where}.text: cache_control cannot be set for empty text blocks")


def _check_cache_marks(body: JsonObject) -> None:
    messages = objects(body.get("messages"))
    content = [block for message in messages for block in objects(message.get("content"))]
    blocks = [*objects(body.get("tools")), *objects(body.get("system")), *content]
    marks = sum(block.get("cache_control") is not None for block in blocks)
    marks += body.get("cache_control") is not None
    if marks > 4:
        raise refuse(f"A maximum of 4 blocks with cache_control may be provided. Found {marks}.")


def _thought(where: str, block: JsonObject) -> Thinking:
    for name in ("thinking", "signature"):
        if not isinstance(block.get(name), str):
            raise refuse(f"{where}.thinking.{name}: Field required")
    thought, signature = text(block.get("thinking")), text(block.get("signature"))
    if not is_signed(thought, signature):
        raise refuse(f"{where}: Invalid `signature` in `thinking` block")
    return Thinking(text=thought, signature=signature)


def _use(where: str, block: JsonObject) -> ToolCall:
    call_id = text(block.get("id"))
    if not _ID.fullmatch(call_id):
        raise refuse(f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    if not isinstance(block.get("input"), dict):
        raise refuse(f"{where}.tool_use.input: Input should be a valid dictionary")
    return ToolCall(
        call_id=call_id, name=text(block.get("name")), arguments=encode(block.get("input")).decode()
    )


def _outcome(where: str, block: JsonObject) -> ToolOutcome:
    if not isinstance(block.get("tool_use_id"), str):
        raise refuse(f"{where}.tool_result.tool_use_id: Field required")
    content = text(block.get("content"))
    for inner in objects(block.get("content")):
        if inner.get("type") == "text" and not text(inner.get("text")):
            raise refuse("messages: text content blocks must be non-empty")
        content += text(inner.get("text"))
    return ToolOutcome(
        call_id=text(block.get("tool_use_id")), content=content, is_error=block.get("is_error") is True
    )


def _check_pairs(turns: tuple[Turn, ...]) -> None:
    known: set[str] = set()
    waiting: list[str] = []
    for position, turn in enumerate(turns):
        _check_outcomes(position, turn, waiting)
        waiting = [part.call_id for part in turn.parts if isinstance(part, ToolCall)]
        if known & set(waiting) or len(set(waiting)) < len(waiting):
            raise refuse(f"messages.{position}: `tool_use` ids must be unique")
        known.update(waiting)
    if waiting:
        _miss(len(turns) - 1, waiting)


def _check_outcomes(position: int, turn: Turn, waiting: list[str]) -> None:
    """Results come first in the message right after the calls, one each."""
    seen: list[str] = []
    text_before = False
    for index, part in enumerate(turn.parts):
        if not isinstance(part, ToolOutcome):
            text_before = True
            continue
        if part.call_id not in waiting:
            raise refuse(
                f"messages.{position}.content.{index}: unexpected `tool_use_id` found in `tool_result` blocks: {part.call_id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
        if part.call_id in seen:
            raise refuse(
                f"messages.{position}.content.{index}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {part.call_id}"
            )
        if not text_before:
            seen.append(part.call_id)
    if missing := [call_id for call_id in waiting if call_id not in seen]:
        _miss(position - 1, missing)


def _miss(position: int, missing: list[str]) -> None:
    raise refuse(
        f"messages.{position}: `tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    )


def _thinking(body: JsonObject, limit: int | None) -> bool:
    thinking = obj(body.get("thinking"))
    kind = thinking.get("type")
    if not thinking or kind == "disabled":
        return False
    if kind not in ("enabled", "adaptive", "between_tools"):
        raise refuse(
            f"thinking: Input tag {kind!r} found using 'type' does not match any of the expected tags: 'disabled', 'enabled', 'adaptive', 'between_tools'"
        )
    if kind == "enabled":
        budget = number(thinking.get("budget_tokens"))
        if budget is None:
            raise refuse("thinking.enabled.budget_tokens: Field required")
        if budget < 1024:
            raise refuse("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
        if limit is not None and budget >= limit:
            raise refuse("`max_tokens` must be greater than `thinking.budget_tokens`")
    if obj(body.get("tool_choice")).get("type") in ("any", "tool"):
        raise refuse("Thinking may not be enabled when tool_choice forces tool use.")
    return True


def _schema(body: JsonObject) -> JsonObject | None:
    config = obj(body.get("output_config"))
    for name in config:
        if name not in ("format", "effort"):
            raise refuse(f"output_config.{name}: Extra inputs are not permitted")
    if config.get("effort") not in (None, "low", "medium", "high", "xhigh", "max"):
        raise refuse("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
    wanted = config.get("format")
    if wanted is None:
        return None
    if obj(wanted).get("type") != "json_schema":
        raise refuse("output_config.format.type: Input should be 'json_schema'")
    schema = obj(obj(wanted).get("schema"))
    if fault := check_anthropic_schema(schema):
        raise refuse(f"output_config.format.schema: {fault}")
    return schema


def _tools(body: JsonObject) -> tuple[str, ...]:
    choice = obj(body.get("tool_choice")).get("type")
    names: list[str] = []
    for position, tool in enumerate(objects(body.get("tools"))):
        name = text(tool.get("name"))
        if not _ID.fullmatch(name):
            raise refuse(
                f"tools.{position}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            )
        if obj(tool.get("input_schema")).get("type") != "object":
            raise refuse(f"tools.{position}.custom.input_schema.type: Input should be 'object'")
        names.append(name)
    if len(set(names)) < len(names):
        raise refuse("tools: Tool names must be unique.")
    if choice is not None and not items(body.get("tools")):
        raise refuse("tool_choice may only be specified while providing tools")
    return () if choice == "none" else tuple(names)
