"""`/v1/corpora/{corpus}/versions/{version}`: the tree of a version, its leaves and their sources."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from corpus2skill.application.server import version_leaves, version_tree
from corpus2skill.application.server.page_pictures import page_of_leaf
from corpus2skill.application.server.version_leaves import ChunkText, LeafView, SourceView
from corpus2skill.application.server.version_tree import ChildView, Found
from corpus2skill.application.verdict_words import verdict_reason
from corpus2skill.domain.corpus import Verdict
from corpus2skill.domain.language import Language
from corpus2skill.domain.tree import NodeType
from corpus2skill.domain.upload import Upload
from corpus2skill.entrypoints.http.caller import Reader, TheServer
from corpus2skill.entrypoints.http.ids import Id
from corpus2skill.entrypoints.http.links import link
from corpus2skill.entrypoints.http.paging import Limit, Page
from corpus2skill.entrypoints.http.speech import language_of
from corpus2skill.entrypoints.http.version_path import VersionNumber

router = APIRouter(prefix="/corpora/{corpus}/versions/{version}", tags=["versions"])

NodePath = Annotated[str, Query(max_length=2_000, description="As `get_document` takes it; empty: the root.")]
Words = Annotated[str, Query(min_length=1, max_length=200, description="All of them must occur.")]
SourceName = Annotated[str, Query(min_length=1, max_length=5_000, description="Name of the source.")]
Number = Annotated[
    str | None, Query(max_length=9, pattern="^[0-9]+$", description="`next_cursor` of the page before.")
]


_PICTURE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The page.",
        "content": {"image/png": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class ParentBody(BaseModel):
    path: str
    title: str


class ChildBody(BaseModel):
    name: str
    """What `get_document` takes."""
    path: str
    title: str
    hint: str
    """The beginning of its summary, one line."""
    node_type: NodeType
    leaves: int
    """Below it; 1 for a leaf."""
    visits: int
    """How often questions on this version came to it."""


class NodeBody(BaseModel):
    """The five fields of `get_document`, and what a reader wants beside them."""

    path: str
    content: str
    node_type: NodeType
    children: list[str]
    doc_id: str | None
    title: str
    source: str | None
    """Of a leaf: its document; so the next."""
    place: str | None
    parents: list[ParentBody]
    """The way to it, the root first."""
    branches: list[ChildBody]
    """The children with what is said of them."""
    leaves: int
    visits: int


class OutlineBody(BaseModel):
    depth: int
    path: str
    title: str
    node_type: NodeType
    leaves: int
    has_children: bool


class TreeBody(BaseModel):
    data: list[OutlineBody]
    """Depth first; depth 0 is the node that was asked for."""
    is_cut: bool
    """There was more than fits: ask for a branch, or for fewer levels."""


class FoundBody(BaseModel):
    path: str
    title: str
    node_type: NodeType
    doc_id: str | None
    found_in: Literal["title", "summary", "text"]
    excerpt: str


class SpanBody(BaseModel):
    """A chunk of a document's text."""

    doc_id: str
    path: str
    title: str
    start: int
    """Characters of the document's text before it."""
    end: int
    headings: list[str]
    page_kind: str | None
    """`page`, `sheet`, `slide`: what `pages` are numbers or names of."""
    pages: list[str] | None
    """First and last."""
    place: str
    text: str
    is_cut: bool
    """Only its near end is shown."""
    table_header: str | None


class OriginalBody(BaseModel):
    """The document as it was handed in."""

    document_id: str
    name: str
    download: str
    """Path of its bytes."""
    is_same: bool
    """These are the bytes that the version was compiled from. False also where nobody can tell."""


class LeafBody(BaseModel):
    doc_id: str
    version: int
    title: str
    summary: str
    source: str
    document_title: str | None
    is_stand_in: bool
    twins: list[str]
    """Doc ids of leaves with the same text."""
    chunk: SpanBody
    before: SpanBody | None
    """The chunk before it in the document."""
    after: SpanBody | None
    original: OriginalBody | None
    """Null where it is here no longer, or came from a folder."""


