"""What was handed in to a corpus: list it, look into it, take it out again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus2skill.application.server.corpora import corpus_sizes, require_corpus
from corpus2skill.application.server_wiring import Server, upload_files, upload_texts
from corpus2skill.application.verdict_words import verdict_reason
from corpus2skill.application.wiring import extractor
from corpus2skill.compiler.chunk import chunk_texts
from corpus2skill.domain.chunk import Chunk, ChunkSizes
from corpus2skill.domain.corpus import SourceReport, SourceText
from corpus2skill.domain.event_log import NewEvent, documents_topic
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.people import Principal
from corpus2skill.domain.upload import PRESENT, Upload, UploadChange, UploadFilter, UploadState
from corpus2skill.errors import Conflict, Damaged, SourceRefused, ThingNotFound, VersionNotFound

_ID = re.compile("[A-Za-z0-9_]{1,64}")
_CUT_HERE = 100_000
"""Characters of a text that is cut at once; a longer one is cut apart."""
_MOST_HELD = 64
"""Corpora of which it is held what their active version has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentView:
    """A document as it is shown."""

    upload: Upload
    live_version: int | None
    """The active version, where it has a document of this name."""
    is_live_same: bool
    """True where the active version has these very bytes; False: earlier ones, or none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A text as the compiler would cut it, or a part of it."""

    source: str
    title: str | None
    characters: int
    count: int
    """Chunks of the whole text."""
    first: int
    """Number of the first chunk shown, from 0."""
    chunks: tuple[Chunk, ...]


def list_documents(
    server: Server, tenant: str, corpus: str, which: UploadFilter, *, after: str, limit: int
) -> list[DocumentView]:
    """Raises: CorpusNotFound."""
    require_corpus(server, tenant, corpus)
    found = server.uploads.uploads(tenant, corpus, which, after=after, limit=limit)
    return views(server, tenant, corpus, found)


def show_document(server: Server, tenant: str, corpus: str, document: str) -> DocumentView:
    """Raises: CorpusNotFound, ThingNotFound."""
    return views(server, tenant, corpus, [_found(server, tenant, corpus, document)])[0]


def document_counts(server: Server, tenant: str, corpus: str) -> Mapping[UploadState, int]:
    return server.uploads.counts(tenant).get(corpus, {})


def last_event(server: Server, tenant: str, corpus: str) -> int:
    """Number of the last event of the corpus's documents; 0 before the first."""
    topic = (tenant, documents_topic(corpus))
    return server.events.newest((topic,)).get(topic, 0)


def views(server: Server, tenant: str, corpus: str, uploads: Iterable[Upload]) -> list[DocumentView]:
    version, live = live_sources(server, tenant, corpus)
    return [
        DocumentView(
            upload=upload,
            live_version=version if upload.name in live else None,
            is_live_same=upload.sha256 is not None and live.get(upload.name, "") in (None, upload.sha256),
        )
        for upload in uploads
    ]


def live_sources(server: Server, tenant: str, corpus: str) -> tuple[int | None, Mapping[str, str | None]]:
    """The active version and its sources with the SHA-256 of each; an archive's is not known."""
    store = server.workspace(tenant).versions
    try:
        version = store.active(corpus)
        if version is None:
            return None, {}
        held = server.live.get((tenant, corpus))
        if held is None or held[0] != version:
            held = version, _live(store.source_reports(corpus, version))
            server.live[tenant, corpus] = held
            for old in list(server.live)[:-_MOST_HELD]:
                server.live.pop(old, None)
    except (Damaged, VersionNotFound):
        return None, {}
    return held


def preview_document(
    server: Server, tenant: str, corpus: str, document: str, *, member: str | None, first: int, limit: int
) -> Preview:
    """Cut a document's text, or that of a document within it, as the next version would.

    Raises:
        CorpusNotFound, ThingNotFound.
        Conflict: it was not looked into yet.
        SourceRefused: it has no text.
    """
    upload = _standing_for(server, _found(server, tenant, corpus, document))
    report = _report(upload, member)
    texts, identity = upload_texts(server, tenant), extractor(server.workspace(tenant).settings).identity
    found = None if report.sha256 is None else texts.find_by(report.source, report.sha256, identity)
    if isinstance(found, SourceRefused):
        raise found
    if found is None:
        _look_again(server, upload)
        raise Conflict("document_not_judged", document=upload.name)
    text = SourceText(source=report.source, sha256="", extractor=identity, extracted=found)
    sizes = corpus_sizes(server, tenant, corpus)
    if len(found.text) <= _CUT_HERE:
        return _cut(text, sizes, first, limit)
    return server.apart.call("look", tenant, _cut, text, sizes, first, limit)


def _cut(text: SourceText, sizes: ChunkSizes, first: int, limit: int) -> Preview:
    chunks, _ = chunk_texts([text], sizes, (), 1)
    return Preview(
        source=text.source,
        title=text.extracted.title,
        characters=len(text.extracted.text),
        count=len(chunks),
        first=first,
        chunks=chunks[first : first + limit],
    )


def original_of_upload(server: Server, tenant: str, corpus: str, document: str) -> tuple[Upload, Path]:
    """The document and the file with its bytes.

    Raises:
        CorpusNotFound, ThingNotFound: also where its bytes are not here.
    """
    upload = _found(server, tenant, corpus, document)
    path = None if upload.sha256 is None else upload_files(server, tenant).path(upload.sha256)
    if path is None or not path.is_file():
        raise ThingNotFound("document_content", document)
    return upload, path


