"""A leaf in its place in the original, and the texts of a version's sources with the borders of their chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from corpus2skill.application.server.versions import require_version
from corpus2skill.application.server_wiring import Server, upload_files
from corpus2skill.application.wiring import Workspace
from corpus2skill.domain.chunk import Place
from corpus2skill.domain.corpus import Page, SourceReport, SourceText, source_order
from corpus2skill.domain.ids import is_doc_id
from corpus2skill.domain.source_names import holding
from corpus2skill.domain.upload import Upload
from corpus2skill.domain.version import ChunkRow
from corpus2skill.errors import Damaged, ThingNotFound

NEIGHBOUR_CHARACTERS = 4_000
"""Of the chunk before and behind a leaf, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkText:
    """A chunk of a source with its text, or the near end of it."""

    row: ChunkRow
    text: str
    is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafView:
    """A leaf in its place."""

    chunk: ChunkText
    document_title: str | None
    """That the document gives itself."""
    before: ChunkText | None
    """The chunk before it in the document."""
    after: ChunkText | None
    original: Upload | None
    """The document that was handed in and is, or holds, the source; None where it is here no longer."""
    is_original_same: bool
    """The bytes are those that the version was compiled from. Of a document within another it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceView:
    """A source of a version."""

    report: SourceReport
    original: Upload | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChunks:
    """A source's text, cut into its chunks."""

    source: str
    document_title: str | None
    characters: int
    count: int
    first: int
    """Number of the first chunk shown, from 0."""
    chunks: tuple[ChunkText, ...]
    pages: tuple[Page, ...]
    """Those that what is shown stands on."""


def show_leaf(server: Server, tenant: str, corpus: str, version: int, doc_id: str) -> LeafView:
    """Raises: CorpusNotFound, ThingNotFound, Damaged."""
    workspace = require_version(server, tenant, corpus, version)
    row = _row(workspace, corpus, version, doc_id)
    kept = _text(workspace, corpus, version, row.source)
    rows = _rows_of(workspace, corpus, version, row.source)
    at = next((at for at, other in enumerate(rows) if other.chunk_id == row.chunk_id), None)
    if at is None:
        raise Damaged("version_inconsistent", corpus=corpus, version=version, name=doc_id)
    text = kept.extracted.text
    original = original_of(server, tenant, corpus, row.source)
    return LeafView(
        chunk=ChunkText(row=row, text=text[row.start : row.end]),
        document_title=kept.extracted.title,
        before=_tail(rows[at - 1], text) if at else None,
        after=_head(rows[at + 1], text) if at + 1 < len(rows) else None,
        original=original,
        is_original_same=original is not None
        and original.name == row.source
        and original.sha256 == kept.sha256,
    )


def list_sources(
    server: Server,
    tenant: str,
    corpus: str,
    version: int,
    *,
    under: str | None = None,
    after: str | None,
    limit: int,
) -> list[SourceView]:
    """Sources of a version in the order in which a person looks for them, those behind the one named `after`.

    `under`: the path of a node: only sources with a leaf there.

    Raises:
        CorpusNotFound, ThingNotFound, Damaged.
    """
    workspace = require_version(server, tenant, corpus, version)
    reports = sorted(
        workspace.versions.source_reports(corpus, version), key=lambda report: source_order(report.source)
    )
    there = None if under is None else _sources_under(workspace, corpus, version, under)
    least = None if after is None else source_order(after)
    behind = (
        report
        for report in reports
        if (least is None or source_order(report.source) > least)
        and (there is None or report.source in there)
    )
    return [
        SourceView(report=report, original=original_of(server, tenant, corpus, report.source))
        for report in islice(behind, limit)
    ]


def show_source(
    server: Server, tenant: str, corpus: str, version: int, source: str, *, first: int, limit: int
) -> SourceChunks:
    """The text of a source, cut into the chunks of this version.

    Raises:
        CorpusNotFound, Damaged.
        ThingNotFound: the version has no text of that name.
    """
    workspace = require_version(server, tenant, corpus, version)
    kept = _text(workspace, corpus, version, source)
    rows, text = _rows_of(workspace, corpus, version, source), kept.extracted.text
    shown = rows[first : first + limit]
    begin, end = (shown[0].start, shown[-1].end) if shown else (0, 0)
    return SourceChunks(
        source=source,
        document_title=kept.extracted.title,
        characters=len(text),
        count=len(rows),
        first=first,
        chunks=tuple(ChunkText(row=row, text=text[row.start : row.end]) for row in shown),
        pages=_pages(kept.extracted.pages, begin, end),
    )


def original_of(server: Server, tenant: str, corpus: str, source: str) -> Upload | None:
    """The document handed in that is the source, or holds it, and whose bytes are here."""
    for name in (source, *_holders(source)):
        upload = server.uploads.by_name(tenant, corpus, name)
        if upload is not None and upload.is_present and upload.sha256 is not None:
            is_here = upload_files(server, tenant).path(upload.sha256).is_file()
            return upload if is_here else None
    return None


def place_of(row: ChunkRow) -> str:
    """The place of a chunk in one line."""
    return str(Place(headings=row.headings, pages=row.pages, page_kind=row.page_kind))


def _holders(source: str) -> Iterator[str]:
    """Names of archives and mails that a document of this name lies in, the innermost first."""
    parts = source.split("/")
    names = ("/".join(parts[:length]) for length in range(len(parts) - 1, 0, -1))
    yield from (name for name in names if holding(name))


def _row(workspace: Workspace, corpus: str, version: int, doc_id: str) -> ChunkRow:
    name = doc_id.removeprefix("doc_")
    row = workspace.versions.chunk_row(corpus, version, name) if is_doc_id(f"doc_{name}") else None
    if row is None:
        raise ThingNotFound("leaf", doc_id)
    return row


def _sources_under(workspace: Workspace, corpus: str, version: int, path: str) -> set[str]:
    folder = path.removesuffix("SKILL.md")
    return {
        row.source
        for row in workspace.versions.chunk_rows(corpus, version)
        if row.path == path or (folder != path and row.path.startswith(folder))
    }


def _text(workspace: Workspace, corpus: str, version: int, source: str) -> SourceText:
    kept = workspace.versions.source_text(corpus, version, source)
    if kept is None:
        raise ThingNotFound("source", source)
    return kept


def _pages(pages: tuple[Page, ...], begin: int, end: int) -> tuple[Page, ...]:
    first = max((page.start for page in pages if page.start <= begin), default=begin)
    return tuple(page for page in pages if first <= page.start < end)


def _rows_of(workspace: Workspace, corpus: str, version: int, source: str) -> list[ChunkRow]:
    """The chunks of a source in the order of its text; they stand together among all of them."""
    return list(_together(workspace.versions.chunk_rows(corpus, version), source))


def _together(rows: Iterator[ChunkRow], source: str) -> Iterator[ChunkRow]:
    has_begun = False
    for row in rows:
        if row.source == source:
            has_begun = True
            yield row
        elif has_begun:
            return


def _tail(row: ChunkRow, text: str) -> ChunkText:
    begin = max(row.start, row.end - NEIGHBOUR_CHARACTERS)
    return ChunkText(row=row, text=text[begin : row.end], is_cut=begin > row.start)


def _head(row: ChunkRow, text: str) -> ChunkText:
    end = min(row.end, row.start + NEIGHBOUR_CHARACTERS)
    return ChunkText(row=row, text=text[row.start : end], is_cut=end < row.end)
