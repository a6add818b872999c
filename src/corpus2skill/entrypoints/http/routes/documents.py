"""`/v1/corpora/{corpus}/documents`: what was handed in to a corpus."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import FileResponse, Response

from corpus2skill.application.server import documents
from corpus2skill.application.server.corpora import require_corpus
from corpus2skill.application.server.documents import DocumentView
from corpus2skill.application.server.receive_documents import MOST_FILES, ReceivedDocument, receive
from corpus2skill.application.verdict_words import notice_sentence, verdict_reason
from corpus2skill.domain.chunk import Chunk
from corpus2skill.domain.corpus import SourceReport, Verdict
from corpus2skill.domain.event_log import documents_topic
from corpus2skill.domain.language import Language
from corpus2skill.domain.upload import PRESENT, UploadFilter, UploadState
from corpus2skill.entrypoints.http.caller import Reader, TheServer, Writer
from corpus2skill.entrypoints.http.event_stream import STREAM_ANSWERS, Watching
from corpus2skill.entrypoints.http.idempotency import IdempotentRoute
from corpus2skill.entrypoints.http.ids import Id
from corpus2skill.entrypoints.http.multipart_files import take_files
from corpus2skill.entrypoints.http.paging import Cursor, Limit, Page, page
from corpus2skill.entrypoints.http.speech import language_of

router = APIRouter(prefix="/corpora/{corpus}/documents", tags=["documents"], route_class=IdempotentRoute)

_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {
                            "type": "array",
                            "maxItems": MOST_FILES,
                            "items": {"type": "string", "contentMediaType": "application/octet-stream"},
                        },
                        "folder": {
                            "type": "string",
                            "description": "Folder of the corpus below which the files stand.",
                        },
                    },
                }
            }
        },
    }
}
_MOST_BYTES = 10**12
"""Of a whole request: its reception bounds the files one by one, and their number."""
_BYTES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The bytes as they were handed in.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
_HARMLESS = {
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, no-cache",
}
"""A document of somebody's must do nothing in the name of this server."""


class DocumentBody(BaseModel):
    document_id: str
    name: str
    """Name of the source in the corpus."""
    revision: int
    """One higher whenever other bytes came under the name."""
    bytes: int
    sha256: str | None
    state: UploadState
    verdict: Verdict | None
    """Null until it was looked into."""
    reason: str
    """Why it is not simply accepted, in the language of `Accept-Language`."""
    notices: list[str]
    """What is worth knowing of an accepted document: pages without text, for instance."""
    characters: int
    """Of its text and those of the documents within it."""
    chunks: int
    pages: int
    """Pages, sheets or slides."""
    member_count: int
    """Documents within it, where it is an archive or a mail."""
    created_at: str
    received_at: str
    received_by: str
    changed_at: str
    live_version: int | None
    """The active version, where it has a document of this name; null where it has none."""
    is_live_same: bool
    """True where the active version has these very bytes."""


class MemberBody(BaseModel):
    name: str
    verdict: Verdict
    reason: str
    characters: int
    chunks: int


class WholeDocumentBody(DocumentBody):
    members: list[MemberBody]
    """The documents within an archive or a mail: each is a source of its own."""


class DocumentPage(Page[DocumentBody]):
    counts: dict[UploadState, int] | None = None
    """All documents of the corpus by state, where that was asked for."""
    last_event: int | None = None
    """Number of the last event of the corpus's documents before they were looked at: a watcher begins behind it.
    Where `counts` was asked for."""


class ReceivedBody(BaseModel):
    """What became of one file that was sent."""

    sent: str
    """Its name as it was sent."""
    document_id: str | None
    """Null for a file that was passed over."""
    name: str | None
    revision: int | None
    bytes: int
    sha256: str | None
    state: UploadState | Literal["passed_over"]
    """`passed_over`: a hidden file, or another program's working file."""
    reason: str
    is_new: bool
    """False where these bytes were here under this name before: nothing is done again."""


class ReceivedFiles(BaseModel):
    data: list[ReceivedBody]
    """In the order in which the files were sent."""


class ChunkBody(BaseModel):
    number: int
    """From 0, in the order of the text."""
    start: int
    """Characters of the text before it."""
    end: int
    text: str
    place: str
    headings: list[str]
    table_header: str | None