def inspect_again(server: Server, by: Principal, corpus: str, document: str) -> Upload:
    """Have a document looked into once more, whatever was found before.

    Raises:
        CorpusNotFound, ThingNotFound.
        Conflict: its bytes are not here.
    """
    upload = _found(server, by.tenant, corpus, document)
    if upload.sha256 is None or not upload.is_present:
        raise Conflict("document_has_no_bytes", document=upload.name)
    texts = upload_texts(server, by.tenant)
    for digest in _digests(upload):
        texts.forget(digest)
    return _look_again(server, upload)


def remove_document(
    server: Server, by: Principal, corpus: str, document: str, *, is_purge: bool
) -> DocumentView:
    """Take a document out of the next version, its bytes and text at once. `is_purge`: also out of old versions,
    paid results and records, as soon as no active version has it.

    Raises:
        CorpusNotFound, ThingNotFound.
    """
    upload = _found(server, by.tenant, corpus, document)
    wanted: UploadState = "purging" if is_purge else "removed"
    if upload.state in ("purging", "purged") or upload.state == wanted:
        return views(server, by.tenant, corpus, [upload])[0]
    files = upload_files(server, by.tenant)
    with files.changing():
        change = server.uploads.mark(
            by.tenant,
            corpus,
            document,
            wanted,
            moment_of(server.clock.now()),
            was=(*PRESENT, "removed"),
            forget=True,
        )
        drop_unused(server, by.tenant, change)
    server.audit.note(by.tenant, by.actor, "document.removed", document, name=upload.name, purge=is_purge)
    tell(server, by.tenant, corpus, "document.removed", change)
    return views(server, by.tenant, corpus, change.uploads)[0]


def drop_unused(server: Server, tenant: str, change: UploadChange) -> None:
    """Remove bytes and texts that no document stands for any more. Called while `changing` is held."""
    if not change.dropped:
        return
    files = upload_files(server, tenant)
    for digest in sorted(server.uploads.unused(tenant, change.dropped)):
        files.remove(digest)


def tell(server: Server, tenant: str, corpus: str, kind: str, change: UploadChange) -> None:
    """Put a change on the corpus's topic: `kind` for those meant, `document.judged` for the others.

    Nobody waits for the disk here: the rows, which are kept, say the same.
    """
    events = events_of(kind, change)
    if events:
        server.events.append_all(((tenant, documents_topic(corpus), events),))


def events_of(kind: str, change: UploadChange) -> list[NewEvent]:
    """The events of a change, as `tell` puts them."""
    events = [NewEvent(kind=kind, payload=event_payload(upload)) for upload in change.uploads]
    return events + [
        NewEvent(kind="document.judged", payload=event_payload(upload)) for upload in change.others
    ]


def event_payload(upload: Upload) -> dict[str, object]:
    """What a watcher of a corpus's documents is told of one: enough for its row."""
    report = None if upload.judgement is None else upload.judgement.report
    return {
        "document_id": upload.document,
        "name": upload.name,
        "revision": upload.revision,
        "bytes": upload.bytes,
        "sha256": upload.sha256,
        "state": upload.state,
        "changed_at": upload.changed_at,
        "verdict": None if report is None else report.verdict,
        "reason": None
        if report is None
        else {"ja": verdict_reason("ja", report), "en": verdict_reason("en", report)},
        "characters": 0 if upload.judgement is None else sum(_counted(upload, "characters")),
        "chunks": 0 if upload.judgement is None else sum(_counted(upload, "chunks")),
    }


def _counted(upload: Upload, what: str) -> Iterable[int]:
    assert upload.judgement is not None
    for report in (upload.judgement.report, *upload.judgement.members):
        yield report.characters if what == "characters" else report.chunks


def _live(reports: Sequence[SourceReport]) -> dict[str, str | None]:
    return {
        report.source: report.sha256
        for report in reports
        if report.verdict in ("accepted", "kept", "archive", "duplicate")
    }


def _found(server: Server, tenant: str, corpus: str, document: str) -> Upload:
    require_corpus(server, tenant, corpus)
    if not _ID.fullmatch(document):
        raise ThingNotFound("document", document)
    return server.uploads.upload(tenant, corpus, document)


def _standing_for(server: Server, upload: Upload) -> Upload:
    """The document whose text is that of a duplicate; any other stands for itself."""
    if upload.state != "duplicate" or upload.judgement is None:
        return upload
    name = str(dict(upload.judgement.report.values).get("same_as"))
    return server.uploads.by_name(upload.tenant, upload.corpus, name) or upload


def _report(upload: Upload, member: str | None) -> SourceReport:
    """What was found in the document, or in one within it.

    Raises:
        Conflict: nobody has looked into it.
        SourceRefused: it has no text.
        ThingNotFound: it has no such member.
    """
    if upload.judgement is None:
        raise Conflict("document_not_judged", document=upload.name)
    reports = {report.source: report for report in (upload.judgement.report, *upload.judgement.members)}
    report = reports.get(upload.name if member is None else member)
    if report is None:
        raise ThingNotFound("document_member", member or "")
    if report.verdict == "archive":
        raise Conflict("archive_has_members", document=upload.name)
    if report.verdict != "accepted":
        raise SourceRefused(report.verdict, report.detail, **dict(report.values))
    return report


def _look_again(server: Server, upload: Upload) -> Upload:
    """Have it looked into by the worker: at once, or because a newer release reads it in another way."""
    if upload.state == "duplicate":
        return upload
    now = moment_of(server.clock.now())
    change = server.uploads.mark(
        upload.tenant, upload.corpus, upload.document, "received", now, was=("accepted", "refused")
    )
    tell(server, upload.tenant, upload.corpus, "document.received", change)
    return change.uploads[0]


def _digests(upload: Upload) -> set[str]:
    members = () if upload.judgement is None else upload.judgement.members
    digests = (upload.sha256, *(member.sha256 for member in members))
    return {digest for digest in digests if digest is not None}
