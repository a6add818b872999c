"""List, switch, compare, check and tidy versions."""

from __future__ import annotations

from dataclasses import dataclass

from corpus2skill.application.choose import chosen_corpus, chosen_version
from corpus2skill.application.show_records import opened_records
from corpus2skill.application.wiring import TENANTS, Workspace
from corpus2skill.compiler.difference import difference
from corpus2skill.compiler.load_version import load_version
from corpus2skill.compiler.publish import first_damage, verify
from corpus2skill.domain.version import Difference, Manifest
from corpus2skill.errors import Corpus2SkillError, Damaged, VersionNotFound
from corpus2skill.ports.store import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusLine:
    """One corpus in a list."""

    corpus: str
    active: int | None
    """None where none is active, or the pointer cannot be read."""
    versions: int
    error: Corpus2SkillError | None = None
    """Why the pointer cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionLine:
    """One version in a list; `manifest` is None where it cannot be read."""

    version: int
    is_active: bool
    manifest: Manifest | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """What a switch did."""

    corpus: str
    before: int | None
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prunable:
    """An old version that no kept record cites."""

    version: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    corpus: str
    version: int
    faults: tuple[Fault, ...]


def list_corpora(workspace: Workspace) -> list[CorpusLine]:
    return [_corpus_line(workspace, name) for name in workspace.versions.corpora()]


def list_versions(workspace: Workspace, corpus: str | None) -> tuple[CorpusLine, list[VersionLine]]:
    """The corpus meant and its versions, newest first: also where the pointer is damaged, to choose one."""
    corpus_line = _corpus_line(workspace, chosen_corpus(workspace, corpus))
    name, active = corpus_line.corpus, corpus_line.active
    lines = [
        VersionLine(version=number, is_active=number == active, manifest=_manifest(workspace, name, number))
        for number in reversed(workspace.versions.versions(name))
    ]
    return corpus_line, lines


def _corpus_line(workspace: Workspace, corpus: str) -> CorpusLine:
    active: int | None = None
    error: Corpus2SkillError | None = None
    try:
        active = workspace.versions.active(corpus)
    except Damaged as found:
        error = found
    count = len(workspace.versions.versions(corpus))
    return CorpusLine(corpus=corpus, active=active, versions=count, error=error)


def activate(workspace: Workspace, corpus: str | None, version: int) -> Switch:
    """Move the pointer to an existing version that is whole.

    Raises:
        VersionNotFound: there is none of that number.
        Damaged: `check` finds a fault in it; the pointer stays.
    """
    name, number = chosen_version(workspace, corpus, version)
    with workspace.versions.exclusive(name):
        require_whole(workspace, name, number)
        before = _corpus_line(workspace, name).active  # None for a damaged pointer too: this mends it
        workspace.versions.activate(name, number)
    return Switch(corpus=name, before=before, after=number)


def require_whole(workspace: Workspace, corpus: str, version: int) -> None:
    """Raises: Damaged: `check` finds a fault in it."""
    fault = first_damage(verify(workspace.versions, corpus, version))
    if fault is not None:
        raise Damaged("version_damaged", corpus=corpus, version=version, file=fault.file)


def rollback(workspace: Workspace, corpus: str | None) -> Switch:
    """Go back to the version that was active before.

    Raises:
        VersionNotFound: there is none.
        Damaged: `check` finds a fault in it; the pointer stays.
    """
    name = chosen_corpus(workspace, corpus)
    with workspace.versions.exclusive(name):
        before, wanted = workspace.versions.active(name), workspace.versions.previous(name)
        if wanted is None:
            raise VersionNotFound("no_previous_version", corpus=name)
        require_whole(workspace, name, wanted)
        after = workspace.versions.rollback(name)
    return Switch(corpus=name, before=before, after=after)


def compare(workspace: Workspace, corpus: str | None, before: int, after: int) -> Difference:
    """What changed from `before` to `after`, whichever is older."""
    name, old = chosen_version(workspace, corpus, before)
    _, new = chosen_version(workspace, corpus, after)
    return difference(
        load_version(workspace.versions, name, old),
        load_version(workspace.versions, name, new),
        numbers=(old, new),
    )


def check(workspace: Workspace, corpus: str | None, version: int | None) -> CheckResult:
    """Verify a version from its files alone."""
    name, number = chosen_version(workspace, corpus, version)
    return CheckResult(corpus=name, version=number, faults=tuple(verify(workspace.versions, name, number)))


def prunable(workspace: Workspace, corpus: str | None) -> tuple[str, list[Prunable]]:
    """Old versions that no kept record cites and that `rollback` does not go to.

    One above the active version is not old: it waits to be looked at, or was only just left.
    """
    name = chosen_corpus(workspace, corpus)
    store = workspace.versions
    active = store.active(name) or 0
    needed = {store.previous(name), *_cited(workspace, name)}
    return name, [
        Prunable(version=number, bytes=store.size(name, number))
        for number in store.versions(name)
        if number < active and number not in needed
    ]


def prune(workspace: Workspace, corpus: str | None) -> tuple[str, list[Prunable]]:
    """Remove what `prunable` names."""
    name = chosen_corpus(workspace, corpus)
    with workspace.versions.exclusive(name):
        _, lines = prunable(workspace, name)
        for line in lines:
            workspace.versions.remove(name, line.version)
    return name, lines


def _cited(workspace: Workspace, corpus: str) -> set[int]:
    with opened_records(workspace) as records:
        chains = {*TENANTS, workspace.tenant}
        return {version for tenant in chains for version in records.cited_versions(tenant, corpus)}


def _manifest(workspace: Workspace, corpus: str, version: int) -> Manifest | None:
    try:
        return workspace.versions.manifest(corpus, version)
    except Damaged:
        return None