class SourceBody(BaseModel):
    name: str
    verdict: Verdict
    reason: str
    """Why it is not simply accepted, in the language of `Accept-Language`."""
    characters: int
    chunks: int
    sha256: str | None
    document_id: str | None


class PageBody(BaseModel):
    start: int
    kind: str
    label: str


class SourceTextBody(BaseModel):
    source: str
    document_title: str | None
    characters: int
    chunk_count: int
    data: list[SpanBody]
    pages: list[PageBody]
    next_cursor: str | None


@router.get("/nodes")
def show_node(
    corpus: Id, version: VersionNumber, principal: Reader, server: TheServer, path: NodePath = ""
) -> NodeBody:
    """One node, exactly as the navigator's tool fetches it.

    A path that names none is answered 404 with `at`, the nearest node there is, and its `children`.
    """
    view = version_tree.show_node(server, principal.tenant, corpus, version, path)
    node = view.node
    return NodeBody(
        path=node.path,
        content=node.content,
        node_type=node.node_type,
        children=list(node.children),
        doc_id=node.doc_id,
        title=node.title,
        source=node.source,
        place=node.place,
        parents=[ParentBody(path=above, title=title) for above, title in view.parents],
        branches=list(map(_child, view.children)),
        leaves=view.leaves,
        visits=view.visits,
    )


@router.get("/tree")
def show_tree(
    corpus: Id,
    version: VersionNumber,
    principal: Reader,
    server: TheServer,
    path: NodePath = "",
    depth: Annotated[int, Query(ge=0, le=20, description="Levels below the node.")] = 1,
) -> TreeBody:
    """The titles below a node, for a tree that opens branch by branch."""
    outline = version_tree.show_outline(server, principal.tenant, corpus, version, path, depth)
    return TreeBody(
        data=[
            OutlineBody(
                depth=node.depth,
                path=node.path,
                title=node.title,
                node_type=node.node_type,
                leaves=node.leaves,
                has_children=node.has_children,
            )
            for node in outline.nodes
        ],
        is_cut=outline.is_cut,
    )


@router.get("/search")
def search_tree(
    corpus: Id,
    version: VersionNumber,
    principal: Reader,
    server: TheServer,
    q: Words,
    limit: Limit = 20,
    cursor: Number = None,
) -> Page[FoundBody]:
    """Nodes that have all the words in their title, summary or text: branches first, then leaves.

    Width and case of letters make no difference.
    """
    found = version_tree.search(
        server, principal.tenant, corpus, version, q, after=int(cursor or 0), limit=limit + 1
    )
    shown = found[:limit]
    return Page(
        data=[_found(item) for _, item in shown],
        next_cursor=str(shown[-1][0]) if len(found) > limit else None,
    )


@router.get("/leaves/{doc_id}")
def show_leaf(
    corpus: Id,
    version: VersionNumber,
    doc_id: Id,
    request: Request,
    principal: Reader,
    server: TheServer,
) -> LeafBody:
    """A leaf in its place in the original: the chunk, those before and behind it, and the document itself."""
    view = version_leaves.show_leaf(server, principal.tenant, corpus, version, doc_id)
    return _leaf(view, version, corpus, request)


@router.get("/leaves/{doc_id}/page.png", response_class=Response, responses=_PICTURE)
def show_leaf_page(
    corpus: Id,
    version: VersionNumber,
    doc_id: Id,
    principal: Reader,
    server: TheServer,
    page: Annotated[
        str | None,
        Query(max_length=50, pattern=r"^[^\x00-\x1f\x7f]+$", description="Else the first that it stands on."),
    ] = None,
) -> Response:
    """The page of the original PDF that the leaf stands on, with its text marked.

    409 where the original is no PDF, or is not here as the version was compiled from it.
    """
    picture = page_of_leaf(server, principal.tenant, corpus, version, doc_id, page)
    return Response(picture, media_type="image/png", headers={"Cache-Control": "private, max-age=3600"})


