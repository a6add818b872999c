"""The model's tool calls: each is answered, each path asked for is a fetch and a visit."""

from __future__ import annotations

import json

from corpus2skill.domain.ids import ROOT_PATH
from corpus2skill.domain.message import ModelMessage, ProgramMessage, Reply, ToolCall, ToolResult
from corpus2skill.domain.run import NodeVisited
from corpus2skill.domain.trail import Visit
from corpus2skill.domain.tree import Node
from corpus2skill.errors import Damaged, NodeNotFound, NotFound, WorkspaceUnusable
from corpus2skill.navigator.get_document import (
    TOOL,
    asked_path,
    document_result,
    error_result,
    not_found_result,
)
from corpus2skill.navigator.outcome import RunEnded
from corpus2skill.navigator.run import Run
from corpus2skill.navigator.trail import Reason, reason_of, start_reason

_PREFETCH = ToolCall(call_id="prefetch_root", name=TOOL, arguments=json.dumps({"path": ROOT_PATH}))
_UNREADABLE = (Damaged, NotFound, WorkspaceUnusable, OSError)
"""What a tree raises that cannot be read; a path that leads nowhere is no such thing."""


def prefetch_root(run: Run) -> None:
    """Read the root before the model is asked, as if it had asked for it: one round less to wait for."""
    began = run.navigator.clock.monotonic()
    try:
        root = run.navigator.tree.root()
    except _UNREADABLE as error:
        raise RunEnded("tree_unavailable") from error
    visit(run, run.trail.add_node(root, start_reason(run.language), began))
    run.just_read = (root,)
    run.messages += [ModelMessage((_PREFETCH,)), ProgramMessage((document_result(_PREFETCH, root),))]


def fetch(run: Run, reply: Reply) -> bool:
    """Answer the calls of `reply` in their order; False where one of them goes beyond the fetch limit.

    Raises:
        RunEnded: `tool_misuse`, `tree_unavailable`.
    """
    has_unknown = any(call.name != TOOL for call in reply.tool_calls)
    run.unknown_tools = run.unknown_tools + 1 if has_unknown else 0
    found: list[Node] = []
    results: list[ToolResult] = []
    is_within_limit = True
    for number, call in enumerate(reply.tool_calls):
        path = asked_path(call)
        if call.name != TOOL:
            results.append(_unknown_tool(run, call))
        elif path is None:
            results.append(error_result(call, "malformed_call", run.language))
        elif run.fetches >= run.limits.fetches:
            is_within_limit = False
            results.append(error_result(call, "limit_reached", run.language))
        else:
            reason = reason_of(reply.text, run.language, is_shared=number > 0)
            results.append(_fetch_path(run, call, path, reason, found))
    run.messages.append(ProgramMessage(tuple(results)))
    run.just_read = tuple(found) or run.just_read
    return is_within_limit


def visit(run: Run, made: Visit) -> None:
    """Write a visit down, then show it."""
    run.navigator.records.add_visit(run.ids, made)
    run.tell(NodeVisited(visit=made))


def _unknown_tool(run: Run, call: ToolCall) -> ToolResult:
    if run.unknown_tools >= run.limits.unknown_tools:
        raise RunEnded("tool_misuse")
    return error_result(call, "unknown_tool", run.language)


def _fetch_path(run: Run, call: ToolCall, path: str, reason: Reason, found: list[Node]) -> ToolResult:
    run.fetches += 1
    began = run.navigator.clock.monotonic()
    try:
        node = run.navigator.tree.fetch(path, run.just_read)
    except NodeNotFound as error:
        visit(run, run.trail.add_wrong_path(error, reason, began))
        _count_wrong_path(run, error.path)
        return not_found_result(call, error, run.language)
    except _UNREADABLE as error:
        raise RunEnded("tree_unavailable") from error
    visit(run, run.trail.add_node(node, reason, began))
    found.append(node)
    return document_result(call, node)


def _count_wrong_path(run: Run, path: str) -> None:
    times = run.wrong_paths.get(path, 0) + 1
    run.wrong_paths[path] = times
    if times >= run.limits.same_wrong_path:
        raise RunEnded("tool_misuse")
