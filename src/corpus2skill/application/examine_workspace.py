"""What is installed, which engines and keys there are, and whether the workspace is sound."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from corpus2skill import __version__
from corpus2skill.application.close_batch import left_batches
from corpus2skill.application.show_records import verify_records
from corpus2skill.application.wiring import ENGINES, KEY_VARIABLES, Workspace, leftovers
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.ports.batch_log import NotedBatch
from corpus2skill.ports.store import ChainVerdict, Fault

_REQUIREMENT = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A library the product needs; `version` is None where it is missing."""

    name: str
    version: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    product: str
    python: str
    system: str
    packages: tuple[Package, ...]
    engines: tuple[str, ...]
    keys: Mapping[str, bool]
    """Name of a key's variable to whether it is set; never its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusHealth:
    """One corpus: the active version held against its hashes, and what killed compiles left."""

    corpus: str
    active: int | None
    versions: int
    faults: tuple[Fault, ...]
    leftovers: int
    error: Corpus2SkillError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceHealth:
    exists: bool
    is_writable: bool
    corpora: tuple[CorpusHealth, ...]
    batches: tuple[NotedBatch, ...]
    """Batches of summaries that no compile has picked up yet."""
    records: ChainVerdict | None
    """None where there are none, or where they cannot be opened."""
    error: Corpus2SkillError | None = None
    """Why the workspace, its records, or the results of its paid calls cannot be used at all."""

    @property
    def is_sound(self) -> bool:
        """Left-overs do no harm: the next compile clears them."""
        chains = () if self.records is None else self.records.faults
        return not (self.error or chains or any(corpus.error or corpus.faults for corpus in self.corpora))


def examine_installation(environment: Mapping[str, str]) -> Installation:
    return Installation(
        product=__version__,
        python=platform.python_version(),
        system=platform.platform(terse=True),
        packages=tuple(_packages()),
        engines=ENGINES,
        keys={name: bool(environment.get(name)) for name in KEY_VARIABLES},
    )


def examine_workspace(workspace: Workspace) -> WorkspaceHealth:
    """Look at everything, change nothing; what cannot be examined is reported, not raised."""
    exists = workspace.path.is_dir()
    corpora: tuple[CorpusHealth, ...] = ()
    batches: tuple[NotedBatch, ...] = ()
    records: ChainVerdict | None = None
    error: Corpus2SkillError | None = None
    try:
        corpora = tuple(_examine(workspace, name) for name in workspace.versions.corpora())
        records = verify_records(workspace) if workspace.has_records() else None
        _read_results(workspace)
        batches = left_batches(workspace)
    except Corpus2SkillError as found:
        error = found
    return WorkspaceHealth(
        exists=exists,
        is_writable=_is_writable(workspace.path if exists else workspace.path.parent),
        corpora=corpora,
        batches=batches,
        records=records,
        error=error,
    )


def _read_results(workspace: Workspace) -> None:
    """
    Raises:
        Damaged, WorkspaceUnusable: what paid calls answered cannot be read.
    """
    if not workspace.has_results():
        return
    results = workspace.results()
    try:
        results.past_usage("", "summarize")
    finally:
        results.close()


def _is_writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _examine(workspace: Workspace, corpus: str) -> CorpusHealth:
    store = workspace.versions
    active: int | None = None
    faults: tuple[Fault, ...] = ()
    error: Corpus2SkillError | None = None
    try:
        active = store.active(corpus)
        if active is not None:
            faults = tuple(store.file_faults(corpus, active))
    except Corpus2SkillError as found:
        error = found
    return CorpusHealth(
        corpus=corpus,
        active=active,
        versions=len(store.versions(corpus)),
        faults=faults,
        leftovers=leftovers(workspace, corpus),
        error=error,
    )


def _packages() -> Iterator[Package]:
    """What the installed product declares, without its extras."""
    for line in metadata.requires("corpus2skill") or ():
        match = _REQUIREMENT.match(line)
        if match is None or "extra ==" in line:
            continue
        try:
            yield Package(name=match[0], version=metadata.version(match[0]))
        except metadata.PackageNotFoundError:
            yield Package(name=match[0], version=None)
