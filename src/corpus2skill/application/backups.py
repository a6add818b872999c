"""A home in one file, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from corpus2skill import __version__
from corpus2skill.application.manage_versions import check
from corpus2skill.application.show_records import opened_records
from corpus2skill.application.wiring import TENANTS, Workspace, home_archives, open_workspace, worker_place
from corpus2skill.domain.backup import BACKUP_FORMAT, BackupHead
from corpus2skill.domain.moments import moment_of
from corpus2skill.errors import Corpus2SkillError, InvalidInput
from corpus2skill.ports.clock import Clock
from corpus2skill.ports.store import Fault
from corpus2skill.settings import load_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """What was written."""

    path: str
    files: int
    bytes: int
    """Of the files, before they were packed."""
    has_master_key: bool
    has_databases: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreFault:
    """Something that is not right with what was restored; it was so before the backup."""

    where: str
    fault: Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore:
    """What was put in place, and what checking it found."""

    home: str
    made_at: str
    files: int
    has_master_key: bool
    has_databases: bool
    records: int
    """Of all chains; each of them was verified."""
    corpora: int
    """With their active versions, each of which was checked."""
    faults: tuple[RestoreFault, ...]


def back_up(
    home: Path,
    target: Path,
    clock: Clock,
    *,
    with_master_key: bool,
    files_only: bool,
    database_url: str | None,
) -> Backup:
    """Write the home into one file; a server may be at work there.

    Raises:
        InvalidInput: there is nothing; or the state is in PostgreSQL, whose backup is not made from here.
        Conflict: the file is there already.
        Busy, Damaged, WorkspaceUnusable.
    """
    if database_url is not None and not files_only:
        raise InvalidInput("backup_database_elsewhere")
    if not home.is_dir():
        raise InvalidInput("backup_nothing", path=str(home))
    open_workspace(home, load_settings(home)).versions.corpora()  # refuses what a newer release wrote
    head = BackupHead(format=BACKUP_FORMAT, product=__version__, made_at=moment_of(clock.now()))
    made = home_archives().write(
        home, target, head, with_master_key=with_master_key, with_databases=not files_only
    )
    return Backup(
        path=str(target),
        files=len(made.files),
        bytes=sum(file.bytes for file in made.files.values()),
        has_master_key=made.has_master_key,
        has_databases=made.has_databases,
    )


def restore(archive: Path, home: Path) -> Restore:
    """Put a backup into an empty home, after all of it was checked.

    Raises:
        Conflict: the home is not empty.
        InvalidInput: the archive is no backup, was cut off or changed.
        Damaged: a database in it is not sound.
        WorkspaceUnusable: a newer release made it, or the disk refused.
    """
    archives = home_archives()
    archives.require_empty(home)
    head, contents = archives.check(archive)
    with archives.building(archive, contents, home, worker_place(home)) as folder:
        records, corpora, faults = _checked(folder)
        archives.put_in_place(folder, home)
    return Restore(
        home=str(home),
        made_at=head.made_at,
        files=len(contents.files),
        has_master_key=contents.has_master_key,
        has_databases=contents.has_databases,
        records=records,
        corpora=corpora,
        faults=faults,
    )


def _checked(folder: Path) -> tuple[int, int, tuple[RestoreFault, ...]]:
    records, corpora, faults = 0, 0, list[RestoreFault]()
    for workspace in _workspaces(folder):
        for chain in dict.fromkeys((workspace.tenant, *TENANTS)):
            if workspace.has_records():
                with opened_records(workspace) as store:
                    verdict = store.verify(chain)
                records += verdict.records
                faults += [RestoreFault(where=chain, fault=fault) for fault in verdict.faults]
        for corpus in workspace.versions.corpora():
            corpora += 1
            where = f"{workspace.tenant}/{corpus}"
            faults += [RestoreFault(where=where, fault=fault) for fault in _version_faults(workspace, corpus)]
    return records, corpora, tuple(faults)


def _workspaces(home: Path) -> Iterator[Workspace]:
    settings = load_settings(home)
    yield open_workspace(home, settings)
    for folder in sorted((home / "tenants").glob("*")):
        yield open_workspace(folder, settings, tenant=folder.name)


def _version_faults(workspace: Workspace, corpus: str) -> tuple[Fault, ...]:
    try:
        if workspace.versions.active(corpus) is None:
            return ()
        return check(workspace, corpus, None).faults
    except Corpus2SkillError as error:
        return (Fault(code="unreadable", file=corpus, detail=error.code),)