class PreviewBody(BaseModel):
    source: str
    title: str | None
    """The document's own."""
    characters: int
    chunk_count: int
    data: list[ChunkBody]
    next_cursor: str | None


@router.get("")
def list_documents(
    corpus: Id,
    request: Request,
    principal: Reader,
    server: TheServer,
    state: Annotated[
        list[UploadState] | None, Query(description="Only these; else all that are there.")
    ] = None,
    name: Annotated[
        str | None, Query(max_length=200, pattern=r"^[^\x00]*$", description="A part of it.")
    ] = None,
    counts: Annotated[bool, Query(description="Also count all documents by state.")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> DocumentPage:
    """Documents in the order in which their names first came; those taken out only where asked for."""
    last = documents.last_event(server, principal.tenant, corpus) if counts else None
    which = UploadFilter(states=tuple(state or PRESENT), name_part=name)
    views = documents.list_documents(
        server, principal.tenant, corpus, which, after=_plain(cursor), limit=limit + 1
    )
    language = language_of(request)
    found = page(views, limit, lambda view: _body(view, language), lambda view: view.upload.document)
    counted = documents.document_counts(server, principal.tenant, corpus) if counts else None
    return DocumentPage(
        data=found.data,
        next_cursor=found.next_cursor,
        counts=None if counted is None else dict(counted),
        last_event=last,
    )


@router.post("", status_code=202, openapi_extra=_FORM, max_body_size=_MOST_BYTES)
async def hand_in_documents(
    corpus: Id, request: Request, principal: Writer, server: TheServer
) -> ReceivedFiles:
    """Hand in files, at most 200 in one request.

    Every file is on the disk when this is answered; what is in it is told later, as event `document.judged`.
    The same bytes under the same name are the same document, and nothing is done again; other bytes are a new
    revision of it. A name may have folders (`a/b.txt`); of a full path only the file's own name is kept.
    """
    reception = await run_in_threadpool(receive, server, principal, corpus)
    try:
        content_type = request.headers.get("content-type", "")
        fields = await take_files(content_type, request.stream(), reception)
        received = await run_in_threadpool(reception.finish, fields.get("folder", ""))
    except ClientDisconnect:
        return Response(status_code=400)  # type: ignore[return-value] - nobody reads it
    finally:
        reception.discard()
    language = language_of(request)
    return ReceivedFiles(data=[_received(document, language) for document in received])


@router.get("/events", response_class=Response, responses=STREAM_ANSWERS)
async def watch_documents(corpus: Id, principal: Reader, server: TheServer, watching: Watching) -> Response:
    """What happens to the corpus's documents, as it happens, by server-sent events.

    `document.received`, `document.judged`, `document.removed` and `document.purged`; each has the document's
    row, with the reason of a refusal in both languages.
    """
    await run_in_threadpool(require_corpus, server, principal.tenant, corpus)
    return watching.stream(principal.tenant, documents_topic(corpus))


@router.get("/{document_id}")
def show_document(
    corpus: Id, document_id: Id, request: Request, principal: Reader, server: TheServer
) -> WholeDocumentBody:
    """One document with its verdict and those of the documents within it."""
    view = documents.show_document(server, principal.tenant, corpus, document_id)
    return _whole(view, language_of(request))


@router.get("/{document_id}/preview")
def preview_document(
    corpus: Id,
    document_id: Id,
    principal: Reader,
    server: TheServer,
    member: Annotated[
        str | None, Query(max_length=5_000, description="A document within it, by its name.")
    ] = None,
    limit: Limit = 20,
    cursor: Annotated[
        str, Query(max_length=9, pattern="^[0-9]+$", description="`next_cursor` of the page before.")
    ] = "0",
) -> PreviewBody:
    """The document's text in order, cut into chunks as the next version would cut it. Nothing is paid."""
    preview = documents.preview_document(
        server, principal.tenant, corpus, document_id, member=member, first=int(cursor), limit=limit
    )
    end = preview.first + len(preview.chunks)
    return PreviewBody(
        source=preview.source,
        title=preview.title,
        characters=preview.characters,
        chunk_count=preview.count,
        data=[_chunk(number, chunk) for number, chunk in enumerate(preview.chunks, start=preview.first)],
        next_cursor=str(end) if end < preview.count else None,
    )


@router.get("/{document_id}/content", response_class=FileResponse, responses=_BYTES)
def download_document(corpus: Id, document_id: Id, principal: Reader, server: TheServer) -> FileResponse:
    """The bytes of the document as they were handed in."""
    upload, path = documents.original_of_upload(server, principal.tenant, corpus, document_id)
    return FileResponse(
        path,
        media_type="application/octet-stream",
        filename=upload.name.rpartition("/")[2],
        headers={**_HARMLESS, "ETag": f'"{upload.sha256}"'},
    )


@router.post("/{document_id}/inspect", status_code=202)
def inspect_document(
    corpus: Id, document_id: Id, request: Request, principal: Writer, server: TheServer
) -> DocumentBody:
    """Have the document looked into once more, whatever was found before."""
    upload = documents.inspect_again(server, principal, corpus, document_id)
    view = documents.views(server, principal.tenant, corpus, [upload])[0]
    return _body(view, language_of(request))


@router.delete("/{document_id}")
def remove_document(
    corpus: Id,
    document_id: Id,
    request: Request,
    principal: Writer,
    server: TheServer,
    purge: Annotated[
        bool, Query(description="Also from old versions, paid results and records. Needs the scope `admin`.")
    ] = False,
) -> DocumentBody:
    """Take the document out of the next version; its bytes and text are deleted at once.

    With `purge` it also goes from old versions, paid results and records, as soon as no active version has it:
    the event `document.purged` then says what no longer opens.
    """
    if purge:
        principal.require("admin")
    view = documents.remove_document(server, principal, corpus, document_id, is_purge=purge)
    return _body(view, language_of(request))


def _body(view: DocumentView, language: Language) -> DocumentBody:
    upload, judgement = view.upload, view.upload.judgement
    reports = () if judgement is None else (judgement.report, *judgement.members)
    return DocumentBody(
        document_id=upload.document,
        name=upload.name,
        revision=upload.revision,
        bytes=upload.bytes,
        sha256=upload.sha256,
        state=upload.state,
        verdict=judgement.report.verdict if judgement else None,
        reason=verdict_reason(language, judgement.report) if judgement else "",
        notices=[notice_sentence(language, notice) for notice in judgement.report.notices]
        if judgement
        else [],
        characters=sum(report.characters for report in reports),
        chunks=sum(report.chunks for report in reports),
        pages=judgement.pages if judgement else 0,
        member_count=len(judgement.members) if judgement else 0,
        created_at=upload.created_at,
        received_at=upload.received_at,
        received_by=upload.received_by,
        changed_at=upload.changed_at,
        live_version=view.live_version,
        is_live_same=view.is_live_same,
    )


def _whole(view: DocumentView, language: Language) -> WholeDocumentBody:
    judgement = view.upload.judgement
    members = () if judgement is None else judgement.members
    return WholeDocumentBody(
        **_body(view, language).model_dump(), members=[_member(report, language) for report in members]
    )


def _member(report: SourceReport, language: Language) -> MemberBody:
    return MemberBody(
        name=report.source,
        verdict=report.verdict,
        reason=verdict_reason(language, report),
        characters=report.characters,
        chunks=report.chunks,
    )


def _received(document: ReceivedDocument, language: Language) -> ReceivedBody:
    if document.view is None:
        return ReceivedBody(
            sent=document.sent,
            document_id=None,
            name=None,
            revision=None,
            bytes=0,
            sha256=None,
            state="passed_over",
            reason=verdict_reason(language, SourceReport(source=document.sent, verdict="hidden")),
            is_new=False,
        )
    body, refusal = _body(document.view, language), document.refusal
    return ReceivedBody(
        sent=document.sent,
        document_id=body.document_id,
        name=body.name,
        revision=body.revision,
        bytes=body.bytes,
        sha256=body.sha256,
        state="refused" if refusal else body.state,
        reason=verdict_reason(language, refusal) if refusal else body.reason,
        is_new=document.is_new,
    )


def _chunk(number: int, chunk: Chunk) -> ChunkBody:
    return ChunkBody(
        number=number,
        start=chunk.start,
        end=chunk.end,
        text=chunk.text,
        place=str(chunk.place),
        headings=list(chunk.place.headings),
        table_header=chunk.table_header,
    )


def _plain(cursor: str | None) -> str:
    """A cursor is an id; of anything else nothing comes behind."""
    return "".join(character for character in cursor or "" if character.isascii() and character.isprintable())
