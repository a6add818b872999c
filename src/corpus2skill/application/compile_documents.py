"""Compile paths into a new version of a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from corpus2skill.application.wiring import Workspace, compiler_ports
from corpus2skill.compiler.pipeline import CompileRequest, compile_corpus
from corpus2skill.domain.chunk import ChunkSizes
from corpus2skill.domain.ids import is_corpus_name
from corpus2skill.domain.job import CompileReport
from corpus2skill.domain.language import Language
from corpus2skill.domain.tree import TreeLimits
from corpus2skill.errors import InvalidInput, NothingToCompile, UnusableSettings
from corpus2skill.ports.events import CompileListener
from corpus2skill.ports.store import CorpusConfig
from corpus2skill.settings import expanded


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOptions:
    """What the asker of a compile says; None leaves what the corpus remembers, or the settings."""

    corpus: str | None = None
    paths: Sequence[Path] = ()
    """Empty: those of the last compile."""
    title: str | None = None
    language: Language | None = None
    is_language_auto: bool = False
    """Forget a remembered language and find it from the texts."""
    model: str | None = None
    chunk_limit: int | None = None
    chunk_minimum: int | None = None
    max_children: int | None = None
    max_leaves: int | None = None
    activate: bool = True
    regroup: bool = False
    strict: bool = False
    is_confirmed: bool = False


async def compile_documents(
    workspace: Workspace, options: CompileOptions, listener: CompileListener
) -> CompileReport:
    """Compile and, unless told otherwise, switch. The paths and sizes are remembered once it succeeded.

    Raises:
        InvalidInput: a name, path or size that cannot be used; nothing was begun.
        and whatever `compile_corpus` raises.
    """
    corpus = _corpus(workspace, options)
    check_corpus_name(corpus)
    config_read = workspace.versions.config(corpus)
    config = _config(workspace, config_read, options)
    paths = [Path(path) for path in config.paths]
    if not paths:
        raise NothingToCompile("no_path", corpus=corpus)
    ports = compiler_ports(workspace, paths, options.model or workspace.settings.model)
    request = replace(_request(workspace, corpus, config, options), config=config, config_read=config_read)
    return await compile_corpus(request, ports, listener)


def check_corpus_name(corpus: str) -> None:
    """Raises: InvalidInput: the name cannot be a folder and an Agent Skill name."""
    if not is_corpus_name(corpus):
        raise InvalidInput("invalid_corpus_name", corpus=corpus)


def check_sizes(sizes: ChunkSizes) -> None:
    """Raises: UnusableSettings: the limit of a chunk does not lie above its minimum."""
    if sizes.limit <= sizes.minimum or sizes.minimum < 0:
        raise UnusableSettings("chunk_sizes", limit=sizes.limit, minimum=sizes.minimum)


def _corpus(workspace: Workspace, options: CompileOptions) -> str:
    """The named corpus, else the workspace's default; where no path is given, the only one there is."""
    known = workspace.versions.corpora()
    is_again = options.corpus is None and not options.paths
    if is_again and workspace.settings.corpus not in known and len(known) == 1:
        return known[0]
    return options.corpus or workspace.settings.corpus


def _config(workspace: Workspace, config: CorpusConfig, options: CompileOptions) -> CorpusConfig:
    """What the corpus will remember: the options over what it remembers now."""
    paths = tuple(str(expanded(path)) for path in options.paths) or config.paths
    language = options.language or (None if options.is_language_auto else config.language)
    return replace(
        config,
        paths=paths,
        title=options.title or config.title,
        language=language,
        sizes=_sizes(workspace, config, options),
        limits=_limits(workspace, config, options),
    )


def _sizes(workspace: Workspace, config: CorpusConfig, options: CompileOptions) -> ChunkSizes | None:
    if options.chunk_limit is None and options.chunk_minimum is None:
        return config.sizes
    was = config.sizes or _default_sizes(workspace)
    return ChunkSizes(
        limit=was.limit if options.chunk_limit is None else options.chunk_limit,
        minimum=was.minimum if options.chunk_minimum is None else options.chunk_minimum,
    )


def _limits(workspace: Workspace, config: CorpusConfig, options: CompileOptions) -> TreeLimits | None:
    if options.max_children is None and options.max_leaves is None:
        return config.limits
    was = config.limits or _default_limits(workspace)
    return replace(
        was,
        max_children=was.max_children if options.max_children is None else options.max_children,
        max_leaves=was.max_leaves if options.max_leaves is None else options.max_leaves,
    )


def _default_sizes(workspace: Workspace) -> ChunkSizes:
    return ChunkSizes(limit=workspace.settings.chunk_limit, minimum=workspace.settings.chunk_minimum)


def _default_limits(workspace: Workspace) -> TreeLimits:
    settings = workspace.settings
    return TreeLimits(
        max_children=settings.max_children, max_leaves=settings.max_leaves, fetch_limit=settings.fetch_limit
    )


def _request(
    workspace: Workspace, corpus: str, config: CorpusConfig, options: CompileOptions
) -> CompileRequest:
    sizes = config.sizes or _default_sizes(workspace)
    check_sizes(sizes)
    limits = replace(config.limits or _default_limits(workspace), fetch_limit=workspace.settings.fetch_limit)
    return CompileRequest(
        corpus=corpus,
        title=config.title or corpus,
        language=config.language,
        sizes=sizes,
        limits=limits,
        activate=options.activate,
        regroup=options.regroup,
        strict=options.strict,
        is_confirmed=options.is_confirmed,
    )
