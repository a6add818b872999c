"""Take documents out of a corpus, for good."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches

from corpus2skill.application.choose import chosen_corpus
from corpus2skill.application.compile_documents import compile_documents
from corpus2skill.application.compile_options import CompileOptions
from corpus2skill.application.own_words import own_words, says_any
from corpus2skill.application.paid_compile import Confirm
from corpus2skill.application.show_records import opened_records
from corpus2skill.application.wiring import TENANTS, Workspace
from corpus2skill.compiler.pipeline import MOST_LOST
from corpus2skill.domain.job import CompileReport
from corpus2skill.domain.run import RunRecord
from corpus2skill.domain.version import ChunkRow
from corpus2skill.errors import ConfirmationNeeded, Damaged, NothingToCompile, SourceNotFound
from corpus2skill.ports.events import CompileListener
from corpus2skill.ports.store import RecordFilter, RecordStore

_LEAST_ASKED = 2
"""Documents: so few and more are asked about where they are much of the corpus."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """So much of a corpus that it is asked about first."""

    gone: int
    had: int
    first: str


ConfirmLoss = Callable[[Loss], bool]
"""Tells whoever is there what would go; True for a yes."""


def unconfirmed(_loss: Loss) -> bool:
    """The answer where nobody can be asked."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What taking documents out came to."""

    report: CompileReport
    sources: tuple[str, ...]
    results: int
    """Paid results deleted from the result store."""
    versions: tuple[int, ...] = ()
    """Old versions that held a text of theirs and are gone."""
    records: tuple[str, ...] = ()
    """Runs that had read a text of theirs: their records are tombstones now."""
    unopened: tuple[str, ...] = ()
    """Other runs on the versions that are gone: what they cite can no longer be opened."""
    under_way: int = 0
    """Runs that have not ended yet, on old versions that were kept for that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Purge:
    """What went beside the next version: fields as in `Removal`."""

    results: int = 0
    versions: tuple[int, ...] = ()
    records: tuple[str, ...] = ()
    unopened: tuple[str, ...] = ()
    under_way: int = 0


async def remove_documents(
    workspace: Workspace,
    options: CompileOptions,
    sources: tuple[str, ...],
    listener: CompileListener,
    *,
    confirm: Confirm,
    confirm_loss: ConfirmLoss = unconfirmed,
    is_purge: bool = False,
) -> Removal:
    """Compile without `sources`, switch, and delete what paid calls answered about them.

    With `is_purge` old versions and run records that hold a text of theirs go as well. A removal that was
    cut off, or met runs that have not ended, is finished by the same command.

    Raises:
        SourceNotFound: no version has such a document, and none of the name was taken out.
        ConfirmationNeeded: a purge, or that more than a fifth of the documents go, was not confirmed.
        and whatever `compile_documents` raises; then nothing was taken out.
    """
    corpus = chosen_corpus(workspace, options.corpus)
    names = tuple(name.strip("/") for name in sources)
    rows = list(_rows_of(workspace, corpus, names))
    _require_known(workspace, corpus, names, rows)
    if is_purge and not options.is_confirmed:
        raise ConfirmationNeeded("purge_not_confirmed", sources=", ".join(names))
    loss = _loss(workspace, corpus, names)
    if loss is not None and not options.is_confirmed and not confirm_loss(loss):
        raise ConfirmationNeeded("many_sources_removed", gone=loss.gone, had=loss.had, first=loss.first)
    report = await compile_documents(
        workspace, replace(options, corpus=corpus, exclude=names), listener, confirm
    )
    removal = Removal(report=report, sources=names, results=_forget(workspace, corpus, rows))
    if not is_purge:
        return removal
    purge = _purged(workspace, corpus, _with_earlier_names(workspace, corpus, rows), TENANTS)
    return replace(
        removal,
        versions=purge.versions,
        records=purge.records,
        unopened=purge.unopened,
        under_way=purge.under_way,
    )


def purge_sources(
    workspace: Workspace, corpus: str, names: tuple[str, ...], tenants: tuple[str, ...]
) -> Purge:
    """Delete what is left of documents that the active version no longer has: paid results, old versions, and
    the records of these tenants that hold a text of theirs.

    To be done again where runs were under way.
    """
    rows = list(_rows_of(workspace, corpus, names))
    results = _forget(workspace, corpus, rows)
    purge = _purged(workspace, corpus, _with_earlier_names(workspace, corpus, rows), tenants)
    return replace(purge, results=results)


async def readmit_documents(
    workspace: Workspace,
    options: CompileOptions,
    sources: tuple[str, ...],
    listener: CompileListener,
    confirm: Confirm,
) -> CompileReport:
    """Let documents in again that were taken out, where their files still are.

    Raises:
        SourceNotFound: none of the name was taken out.
        and whatever `compile_documents` raises.
    """
    corpus = chosen_corpus(workspace, options.corpus)
    names = tuple(name.strip("/") for name in sources)
    excluded = workspace.versions.config(corpus).excluded
    for name in names:
        if name not in excluded:
            raise SourceNotFound("source_not_excluded", source=name, excluded=", ".join(excluded) or "-")
    return await compile_documents(
        workspace, replace(options, corpus=corpus, readmit=names), listener, confirm
    )


def _rows_of(workspace: Workspace, corpus: str, names: tuple[str, ...]) -> Iterator[tuple[int, ChunkRow]]:
    """Every chunk of the named documents, with its version's number."""
    return ((version, row) for version, row in _all_rows(workspace, corpus) if _is_within(row.source, names))


