"""The navigator's one tool, `get_document`: how a model is told of it, asks for it and is answered."""

from __future__ import annotations

import json
from typing import TypeGuard

from corpus2skill.domain.language import Language
from corpus2skill.domain.message import ToolCall, ToolResult
from corpus2skill.domain.tokens import upper_tokens
from corpus2skill.domain.tree import Node
from corpus2skill.errors import NodeNotFound
from corpus2skill.messages import message
from corpus2skill.navigator.first_part import first_part
from corpus2skill.ports.navigator_model import ToolSpec

TOOL = "get_document"
_LEAST_TOKENS = 100
"""Less than this of a document is not worth showing."""


def tool_spec(language: Language) -> ToolSpec:
    """Return the tool as the article words it."""
    schema = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": message(language, "tool.get_document.path")}
        },
        "required": ["path"],
        "additionalProperties": False,
    }
    return ToolSpec(
        name=TOOL,
        description=message(language, "tool.get_document.description"),
        schema=json.dumps(schema, ensure_ascii=False),
    )


def asked_path(call: ToolCall) -> str | None:
    """Return the path that `call` asks for, None where its arguments are not `{"path": "..."}`."""
    arguments = _parsed(call.arguments)
    path = arguments.get("path") if _is_object(arguments) else None
    return path if isinstance(path, str) else None


def has_usable_arguments(call: ToolCall) -> bool:
    """True for a JSON object, whatever is in it: what a provider takes back in a history."""
    return _is_object(_parsed(call.arguments))


def document_json(node: Node) -> str:
    """Return the article's five fields."""
    return json.dumps(_fields(node, node.content), ensure_ascii=False)


def document_result(call: ToolCall, node: Node) -> ToolResult:
    return ToolResult(call_id=call.call_id, content=document_json(node))


def first_part_result(call: ToolCall, node: Node, tokens: int, language: Language) -> ToolResult | None:
    """Answer with the first part of a node's content and say so; None where not even a beginning fits."""
    notice = {"notice": message(language, "tool.first_part")}
    bare = json.dumps(notice | _fields(node, ""), ensure_ascii=False)
    room = tokens - upper_tokens(bare)
    if room < _LEAST_TOKENS:
        return None
    fields = notice | _fields(node, first_part(node.content, room))
    return ToolResult(call_id=call.call_id, content=json.dumps(fields, ensure_ascii=False))


def not_found_result(call: ToolCall, error: NodeNotFound, language: Language) -> ToolResult:
    """Say that there is no such node and what there is instead."""
    fields = {
        "error": "node_not_found",
        "message": message(language, "tool.node_not_found"),
        "path": error.path,
        "at": error.at,
        "children": error.children,
    }
    return ToolResult(call_id=call.call_id, content=json.dumps(fields, ensure_ascii=False), is_error=True)


def too_large_result(call: ToolCall, node: Node, tokens: int, language: Language) -> ToolResult:
    """Say that there is no room for a node, and what can be fetched instead: its children, if their names fit."""
    fields = {"error": "node_too_large", "path": node.path, "children": node.children}
    words = {"message": message(language, "tool.node_too_large")}
    content = json.dumps(fields | words, ensure_ascii=False)
    if not node.children or upper_tokens(content) > tokens:
        words = {"message": message(language, "tool.window_full")}
        content = json.dumps(fields | words | {"children": ()}, ensure_ascii=False)
    return ToolResult(call_id=call.call_id, content=content, is_error=True)


def error_result(call: ToolCall, code: str, language: Language) -> ToolResult:
    """Answer `call` with the fault `code`: unknown_tool, malformed_call, cut_call, limit_reached."""
    fields = {"error": code, "message": message(language, f"tool.{code}"), "tools": [TOOL]}
    return ToolResult(call_id=call.call_id, content=json.dumps(fields, ensure_ascii=False), is_error=True)


def _fields(node: Node, content: str) -> dict[str, object]:
    return {
        "path": node.path,
        "content": content,
        "node_type": node.node_type,
        "children": node.children,
        "doc_id": node.doc_id,
    }


def _parsed(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):  # nested a thousand deep is no worse than not JSON
        return None


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)
