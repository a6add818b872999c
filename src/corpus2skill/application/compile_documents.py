"""Compile paths into a new version of a corpus."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from corpus2skill.application.compile_engine import open_engine
from corpus2skill.application.compile_host import CompileHost, alone
from corpus2skill.application.compile_options import CompileOptions, compile_models
from corpus2skill.application.model_wiring import CompileModels
from corpus2skill.application.paid_compile import Confirm, PaidApproval, estimated, nobody
from corpus2skill.application.wiring import OFFLINE, Workspace, compiler_ports
from corpus2skill.compiler.pipeline import CompileRequest, compile_corpus, plan_compile
from corpus2skill.domain.chunk import ChunkSizes
from corpus2skill.domain.ids import is_corpus_name
from corpus2skill.domain.job import CompilePlan, CompileReport
from corpus2skill.domain.money import EstimatedSpending
from corpus2skill.domain.tree import TreeLimits
from corpus2skill.errors import (
    Busy,
    ConfirmationNeeded,
    Damaged,
    InvalidInput,
    NothingToCompile,
    UnusableSettings,
    VersionNotFound,
)
from corpus2skill.ports.events import CompileListener
from corpus2skill.ports.store import CorpusConfig
from corpus2skill.settings import expanded


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatedCompile:
    """What a compile would do and cost."""

    plan: CompilePlan
    spending: tuple[EstimatedSpending, ...]


async def compile_documents(
    workspace: Workspace,
    options: CompileOptions,
    listener: CompileListener,
    confirm: Confirm = nobody,
    host: CompileHost = alone,
) -> CompileReport:
    """Compile and, unless told otherwise, switch. The paths and sizes are remembered once it succeeded.

    `confirm` is shown the estimate before the first paid call of a corpus.

    Raises:
        InvalidInput: a name, path, size or model that cannot be used; nothing was begun.
        ConfirmationNeeded: it costs, and nobody said yes to it.
        and whatever `compile_corpus` raises.
    """
    request, paths = _prepared(workspace, options, has_reader=host.reader is not None)
    models = _models(workspace, request.corpus, options)
    async with open_engine(workspace, request.corpus, models, listener) as engine:
        host.watch(engine)
        approval = PaidApproval(engine, request, confirm, is_confirmed=options.is_confirmed)
        ports = replace(
            host.around(compiler_ports(workspace, paths, engine.summarizer(), engine.grouper())),
            approve=approval,
            spending=engine.spending,
        )
        report = await compile_corpus(request, ports, listener)
    _remember_agreement(workspace, request.corpus, approval.agreed_calls)
    return report


async def estimate_compile(
    workspace: Workspace, options: CompileOptions, listener: CompileListener, host: CompileHost = alone
) -> EstimatedCompile:
    """Read and cut the documents and say what a compile of them would cost. Nothing is called or written.

    Raises:
        as `compile_documents`, before its first paid call.
    """
    request, paths = _prepared(workspace, options, has_reader=host.reader is not None)
    models = _models(workspace, request.corpus, options)
    async with open_engine(workspace, request.corpus, models, listener, is_dry=True) as engine:
        ports = host.around(compiler_ports(workspace, paths, engine.summarizer(), engine.grouper()))
        plan = await plan_compile(request, ports, listener)
        return EstimatedCompile(plan=plan, spending=await estimated(engine, plan, request.limits))


def models_of_compile(workspace: Workspace, options: CompileOptions) -> CompileModels:
    """The models that such a compile would use.

    Raises:
        InvalidInput: a name, path, size or model that cannot be used.
        ConfirmationNeeded: the active version was made with others, and none is named.
    """
    request, _ = _prepared(workspace, options, has_reader=True)
    return _models(workspace, request.corpus, options)


def _prepared(
    workspace: Workspace, options: CompileOptions, *, has_reader: bool
) -> tuple[CompileRequest, list[Path]]:
    corpus = _corpus(workspace, options)
    check_corpus_name(corpus)
    config_read = workspace.versions.config(corpus)
    config = _config(workspace, config_read, options)
    paths = [Path(path) for path in config.paths]
    if not paths and not has_reader:
        raise NothingToCompile("no_path", corpus=corpus)
    request = _request(workspace, corpus, config, options)
    return replace(request, config=config, config_read=config_read), paths


def _models(workspace: Workspace, corpus: str, options: CompileOptions) -> CompileModels:
    """The models that are named; never silently another engine than the one the active version was made with."""
    models = compile_models(workspace.settings, options)
    is_named = any((options.model, options.summary_model, options.grouping_model))
    if not is_named and not models.is_paid:
        _require_offline_before(workspace, corpus)
    return models


def _require_offline_before(workspace: Workspace, corpus: str) -> None:
    try:
        active = workspace.versions.active(corpus)
        was = None if active is None else workspace.versions.manifest(corpus, active).engines
    except (Damaged, VersionNotFound):
        return  # the compile itself says what is wrong
    if was is None or (was.summarizer.startswith(OFFLINE) and was.grouper.startswith(OFFLINE)):
        return
    by, grouped_by = _model_of(was.summarizer), _model_of(was.grouper)
    how = f"--model {by}" if by == grouped_by else f"--summary-model {by} --grouping-model {grouped_by}"
    raise ConfirmationNeeded("model_not_named", was=", ".join(dict.fromkeys((by, grouped_by))), how=how)


def _model_of(identity: str) -> str:
    """The model's name in an engine's identity, which has the versions of its prompts behind a slash."""
    return OFFLINE if identity.startswith(OFFLINE) else identity.rpartition("/")[0]


def _remember_agreement(workspace: Workspace, corpus: str, calls: int) -> None:
    """Once a compile has succeeded, as many paid calls again need no new yes."""
    if calls <= workspace.versions.config(corpus).approved_calls:
        return
    with suppress(Busy), workspace.versions.exclusive(corpus):
        config = workspace.versions.config(corpus)
        workspace.versions.save_config(corpus, replace(config, approved_calls=calls))


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
        excluded=tuple(sorted({*config.excluded, *options.exclude} - {*options.readmit})),
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
        is_held_back=options.is_held_back,
        regroup=options.regroup,
        excluded=config.excluded,
        strict=options.strict,
        is_confirmed=options.is_confirmed,
    )
