"""`/v1/corpora/{corpus}/versions/{before}/diff/{after}`: what changed between two versions."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel

from corpus2skill.application.server import version_diff
from corpus2skill.application.server.version_diff import LeafChange, NodeChange, VersionDifference
from corpus2skill.domain.language import Language
from corpus2skill.entrypoints.http.caller import Reader, TheServer
from corpus2skill.entrypoints.http.ids import Id
from corpus2skill.entrypoints.http.speech import language_of
from corpus2skill.entrypoints.http.version_path import AfterNumber, BeforeNumber
from corpus2skill.messages import message

router = APIRouter(prefix="/corpora/{corpus}/versions/{before}/diff/{after}", tags=["versions"])


class GroupChangeBody(BaseModel):
    path: str
    title: str
    leaves: int
    path_before: str | None
    """Of one that went elsewhere."""
    title_before: str | None
    """Of one whose title is another now."""


class LeafChangeBody(BaseModel):
    doc_id: str
    path: str
    title: str
    source: str
    path_before: str | None


class RenamedSourceBody(BaseModel):
    name_before: str
    name: str


class CountsBody(BaseModel):
    sources_added: int
    sources_removed: int
    sources_changed: int
    sources_renamed: int
    groups_added: int
    groups_removed: int
    groups_moved: int
    groups_renamed: int
    leaves_added: int
    leaves_removed: int
    leaves_moved: int
    leaves_reworded: int


class DiffBody(BaseModel):
    before: int
    after: int
    is_same: bool
    summary: str
    """In plain words, in the language of `Accept-Language`."""
    counts: CountsBody
    """Of everything; each list below has no more than `limit`."""
    sources_added: list[str]
    sources_removed: list[str]
    sources_changed: list[str]
    sources_renamed: list[RenamedSourceBody]
    groups_added: list[GroupChangeBody]
    groups_removed: list[GroupChangeBody]
    groups_moved: list[GroupChangeBody]
    """Most of the same leaves, under another path."""
    groups_renamed: list[GroupChangeBody]
    leaves_added: list[LeafChangeBody]
    leaves_removed: list[LeafChangeBody]
    leaves_moved: list[LeafChangeBody]
    leaves_reworded: list[LeafChangeBody]
    """The same text with another title or summary."""
    nodes_reworded: list[str]
    """Paths of summary nodes with another title or summary."""


class WordingBody(BaseModel):
    path: str
    title_before: str | None
    """Null where the version before has no such node."""
    title: str | None
    lines: list[str]
    """A unified diff of the node's text; empty where it is the same."""


@router.get("")
def compare_versions(
    corpus: Id,
    before: BeforeNumber,
    after: AfterNumber,
    request: Request,
    principal: Reader,
    server: TheServer,
    limit: Annotated[int, Query(ge=1, le=5_000, description="Of each list.")] = 500,
) -> DiffBody:
    """What changed from one version to another, whichever is older."""
    found = version_diff.compare_versions(server, principal.tenant, corpus, before, after)
    plain = found.plain
    return DiffBody(
        before=before,
        after=after,
        is_same=plain.is_empty,
        summary=_summary(language_of(request), found),
        counts=_counts(found),
        sources_added=list(plain.sources_added[:limit]),
        sources_removed=list(plain.sources_removed[:limit]),
        sources_changed=list(plain.sources_changed[:limit]),
        sources_renamed=[
            RenamedSourceBody(name_before=was, name=name) for was, name in plain.sources_renamed[:limit]
        ],
        groups_added=_groups(found.groups_added, limit),
        groups_removed=_groups(found.groups_removed, limit),
        groups_moved=_groups(found.groups_moved, limit),
        groups_renamed=_groups(found.groups_renamed, limit),
        leaves_added=_leaves(found.leaves_added, limit),
        leaves_removed=_leaves(found.leaves_removed, limit),
        leaves_moved=_leaves(found.leaves_moved, limit),
        leaves_reworded=_leaves(found.leaves_reworded, limit),
        nodes_reworded=list(plain.nodes_reworded[:limit]),
    )


@router.get("/nodes")
def compare_wording(
    corpus: Id,
    before: BeforeNumber,
    after: AfterNumber,
    principal: Reader,
    server: TheServer,
    path: Annotated[str, Query(min_length=1, max_length=2_000, description="Of a node, or a leaf's doc id.")],
) -> WordingBody:
    """How the text of one node changed."""
    found = version_diff.compare_wording(server, principal.tenant, corpus, before, after, path)
    return WordingBody(
        path=found.path, title_before=found.title_before, title=found.title, lines=list(found.lines)
    )


def _summary(language: Language, found: VersionDifference) -> str:
    """What a person wants to know first, in one line."""
    parts = [
        message(language, f"diff.{name}", count=count)
        for name, count in _counts(found).model_dump().items()
        if count
    ]
    if not parts:
        key = "diff.nothing" if found.plain.is_empty else "diff.wording"
        return message(language, key)
    return message(language, "diff.joint").join(parts) + message(language, "diff.end")


def _counts(found: VersionDifference) -> CountsBody:
    plain = found.plain
    return CountsBody(
        sources_added=len(plain.sources_added),
        sources_removed=len(plain.sources_removed),
        sources_changed=len(plain.sources_changed),
        sources_renamed=len(plain.sources_renamed),
        groups_added=len(found.groups_added),
        groups_removed=len(found.groups_removed),
        groups_moved=len(found.groups_moved),
        groups_renamed=len(found.groups_renamed),
        leaves_added=len(found.leaves_added),
        leaves_removed=len(found.leaves_removed),
        leaves_moved=len(found.leaves_moved),
        leaves_reworded=len(found.leaves_reworded),
    )


def _groups(changes: tuple[NodeChange, ...], limit: int) -> list[GroupChangeBody]:
    return [
        GroupChangeBody(
            path=change.path,
            title=change.title,
            leaves=change.leaves,
            path_before=change.path_before,
            title_before=change.title_before,
        )
        for change in changes[:limit]
    ]


def _leaves(changes: tuple[LeafChange, ...], limit: int) -> list[LeafChangeBody]:
    return [
        LeafChangeBody(
            doc_id=change.doc_id,
            path=change.path,
            title=change.title,
            source=change.source,
            path_before=change.path_before,
        )
        for change in changes[:limit]
    ]