def _all_rows(workspace: Workspace, corpus: str) -> Iterator[tuple[int, ChunkRow]]:
    """Every chunk of every version that can be read."""
    for version in workspace.versions.versions(corpus):
        try:
            for row in workspace.versions.chunk_rows(corpus, version):
                yield version, row
        except Damaged:
            continue


def _with_earlier_names(
    workspace: Workspace, corpus: str, rows: list[tuple[int, ChunkRow]]
) -> list[tuple[int, ChunkRow]]:
    """The rows, and those of the same texts under other names: a document may have been renamed."""
    gone = {row.fingerprint for _, row in rows} - _active_fingerprints(workspace, corpus)
    found = {(version, row.chunk_id): (version, row) for version, row in rows}
    for version, row in _all_rows(workspace, corpus):
        if row.fingerprint in gone:
            found[version, row.chunk_id] = (version, row)
    return list(found.values())


def _loss(workspace: Workspace, corpus: str, names: tuple[str, ...]) -> Loss | None:
    """What would go, where it is more than may go unasked. One document that was named is no slip."""
    active = workspace.versions.active(corpus)
    if active is None:
        return None
    had = {row.source for row in workspace.versions.chunk_rows(corpus, active)}
    gone = sorted(source for source in had if _is_within(source, names))
    if len(gone) < _LEAST_ASKED or len(gone) <= len(had) * MOST_LOST:
        return None
    return Loss(gone=len(gone), had=len(had), first=gone[0])


def _is_within(source: str, names: tuple[str, ...]) -> bool:
    return any(source == name or source.startswith(f"{name}/") for name in names)


def _require_known(
    workspace: Workspace, corpus: str, names: tuple[str, ...], rows: list[tuple[int, ChunkRow]]
) -> None:
    excluded = workspace.versions.config(corpus).excluded
    for name in names:
        if name not in excluded and not any(_is_within(row.source, (name,)) for _, row in rows):
            raise SourceNotFound(source=name, corpus=corpus, like=_like(workspace, corpus, name))


def _like(workspace: Workspace, corpus: str, name: str) -> str:
    active = workspace.versions.active(corpus)
    if active is None:
        raise NothingToCompile("no_path", corpus=corpus)
    known = [report.source for report in workspace.versions.source_reports(corpus, active)]
    return ", ".join(get_close_matches(name, known, n=3, cutoff=0.3)) or ", ".join(known[:3])


