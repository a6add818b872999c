"""The model's tool calls: each is answered, each path asked for is a fetch and a visit."""

from __future__ import annotations

import json
from dataclasses import dataclass

from corpus2skill.domain.ids import ROOT_PATH
from corpus2skill.domain.message import (
    MADE_UP_CALL,
    ModelMessage,
    ProgramMessage,
    Reply,
    Text,
    ToolCall,
    ToolResult,
)
from corpus2skill.domain.run import NodeVisited
from corpus2skill.domain.tokens import upper_tokens
from corpus2skill.domain.trail import Visit
from corpus2skill.domain.tree import Node
from corpus2skill.errors import Damaged, NodeNotFound, NotFound, WorkspaceUnusable
from corpus2skill.messages import message
from corpus2skill.navigator.get_document import (
    TOOL,
    asked_path,
    document_result,
    error_result,
    first_part_result,
    not_found_result,
    too_large_result,
)
from corpus2skill.navigator.node_path import normal_form
from corpus2skill.navigator.outcome import RunEnded
from corpus2skill.navigator.request import room_left
from corpus2skill.navigator.run import Run
from corpus2skill.navigator.trail import Reason, reason_of, start_reason

_PREFETCH = ToolCall(call_id=MADE_UP_CALL, name=TOOL, arguments=json.dumps({"path": ROOT_PATH}))
_UNREADABLE = (Damaged, NotFound, WorkspaceUnusable, OSError)
"""What a tree raises that cannot be read; a path that leads nowhere is no such thing."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """What the model is shown of a node."""

    result: ToolResult
    is_cut: bool


def prefetch_root(run: Run) -> None:
    """Read the root before the model is asked, as if it had asked for it: one round less to wait for.

    The question stands behind it: so the first rounds on a version all begin alike, and providers keep that
    beginning in their caches.
    """
    began = run.navigator.clock.monotonic()
    try:
        root = run.navigator.tree.root()
    except _UNREADABLE as error:
        raise RunEnded("tree_unavailable") from error
    opening = ProgramMessage((Text(message(run.language, "tool.opening")),))
    *_, question = run.messages
    run.messages = [opening, ModelMessage((_PREFETCH,)), question]
    shown = _shown(run, _PREFETCH, root, room_left(run))
    _visit_shown(run, root, shown, start_reason(run.language), began)
    run.just_read = (root,)
    run.messages[-1] = ProgramMessage((shown.result, Text(run.question.text)))


def fetch(run: Run, reply: Reply) -> bool:
    """Answer the calls of `reply` in their order; False where one of them goes beyond the fetch limit.

    Raises:
        RunEnded: `tool_misuse`, `tree_unavailable`.
    """
    _count_misuse(run, reply)
    found: list[Node] = []
    results: list[ToolResult] = []
    room = room_left(run)
    is_within_limit = True
    for number, call in enumerate(reply.tool_calls):
        path = asked_path(call)
        if call.name != TOOL:
            results.append(error_result(call, "unknown_tool", run.language))
        elif path is None:
            results.append(error_result(call, "malformed_call", run.language))
        elif run.fetches >= run.limits.fetches:
            is_within_limit = False
            results.append(error_result(call, "limit_reached", run.language))
        else:
            reason = reason_of(reply.text, run.language, is_shared=number > 0)
            left = room - sum(upper_tokens(result.content) for result in results)
            results.append(_fetch_path(run, call, path, reason, found, left))
    run.messages.append(ProgramMessage(tuple(results)))
    run.just_read = tuple(found) or run.just_read
    return is_within_limit


def visit(run: Run, made: Visit) -> None:
    """Write a visit down, then show it. All but the program's own are fetches."""
    run.fetches += not made.is_prefetched
    run.navigator.records.add_visit(run.ids, made)
    run.tell(NodeVisited(visit=made))


def _count_misuse(run: Run, reply: Reply) -> None:
    """
    Raises:
        RunEnded: `tool_misuse`.
    """
    has_unknown = any(call.name != TOOL for call in reply.tool_calls)
    has_path = any(call.name == TOOL and asked_path(call) is not None for call in reply.tool_calls)
    run.unknown_tools = run.unknown_tools + 1 if has_unknown else 0
    run.fruitless_rounds = 0 if has_path else run.fruitless_rounds + 1
    if run.unknown_tools >= run.limits.unknown_tools or run.fruitless_rounds >= run.limits.fruitless_rounds:
        raise RunEnded("tool_misuse")


def _fetch_path(
    run: Run, call: ToolCall, path: str, reason: Reason, found: list[Node], room: int
) -> ToolResult:
    began = run.navigator.clock.monotonic()
    try:
        node = run.navigator.tree.fetch(path, run.just_read)
    except NodeNotFound as error:
        visit(run, run.trail.add_wrong_path(error, reason, began))
        _count_wrong_path(run, normal_form(path))
        return not_found_result(call, error, run.language)
    except _UNREADABLE as error:
        raise RunEnded("tree_unavailable") from error
    shown = _shown(run, call, node, room)
    _visit_shown(run, node, shown, reason, began)
    if shown.result.is_error:
        _count_wrong_path(run, node.path)
    else:
        found.append(node)
    return shown.result


def _visit_shown(run: Run, node: Node, shown: _Shown, reason: Reason, began: float) -> None:
    if shown.result.is_error:
        visit(run, run.trail.add_too_large(node, reason, began))
    else:
        visit(run, run.trail.add_node(node, reason, began, is_cut=shown.is_cut))


def _shown(run: Run, call: ToolCall, node: Node, room: int) -> _Shown:
    """Answer with what fits of a node. Half the room is kept for what lies below a summary node."""
    whole = document_result(call, node)
    most = room if node.doc_id is not None else room // 2
    if upper_tokens(whole.content) <= most:
        return _Shown(whole, is_cut=False)
    part = first_part_result(call, node, most, run.language)
    return _Shown(part or too_large_result(call, node, most, run.language), is_cut=True)


def _count_wrong_path(run: Run, path: str) -> None:
    """Count what cannot be had, under one name for all its spellings.

    Raises:
        RunEnded: `tool_misuse`.
    """
    times = run.wrong_paths.get(path, 0) + 1
    run.wrong_paths[path] = times
    if times >= run.limits.same_wrong_path:
        raise RunEnded("tool_misuse")