@router.get("/sources")
def list_sources(
    corpus: Id,
    version: VersionNumber,
    request: Request,
    principal: Reader,
    server: TheServer,
    under: Annotated[
        str | None, Query(max_length=2_000, description="Path of a node: only those with a leaf there.")
    ] = None,
    limit: Limit = 50,
    cursor: Annotated[
        str | None, Query(max_length=5_000, description="`next_cursor` of the page before.")
    ] = None,
) -> Page[SourceBody]:
    """The documents that the version was made from, with what became of each."""
    views = version_leaves.list_sources(
        server, principal.tenant, corpus, version, under=under, after=cursor, limit=limit + 1
    )
    shown, language = views[:limit], language_of(request)
    return Page(
        data=[_source(view, language) for view in shown],
        next_cursor=shown[-1].report.source if len(views) > limit else None,
    )


@router.get("/sources/text")
def show_source_text(
    corpus: Id,
    version: VersionNumber,
    principal: Reader,
    server: TheServer,
    source: SourceName,
    limit: Limit = 20,
    cursor: Number = None,
) -> SourceTextBody:
    """A document's text in order, cut into the chunks of this version."""
    first = int(cursor or 0)
    found = version_leaves.show_source(
        server, principal.tenant, corpus, version, source, first=first, limit=limit
    )
    end = first + len(found.chunks)
    return SourceTextBody(
        source=found.source,
        document_title=found.document_title,
        characters=found.characters,
        chunk_count=found.count,
        data=list(map(_span, found.chunks)),
        pages=[PageBody(start=page.start, kind=page.kind, label=page.label) for page in found.pages],
        next_cursor=str(end) if found.chunks and end < found.count else None,
    )


def _child(view: ChildView) -> ChildBody:
    return ChildBody(
        name=view.name,
        path=view.path,
        title=view.title,
        hint=view.hint,
        node_type=view.node_type,
        leaves=view.leaves,
        visits=view.visits,
    )


def _found(found: Found) -> FoundBody:
    return FoundBody(
        path=found.path,
        title=found.title,
        node_type=found.node_type,
        doc_id=found.doc_id,
        found_in=found.field,
        excerpt=found.excerpt,
    )


def _leaf(view: LeafView, version: int, corpus: str, request: Request) -> LeafBody:
    row = view.chunk.row
    return LeafBody(
        doc_id=f"doc_{row.chunk_id}",
        version=version,
        title=row.title,
        summary=row.summary,
        source=row.source,
        document_title=view.document_title,
        is_stand_in=row.is_stand_in,
        twins=[f"doc_{twin}" for twin in row.twins],
        chunk=_span(view.chunk),
        before=None if view.before is None else _span(view.before),
        after=None if view.after is None else _span(view.after),
        original=None if view.original is None else _original(view, view.original, corpus, request),
    )


def _original(view: LeafView, upload: Upload, corpus: str, request: Request) -> OriginalBody:
    return OriginalBody(
        document_id=upload.document,
        name=upload.name,
        download=link(request, f"/v1/corpora/{corpus}/documents/{upload.document}/content"),
        is_same=view.is_original_same,
    )


def _span(chunk: ChunkText) -> SpanBody:
    row = chunk.row
    return SpanBody(
        doc_id=f"doc_{row.chunk_id}",
        path=row.path,
        title=row.title,
        start=row.start,
        end=row.end,
        headings=list(row.headings),
        page_kind=row.page_kind,
        pages=None if row.pages is None else list(row.pages),
        place=version_leaves.place_of(row),
        text=chunk.text,
        is_cut=chunk.is_cut,
        table_header=row.table_header,
    )


def _source(view: SourceView, language: Language) -> SourceBody:
    report = view.report
    return SourceBody(
        name=report.source,
        verdict=report.verdict,
        reason=verdict_reason(language, report),
        characters=report.characters,
        chunks=report.chunks,
        sha256=report.sha256,
        document_id=None if view.original is None else view.original.document,
    )
