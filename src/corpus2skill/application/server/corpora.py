"""Corpora of a tenant: those made through the server, and those that its workspace's folder has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from corpus2skill.application.compile_documents import check_corpus_name, check_sizes
from corpus2skill.application.compile_options import CompileOptions
from corpus2skill.application.server.holds import check_free
from corpus2skill.application.server_wiring import Server, upload_files
from corpus2skill.application.show_records import opened_records
from corpus2skill.application.wiring import Workspace, evaluation_tenant
from corpus2skill.domain.chunk import ChunkSizes
from corpus2skill.domain.event_log import documents_topic
from corpus2skill.domain.ids import is_corpus_name
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.people import Principal
from corpus2skill.domain.upload import CorpusEntry, CorpusSettings, UploadState
from corpus2skill.errors import ConfirmationNeeded, Conflict, CorpusNotFound, Damaged
from corpus2skill.ports.store import RecordFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusView:
    """A corpus as it is shown."""

    corpus: str
    settings: CorpusSettings
    """With what the folder remembers where the server was told nothing."""
    created_at: str | None
    """None where the command line made it."""
    active_version: int | None
    is_damaged: bool
    """True where nobody can tell which version is active."""
    versions: int
    documents: Mapping[UploadState, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedCorpus:
    """What went with a corpus."""

    versions: tuple[int, ...]
    documents: int
    results: int
    unopened_records: int
    """Kept records that cite one of its documents: what they cite can no longer be opened."""


def list_corpora(server: Server, tenant: str, *, after: str = "", limit: int = 1_000) -> list[CorpusView]:
    """Corpora of a tenant by name, those behind `after`."""
    workspace = server.workspace(tenant)
    entries = {entry.corpus: entry for entry in server.corpora.entries(tenant)}
    counts = server.uploads.counts(tenant)
    names = sorted(name for name in {*entries, *workspace.versions.corpora()} if name > after)
    return [_view(workspace, name, entries.get(name), counts.get(name, {})) for name in names[:limit]]


def show_corpus(server: Server, tenant: str, corpus: str) -> CorpusView:
    """Raises: CorpusNotFound."""
    require_corpus(server, tenant, corpus)
    entry = server.corpora.entry(tenant, corpus)
    return _view(server.workspace(tenant), corpus, entry, server.uploads.counts(tenant).get(corpus, {}))


def require_corpus(server: Server, tenant: str, corpus: str) -> None:
    """Raises: CorpusNotFound: the tenant has none of this name."""
    if is_corpus_name(corpus) and (
        server.corpora.entry(tenant, corpus) is not None
        or corpus in server.workspace(tenant).versions.corpora()
    ):
        return
    raise CorpusNotFound("no_such_corpus", corpus=corpus)


def corpus_settings(server: Server, tenant: str, corpus: str) -> CorpusSettings:
    """What is set for a corpus, by the server's operators or by its earlier compiles."""
    entry = server.corpora.entry(tenant, corpus)
    return _settings(server.workspace(tenant), corpus, entry)


def corpus_sizes(server: Server, tenant: str, corpus: str) -> ChunkSizes:
    """How its texts are cut."""
    set_, settings = corpus_settings(server, tenant, corpus), server.workspace(tenant).settings
    return ChunkSizes(
        limit=set_.chunk_limit or settings.chunk_limit,
        minimum=settings.chunk_minimum if set_.chunk_minimum is None else set_.chunk_minimum,
    )


def options_of_corpus(server: Server, tenant: str, corpus: str) -> CompileOptions:
    """The options of a compile that follow from what is set for the corpus, also where something no longer is."""
    set_, sizes = corpus_settings(server, tenant, corpus), corpus_sizes(server, tenant, corpus)
    return CompileOptions(
        corpus=corpus,
        title=set_.title or corpus,
        language=set_.language,
        is_language_auto=set_.language is None,
        chunk_limit=sizes.limit,
        chunk_minimum=sizes.minimum,
    )


def create_corpus(server: Server, by: Principal, corpus: str, settings: CorpusSettings) -> CorpusView:
    """Make a corpus.

    Raises:
        InvalidInput: the name cannot be used, or the sizes cannot.
        Conflict: there is one of this name.
    """
    check_corpus_name(corpus)
    _check(server, by.tenant, settings)
    if corpus in server.workspace(by.tenant).versions.corpora():
        raise Conflict("corpus_exists", corpus=corpus)
    server.corpora.add(_entry(server, by, corpus, settings))
    server.audit.note(by.tenant, by.actor, "corpus.created", corpus)
    return show_corpus(server, by.tenant, corpus)


