"""Versions of a corpus: list them, switch between them, remove them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from corpus2skill.application.manage_versions import Prunable, require_whole
from corpus2skill.application.server.corpora import record_tenants, require_corpus
from corpus2skill.application.server.exam_gate import require_tests
from corpus2skill.application.server_wiring import Server
from corpus2skill.application.show_records import opened_records
from corpus2skill.application.wiring import Workspace
from corpus2skill.domain.exam import Exam
from corpus2skill.domain.people import Principal
from corpus2skill.domain.server_job import ServerJob
from corpus2skill.domain.version import Manifest
from corpus2skill.errors import Conflict, Damaged, ThingNotFound, VersionNotFound, WorkspaceUnusable
from corpus2skill.ports.store import Seen

_JOBS_LOOKED_AT = 500
"""Among so many of a corpus's newest jobs it is looked who made a version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionView:
    """A version as it is shown."""

    version: int
    is_active: bool
    is_previous: bool
    """`rollback` goes to it."""
    manifest: Manifest | None
    """None where it cannot be read."""
    bytes: int
    job: ServerJob | None
    """That made it, where a server did."""
    author_name: str | None
    """Of the person who began that job; None where it was no person, or one who is gone."""
    exam: Exam | None
    """Its newest test run that has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveVersion:
    """Which version is active, and where `rollback` would go."""

    active: int | None
    previous: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchRequest:
    """What a switch rests on."""

    seen: Seen
    """The active version as it was shown to whoever switches."""
    override: str | None = None
    """Why it is done although the test questions did not go well."""


def list_versions(
    server: Server, tenant: str, corpus: str, *, before: int | None, limit: int
) -> list[VersionView]:
    """The newest first; `before` is the number of the oldest one seen so far.

    Raises:
        CorpusNotFound.
    """
    require_corpus(server, tenant, corpus)
    workspace = server.workspace(tenant)
    numbers = [
        number
        for number in reversed(workspace.versions.versions(corpus))
        if before is None or number < before
    ]
    return _views(server, workspace, corpus, numbers[:limit])


def show_version(server: Server, tenant: str, corpus: str, version: int) -> VersionView:
    """Raises: CorpusNotFound, ThingNotFound."""
    workspace = require_version(server, tenant, corpus, version)
    return _views(server, workspace, corpus, [version])[0]


def require_version(server: Server, tenant: str, corpus: str, version: int) -> Workspace:
    """Return the tenant's workspace, in which there is that version.

    Raises:
        CorpusNotFound, ThingNotFound.
    """
    require_corpus(server, tenant, corpus)
    workspace = server.workspace(tenant)
    if version not in workspace.versions.versions(corpus):
        raise ThingNotFound("version", str(version))
    return workspace


def active_version(server: Server, tenant: str, corpus: str) -> ActiveVersion:
    """Raises: CorpusNotFound. Damaged: nobody can tell which is active; naming one mends it."""
    require_corpus(server, tenant, corpus)
    store = server.workspace(tenant).versions
    return ActiveVersion(active=store.active(corpus), previous=store.previous(corpus))


def activate(
    server: Server, by: Principal, corpus: str, version: int, wanted: SwitchRequest
) -> ActiveVersion:
    """Switch to a version that is whole. Runs that have begun finish on theirs; a compile may be under way.

    Raises:
        CorpusNotFound, ThingNotFound.
        Outrun: another version is active by now.
        Conflict: the owner wants the test questions to go well first, and they did not.
        NotAllowed: only an administrator goes past that.
        Damaged: the version is not whole; nothing was switched.
    """
    require_version(server, by.tenant, corpus, version)
    _check(server, by, corpus, version, wanted)
    _require_whole(server, by.tenant, corpus, version)
    switch_to(server, by.tenant, by.actor, corpus, version, wanted)
    return active_version(server, by.tenant, corpus)


def switch_to(
    server: Server, tenant: str, actor: str, corpus: str, version: int, wanted: SwitchRequest
) -> None:
    """Move the pointer, note it and announce it.

    Raises:
        ThingNotFound, Outrun.
    """
    try:
        before = server.workspace(tenant).versions.activate(corpus, version, seen=wanted.seen)
    except VersionNotFound as error:
        raise ThingNotFound("version", str(version)) from error
    if before != version:
        _note(server, tenant, actor, "version.activated", corpus, (before, version), wanted.override)
        announce_published(server, tenant, corpus, version)


def roll_back(server: Server, by: Principal, corpus: str, wanted: SwitchRequest) -> ActiveVersion:
    """Switch to the version that was active before.

    Raises:
        CorpusNotFound.
        VersionNotFound: there is none.
        Outrun, Conflict, NotAllowed, Damaged: as `activate`.
    """
    found = active_version(server, by.tenant, corpus)
    if found.previous is None:
        raise Conflict("no_previous_version", corpus=corpus)
    workspace = server.workspace(by.tenant)
    _check(server, by, corpus, found.previous, wanted)
    _require_whole(server, by.tenant, corpus, found.previous)
    seen = found.active if wanted.seen == "any" else wanted.seen
    after = workspace.versions.rollback(corpus, seen=seen)
    _note(server, by.tenant, by.actor, "version.rolled_back", corpus, (found.active, after), wanted.override)
    announce_published(server, by.tenant, corpus, after)
    return active_version(server, by.tenant, corpus)


def remove_version(server: Server, by: Principal, corpus: str, version: int, *, is_forced: bool) -> int:
    """Remove a version and return how many bytes that gave back.

    Raises:
        CorpusNotFound, ThingNotFound.
        InvalidInput: it is the active one.
        Conflict: kept records were made on it, and it was not asked for all the same.
        Busy: the corpus is being compiled.
    """
    workspace = require_version(server, by.tenant, corpus, version)
    if workspace.versions.active(corpus) == version:
        raise Conflict("version_is_active", corpus=corpus, version=version)
    with workspace.versions.exclusive(corpus):
        if not is_forced and version in _cited(workspace, by.tenant, corpus):
            raise Conflict("version_cited", corpus=corpus, version=version)
        size = _size(workspace, corpus, version)
        workspace.versions.remove(corpus, version)
    server.branch_visits.forget(by.tenant, corpus, version)
    server.audit.note(by.tenant, by.actor, "version.removed", corpus, version=version, forced=is_forced)
    return size


def prunable(server: Server, tenant: str, corpus: str) -> list[Prunable]:
    """Old versions that no kept record cites and that `rollback` does not go to.

    Raises:
        CorpusNotFound.
    """
    require_corpus(server, tenant, corpus)
    workspace = server.workspace(tenant)
    store = workspace.versions
    active = store.active(corpus) or 0
    needed = {store.previous(corpus), *_cited(workspace, tenant, corpus)}
    return [
        Prunable(version=number, bytes=_size(workspace, corpus, number))
        for number in store.versions(corpus)
        if number < active and number not in needed
    ]


def prune(server: Server, by: Principal, corpus: str) -> list[Prunable]:
    """Remove what `prunable` names.

    Raises:
        CorpusNotFound.
        Busy: the corpus is being compiled.
    """
    require_corpus(server, by.tenant, corpus)
    store = server.workspace(by.tenant).versions
    if not prunable(server, by.tenant, corpus):
        return []
    with store.exclusive(corpus):
        lines = prunable(server, by.tenant, corpus)
        for line in lines:
            store.remove(corpus, line.version)
            server.branch_visits.forget(by.tenant, corpus, line.version)
            server.audit.note(
                by.tenant, by.actor, "version.removed", corpus, version=line.version, forced=False
            )
    return lines


def announce_published(server: Server, tenant: str, corpus: str, version: int) -> None:
    """Tell the tenant's systems that askers are answered from another version now."""
    payload: dict[str, object] = {"corpus": corpus, "version": version, "job_id": None}
    server.announcer.announce(tenant, "version.published", payload)


