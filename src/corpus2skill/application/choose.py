"""Which corpus and version a command means."""

from __future__ import annotations

from corpus2skill.application.wiring import Workspace
from corpus2skill.errors import CorpusNotFound, Damaged, VersionNotFound


def chosen_corpus(workspace: Workspace, corpus: str | None) -> str:
    """The named corpus, or the workspace's default, or the only one there is.

    Raises:
        CorpusNotFound: naming those there are.
    """
    known = workspace.versions.corpora()
    wanted = corpus or workspace.settings.corpus
    if wanted in known:
        return wanted
    if corpus is None and len(known) == 1:
        return known[0]
    raise CorpusNotFound(
        "corpus_not_found" if known else "no_corpus",
        corpus=wanted,
        known=", ".join(known),
        workspace=str(workspace.path),
    )


def chosen_version(workspace: Workspace, corpus: str | None, version: int | None) -> tuple[str, int]:
    """Corpus and version; without a number the active one.

    Raises:
        CorpusNotFound: naming those there are.
        VersionNotFound: there is no such version, or none is active.
        Damaged: the active version, or what says which it is, is not there as it was written.
    """
    name = chosen_corpus(workspace, corpus)
    if version is None:
        return name, _active_version(workspace, name)
    if version not in workspace.versions.versions(name):
        known = ", ".join(map(str, workspace.versions.versions(name)))
        raise VersionNotFound("version_not_found", corpus=name, version=version, known=known)
    return name, version


def _active_version(workspace: Workspace, corpus: str) -> int:
    version = workspace.versions.active(corpus)
    if version is None:
        raise VersionNotFound("no_active_version", corpus=corpus)
    if version not in workspace.versions.versions(corpus):
        raise Damaged("active_version_missing", corpus=corpus, version=version)
    return version