def change_corpus(
    server: Server, by: Principal, corpus: str, changes: Mapping[str, str | int | bool | None]
) -> CorpusView:
    """Set some fields of `CorpusSettings`.

    Raises:
        CorpusNotFound.
        UnusableSettings: the sizes cannot be used.
    """
    require_corpus(server, by.tenant, corpus)
    settings = replace(corpus_settings(server, by.tenant, corpus), **changes)
    _check(server, by.tenant, settings)
    server.corpora.change(_entry(server, by, corpus, settings))
    server.audit.note(by.tenant, by.actor, "corpus.changed", corpus, fields=", ".join(sorted(changes)))
    return show_corpus(server, by.tenant, corpus)


def delete_corpus(server: Server, by: Principal, corpus: str, confirm: str) -> DeletedCorpus:
    """Delete a corpus with its versions, uploads, texts and paid results. Records stay, for audits.

    What was cut off is finished by the same call.

    Raises:
        CorpusNotFound.
        ConfirmationNeeded: `confirm` is not its name.
        Busy: it is being compiled.
        Conflict: a legal hold covers it.
    """
    require_corpus(server, by.tenant, corpus)
    if confirm != corpus:
        raise ConfirmationNeeded("corpus_not_confirmed", corpus=corpus)
    check_free(server, by.tenant, corpus=corpus)
    workspace = server.workspace(by.tenant)
    with workspace.versions.exclusive(corpus):
        versions = workspace.versions.versions(corpus)
        results = _forget_results(workspace, corpus, versions)
        unopened = _citing_records(workspace, by.tenant, corpus)
        workspace.versions.forget(corpus)
    documents = sum(server.uploads.counts(by.tenant).get(corpus, {}).values())
    _forget_in_state(server, by.tenant, corpus)
    server.audit.note(
        by.tenant, by.actor, "corpus.deleted", corpus, versions=len(versions), documents=documents
    )
    return DeletedCorpus(versions=versions, documents=documents, results=results, unopened_records=unopened)


def record_tenants(tenant: str) -> tuple[str, ...]:
    """The chains of records that lie in a tenant's workspace."""
    return tenant, evaluation_tenant(tenant)


def _forget_in_state(server: Server, tenant: str, corpus: str) -> None:
    """Remove everything that was handed in to a corpus and its entry, so that no upload comes in between."""
    files = upload_files(server, tenant)
    with files.changing():
        digests = server.uploads.forget_corpus(tenant, corpus)
        for digest in sorted(server.uploads.unused(tenant, digests)):
            files.remove(digest)
        server.corpora.remove(tenant, corpus)
    server.events.forget(tenant, documents_topic(corpus))


def _view(
    workspace: Workspace, corpus: str, entry: CorpusEntry | None, documents: Mapping[UploadState, int]
) -> CorpusView:
    active, is_damaged = None, False
    try:
        active = workspace.versions.active(corpus)
    except Damaged:
        is_damaged = True
    return CorpusView(
        corpus=corpus,
        settings=_settings(workspace, corpus, entry),
        created_at=entry.created_at if entry else None,
        active_version=active,
        is_damaged=is_damaged,
        versions=len(workspace.versions.versions(corpus)),
        documents=documents,
    )


def _settings(workspace: Workspace, corpus: str, entry: CorpusEntry | None) -> CorpusSettings:
    if entry is not None:
        return entry.settings
    config = workspace.versions.config(corpus)
    return CorpusSettings(
        title=config.title,
        language=config.language,
        chunk_limit=config.sizes.limit if config.sizes else None,
        chunk_minimum=config.sizes.minimum if config.sizes else None,
    )


def _entry(server: Server, by: Principal, corpus: str, settings: CorpusSettings) -> CorpusEntry:
    return CorpusEntry(
        tenant=by.tenant,
        corpus=corpus,
        created_at=moment_of(server.clock.now()),
        created_by=by.actor,
        settings=settings,
    )


def _check(server: Server, tenant: str, settings: CorpusSettings) -> None:
    usual = server.workspace(tenant).settings
    minimum = usual.chunk_minimum if settings.chunk_minimum is None else settings.chunk_minimum
    check_sizes(ChunkSizes(limit=settings.chunk_limit or usual.chunk_limit, minimum=minimum))


def _forget_results(workspace: Workspace, corpus: str, versions: tuple[int, ...]) -> int:
    """Delete what paid calls said of its chunks."""
    if not workspace.has_results():
        return 0
    fingerprints = set[str]()
    for version in versions:
        try:
            fingerprints |= {row.fingerprint for row in workspace.versions.chunk_rows(corpus, version)}
        except Damaged:
            continue
    results = workspace.results()
    try:
        return results.forget(corpus, fingerprints)
    finally:
        results.close()


def _citing_records(workspace: Workspace, tenant: str, corpus: str) -> int:
    if not workspace.has_records():
        return 0
    of_it = RecordFilter(corpus=corpus)
    with opened_records(workspace) as records:
        return sum(
            1 for owner in record_tenants(tenant) for run in records.records(owner, of_it) if run.evidence
        )