def _require_whole(server: Server, tenant: str, corpus: str, version: int) -> None:
    """Raises: Damaged; TooMany, BrokenOff."""
    server.apart.call("look", tenant, _look_whole, server, tenant, corpus, version)


def _look_whole(server: Server, tenant: str, corpus: str, version: int) -> None:
    require_whole(server.workspace(tenant), corpus, version)


def _check(server: Server, by: Principal, corpus: str, version: int, wanted: SwitchRequest) -> None:
    """Raises: Conflict, NotAllowed."""
    if wanted.override is None:
        require_tests(server, by.tenant, corpus, version)
    else:
        by.require("admin")


def _note(
    server: Server,
    tenant: str,
    actor: str,
    action: str,
    corpus: str,
    numbers: tuple[int | None, int],
    override: str | None,
) -> None:
    values: dict[str, str | int] = {"before": numbers[0] or 0, "after": numbers[1]}
    if override is not None:
        action += "_untested"
        values["reason"] = override
    server.audit.note(tenant, actor, action, corpus, **values)


def _views(server: Server, workspace: Workspace, corpus: str, numbers: Iterable[int]) -> list[VersionView]:
    store = workspace.versions
    try:
        active, previous = store.active(corpus), store.previous(corpus)
    except Damaged:  # nobody can tell which is active
        active = previous = None
    makers = _makers(server, workspace.tenant, corpus)
    return [
        VersionView(
            version=number,
            is_active=number == active,
            is_previous=number == previous,
            manifest=_manifest(workspace, corpus, number),
            bytes=_size(workspace, corpus, number),
            job=makers.get(number),
            author_name=_name(server, makers.get(number)),
            exam=_newest_exam(server, workspace.tenant, corpus, number),
        )
        for number in numbers
    ]


def _makers(server: Server, tenant: str, corpus: str) -> dict[int, ServerJob]:
    jobs = server.jobs.jobs(tenant, corpus=corpus, states=("succeeded",), limit=_JOBS_LOOKED_AT)
    return {job.version: job for job in jobs if job.version is not None and job.is_new}


def _name(server: Server, job: ServerJob | None) -> str | None:
    person = None if job is None else server.people.person(job.created_by)
    return None if person is None else person.name


def _newest_exam(server: Server, tenant: str, corpus: str, version: int) -> Exam | None:
    found = server.exams.exams(tenant, corpus, version=version, states=("finished",), limit=1)
    return found[0] if found else None


def _manifest(workspace: Workspace, corpus: str, version: int) -> Manifest | None:
    try:
        return workspace.versions.manifest(corpus, version)
    except (Damaged, VersionNotFound, WorkspaceUnusable):
        return None


def _size(workspace: Workspace, corpus: str, version: int) -> int:
    try:
        return workspace.versions.size(corpus, version)
    except (VersionNotFound, WorkspaceUnusable, Damaged):
        return 0


def _cited(workspace: Workspace, tenant: str, corpus: str) -> set[int]:
    if not workspace.has_records():
        return set()
    with opened_records(workspace) as records:
        return {
            version for owner in record_tenants(tenant) for version in records.cited_versions(owner, corpus)
        }
