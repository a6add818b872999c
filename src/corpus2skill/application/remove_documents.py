"""Take documents out of a corpus, for good."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches

from corpus2skill.application.choose import chosen_corpus
from corpus2skill.application.compile_documents import compile_documents
from corpus2skill.application.compile_options import CompileOptions
from corpus2skill.application.paid_compile import Confirm
from corpus2skill.application.show_records import opened_records
from corpus2skill.application.wiring import TENANTS, Workspace
from corpus2skill.domain.job import CompileReport
from corpus2skill.domain.run import RunRecord
from corpus2skill.domain.version import ChunkRow
from corpus2skill.errors import Damaged, NothingToCompile, SourceNotFound
from corpus2skill.ports.events import CompileListener
from corpus2skill.ports.store import RecordFilter


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


async def remove_documents(
    workspace: Workspace,
    options: CompileOptions,
    sources: tuple[str, ...],
    listener: CompileListener,
    *,
    confirm: Confirm,
    is_purge: bool = False,
) -> Removal:
    """Compile without `sources`, switch, and delete what paid calls answered about them.

    With `is_purge` old versions and run records that hold a text of theirs go as well. A removal that was
    cut off is finished by the same command.

    Raises:
        SourceNotFound: no version has such a document, and none of the name was taken out.
        and whatever `compile_documents` raises; then nothing was taken out.
    """
    corpus = chosen_corpus(workspace, options.corpus)
    names = tuple(name.strip("/") for name in sources)
    rows = list(_rows_of(workspace, corpus, names))
    _require_known(workspace, corpus, names, rows)
    report = await compile_documents(
        workspace, replace(options, corpus=corpus, exclude=names), listener, confirm
    )
    removal = Removal(report=report, sources=names, results=_forget(workspace, corpus, rows))
    return _purged(workspace, corpus, removal, rows) if is_purge else removal


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
    """Every chunk of the named documents, in every version that can be read, with the version's number."""
    for version in workspace.versions.versions(corpus):
        try:
            for row in workspace.versions.chunk_rows(corpus, version):
                if _is_within(row.source, names):
                    yield version, row
        except Damaged:
            continue


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
    active = workspace.versions.active(corpus)
    kept = set[str]() if active is None else _fingerprints(workspace, corpus, active)
    gone = {row.fingerprint for _, row in rows} - kept
    if not gone or not workspace.has_results():
        return 0
    results = workspace.results()
    try:
        return results.forget(corpus, gone)
    finally:
        results.close()


def _fingerprints(workspace: Workspace, corpus: str, version: int) -> set[str]:
    return {row.fingerprint for row in workspace.versions.chunk_rows(corpus, version)}


def _purged(workspace: Workspace, corpus: str, removal: Removal, rows: list[tuple[int, ChunkRow]]) -> Removal:
    """Delete the old versions and the records that hold a text of the documents."""
    active = workspace.versions.active(corpus)
    versions = tuple(sorted({version for version, _ in rows if version != active}))
    doc_ids = {f"doc_{row.chunk_id}" for _, row in rows}
    with workspace.versions.exclusive(corpus):
        for version in versions:
            workspace.versions.remove(corpus, version)
    tombstoned, unopened = list[str](), list[str]()
    with opened_records(workspace) as records:
        for tenant in TENANTS:
            runs = [
                run for run in records.records(tenant, RecordFilter(corpus=corpus)) if _has_read(run, doc_ids)
            ]
            tombstoned += [run.ids.run for run in runs]
            records.tombstone(tenant, [run.ids.run for run in runs])
            unopened += [
                run.ids.run
                for run in records.records(tenant, RecordFilter(corpus=corpus))
                if run.ids.version in versions and run.evidence
            ]
    return replace(removal, versions=versions, records=tuple(tombstoned), unopened=tuple(unopened))


def _has_read(run: RunRecord, doc_ids: set[str]) -> bool:
    """True where the record holds words of these leaves: as evidence, or as branches that were offered."""
    read = {source.doc_id for source in run.evidence} | {visit.doc_id for visit in run.visits}
    offered = {child.name for visit in run.visits for child in visit.offered}
    return not doc_ids.isdisjoint(offered | {name for name in read if name is not None})
