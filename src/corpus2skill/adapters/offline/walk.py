"""What happened so far in a run, read from its messages: the engine keeps nothing between rounds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from corpus2skill.adapters.offline.sentences import plain
from corpus2skill.domain.ids import ROOT_PATH, SUMMARY_FILE, is_doc_id, leaf_file
from corpus2skill.domain.message import (
    MADE_UP_CALL,
    Message,
    ModelMessage,
    ProgramMessage,
    Text,
    ToolCall,
    ToolResult,
)
from corpus2skill.domain.node_file import parse_summary_node

TOOL = "get_document"
OWN_CALL = "walk_"
"""Begins the id of each call that this engine makes; the program's prefetch has another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLeaf:
    """A leaf that the run has read."""

    doc_id: str
    path: str
    title: str
    body: str

    @classmethod
    def of(cls, node: _Fetched) -> ReadLeaf:
        head, found, body = node.content.partition("\n---\n\n")
        title = plain(head.lstrip("# \n").split("\n", 1)[0])
        return cls(
            doc_id=node.doc_id,
            path=node.path,
            title=title or node.doc_id,
            body=body if found else node.content,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fetched:
    """A tool result, read: the article's fields that are needed here."""

    path: str
    content: str
    children: tuple[str, ...]
    doc_id: str
    """Empty for a summary node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """One run so far."""

    question: str
    earlier_question: str
    """Of the turn before; empty at the first turn."""
    fetches: int
    """Made by this engine; the program's own are not among them."""
    fetched: frozenset[str]
    """Paths asked for, wrong ones too."""
    offered: frozenset[str]
    """Paths of all branches that were offered."""
    titles: dict[str, str]
    """Path to title, of what was offered."""
    leaves: tuple[ReadLeaf, ...]
    last_path: str
    """The summary node or leaf that was read last; empty before the first."""


def read_walk(messages: Sequence[Message]) -> Walk:
    """Return what `messages` tell about the present run."""
    begin = max(_beginning(messages), 0)
    asked = _asked(messages[: begin + 1])
    # The program's own call stands in front of the question, its result beside it.
    calls = {call.call_id: call for call in _calls(messages[max(begin - 1, 0) :])}
    nodes = [_node(result) for result in _results(messages[begin:]) if _is_found(result, calls)]
    is_first = MADE_UP_CALL in calls
    summaries = [node for node in nodes if not node.doc_id]
    leaves = [ReadLeaf.of(node) for node in nodes if node.doc_id]
    return Walk(
        question=asked[-1] if asked else "",
        earlier_question=asked[-2] if len(asked) > 1 and not is_first else "",
        fetches=sum(call_id.startswith(OWN_CALL) for call_id in calls),
        fetched=frozenset(map(_wanted_path, calls.values())) | {node.path for node in nodes},
        offered=frozenset(child_path(node.path, name) for node in summaries for name in node.children),
        titles={path: title for node in summaries for path, title in _titles(node).items()},
        leaves=tuple({leaf.doc_id: leaf for leaf in leaves}.values()),
        last_path=nodes[-1].path if nodes else "",
    )


def _beginning(messages: Sequence[Message]) -> int:
    """Where the present question stands: the last text from the asker's side; -1 where there is none."""
    places = [
        at
        for at, message in enumerate(messages)
        if isinstance(message, ProgramMessage) and any(isinstance(part, Text) for part in message.parts)
    ]
    return places[-1] if places else -1


def _asked(messages: Sequence[Message]) -> list[str]:
    """What the asker said: the last text of a message, in front of which the program may say something."""
    said = ([part.text for part in message.parts if isinstance(part, Text)] for message in _program(messages))
    return [texts[-1] for texts in said if texts]


def _program(messages: Sequence[Message]) -> Iterator[ProgramMessage]:
    return (message for message in messages if isinstance(message, ProgramMessage))


def _calls(messages: Sequence[Message]) -> Iterator[ToolCall]:
    for message in messages:
        if isinstance(message, ModelMessage):
            yield from (part for part in message.parts if isinstance(part, ToolCall) and part.name == TOOL)


def _results(messages: Sequence[Message]) -> Iterator[ToolResult]:
    for message in messages:
        if isinstance(message, ProgramMessage):
            yield from (part for part in message.parts if isinstance(part, ToolResult))


def _wanted_path(call: ToolCall) -> str:
    path = _object(call.arguments).get("path")
    return path if isinstance(path, str) else ""


def _is_found(result: ToolResult, calls: Mapping[str, ToolCall]) -> bool:
    return not result.is_error and result.call_id in calls and bool(_object(result.content).get("path"))


def _node(result: ToolResult) -> _Fetched:
    fields = _object(result.content)
    doc_id, children = str(fields.get("doc_id")), fields.get("children")
    return _Fetched(
        path=str(fields["path"]),
        content=str(fields.get("content", "")),
        children=tuple(map(str, children)) if isinstance(children, list) else (),
        doc_id=doc_id if is_doc_id(doc_id) else "",
    )


def _object(text: str) -> dict[str, object]:
    try:
        value: object = json.loads(text)
    except ValueError:
        return {}
    return {str(name): member for name, member in value.items()} if isinstance(value, dict) else {}


def child_path(path: str, name: str) -> str:
    """Return the node path of the child `name` of the summary node at `path`."""
    folder = path[: -len(SUMMARY_FILE)]
    return folder + leaf_file(name) if is_doc_id(name) else f"{folder}{name}/{SUMMARY_FILE}"


def _titles(node: _Fetched) -> dict[str, str]:
    """Titles of the children, from the list in the node's text; none where it cannot be read."""
    try:
        listed = parse_summary_node(f"---\nname: node\n---\n{node.content}")
    except ValueError:
        return {}
    return {child_path(node.path, child.name): child.title for child in listed.children}


def ways_to(path: str) -> list[str]:
    """Return the node paths from the root's child down to `path`."""
    *folders, name = path.split("/")
    ways = ["/".join([*folders[:end], SUMMARY_FILE]) for end in range(1, len(folders) + 1)]
    return ways if name == SUMMARY_FILE else [*ways, path]


def root_is_read(walk: Walk) -> bool:
    return ROOT_PATH in walk.fetched