def _forget(workspace: Workspace, corpus: str, rows: list[tuple[int, ChunkRow]]) -> int:
    """Delete the results about chunks that the active version no longer has."""
    gone = {row.fingerprint for _, row in rows} - _active_fingerprints(workspace, corpus)
    if not gone or not workspace.has_results():
        return 0
    results = workspace.results()
    try:
        return results.forget(corpus, gone)
    finally:
        results.close()


def _active_fingerprints(workspace: Workspace, corpus: str) -> set[str]:
    version = workspace.versions.active(corpus)
    if version is None:
        return set()
    return {row.fingerprint for row in workspace.versions.chunk_rows(corpus, version)}


def _purged(
    workspace: Workspace, corpus: str, rows: list[tuple[int, ChunkRow]], tenants: tuple[str, ...]
) -> Purge:
    """Delete the records and the old versions that hold a text of the documents.

    The versions go last, and one that a run is on stays: what is known of the documents stands in them, and
    a purge that was cut off, or that has to be done again when the run has its record, needs it.
    """
    active = workspace.versions.active(corpus)
    old = sorted({version for version, _ in rows if version != active})
    doc_ids = {f"doc_{row.chunk_id}" for _, row in rows}
    words = _own_words(workspace, corpus, rows)

    def is_told(run: RunRecord) -> bool:
        return _has_read(run, doc_ids) or says_any(run, words)

    with opened_records(workspace) as records:
        records.close_dead()
        runs_on = {version: _under_way(records, corpus, version, tenants) for version in old}
        versions = tuple(version for version in old if not runs_on[version])
        tombstoned, unopened = _tombstoned(records, corpus, is_told, versions, tenants)
    with workspace.versions.exclusive(corpus):
        for version in versions:
            workspace.versions.remove(corpus, version)
    under_way = sum(runs_on.values())
    return Purge(versions=versions, records=tombstoned, unopened=unopened, under_way=under_way)


def _under_way(records: RecordStore, corpus: str, version: int, tenants: tuple[str, ...]) -> int:
    on_it = RecordFilter(corpus=corpus, version=version)
    return sum(records.under_way(tenant, on_it) for tenant in tenants)


def _tombstoned(
    records: RecordStore,
    corpus: str,
    is_told: Callable[[RunRecord], bool],
    versions: tuple[int, ...],
    tenants: tuple[str, ...],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Delete what the records say that were told of it; return those, and others that cite the versions."""
    tombstoned, unopened = list[str](), list[str]()
    for tenant in tenants:
        runs = [run for run in records.records(tenant, RecordFilter(corpus=corpus)) if is_told(run)]
        tombstoned += [run.ids.run for run in runs]
        records.tombstone(tenant, [run.ids.run for run in runs])
        unopened += [
            run.ids.run
            for run in records.records(tenant, RecordFilter(corpus=corpus))
            if run.ids.version in versions and run.evidence
        ]
    return tuple(tombstoned), tuple(unopened)


def _own_words(workspace: Workspace, corpus: str, rows: list[tuple[int, ChunkRow]]) -> frozenset[str]:
    """Words of the documents that no other has: descriptions of groups carry them into every record."""
    store = workspace.versions
    gone = {(version, row.source) for version, row in rows}
    texts = [text for version, source in gone if (text := store.source_text(corpus, version, source))]
    active = store.active(corpus)
    others = () if active is None else store.source_texts(corpus, active)
    return own_words((text.extracted.text for text in texts), (text.extracted.text for text in others))


def _has_read(run: RunRecord, doc_ids: set[str]) -> bool:
    """True where the record holds words of these leaves: as evidence, or as branches that were offered."""
    read = {source.doc_id for source in run.evidence} | {visit.doc_id for visit in run.visits}
    offered = {child.name for visit in run.visits for child in visit.offered}
    return not doc_ids.isdisjoint(offered | {name for name in read if name is not None})
