"""What went between the model and the program in a run, as far as it is kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from corpus2skill.application.server_wiring import Server
from corpus2skill.application.wiring import Workspace
from corpus2skill.domain.run import RunRecord
from corpus2skill.domain.trail import Visit
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.navigator.tree_reader import TreeReader


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangePart:
    """One thing that was said: by the asker, by the model, or by the tool."""

    role: Literal["user", "model", "tool"]
    text: str | None
    """None where nothing was written, or where it is not kept any more."""
    path: str | None = None
    """Of a call of the tool, or of its result."""


def exchange_of(server: Server, record: RunRecord) -> tuple[ExchangePart, ...]:
    """The exchange made again from the record and its version: what was sent word for word is not kept."""
    return tuple(_parts(server.workspace(record.ids.tenant), record))


def _parts(workspace: Workspace, record: RunRecord) -> Iterator[ExchangePart]:
    tree = TreeReader(store=workspace.versions, corpus=record.ids.corpus, version=record.ids.version)
    yield ExchangePart(role="user", text=record.question)
    for visit in record.visits:
        is_said = visit.has_reason and not visit.is_shared_reason and not visit.is_prefetched
        yield ExchangePart(role="model", text=visit.reason if is_said else None, path=visit.path)
        yield ExchangePart(role="tool", text=_content(tree, visit), path=visit.path)
    yield ExchangePart(role="model", text=record.answer)


def _content(tree: TreeReader, visit: Visit) -> str | None:
    if visit.status != "found":
        return None
    try:
        node = tree.node(visit.path)
    except Corpus2SkillError:  # the version is gone, or damaged: of the exchange no more can be told
        return None
    return None if node is None else node.content
