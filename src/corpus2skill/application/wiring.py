"""The one file that knows both sides: which adapter answers which port of the core.

Adapters are imported where they are used: a command that only reads a file does not load numpy.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from corpus2skill import __version__
from corpus2skill.adapters.clock import SystemClock, TimeSortedIds
from corpus2skill.adapters.store.version_files import FileVersionStore
from corpus2skill.compiler.pipeline import CompilerPorts
from corpus2skill.domain.job import CompilePlan
from corpus2skill.domain.model_name import ModelName, Role
from corpus2skill.domain.money import EstimatedSpending, Price, Spending, free
from corpus2skill.domain.tree import TreeLimits
from corpus2skill.errors import UnusableSettings
from corpus2skill.ports.clock import Clock, Ids
from corpus2skill.ports.events import CompileListener
from corpus2skill.ports.extractor import Extractor
from corpus2skill.ports.grouper import Grouper
from corpus2skill.ports.navigator_model import NavigatorModel
from corpus2skill.ports.result_store import ResultStore
from corpus2skill.ports.sources import SourceReader
from corpus2skill.ports.store import RecordStore
from corpus2skill.ports.summarizer import Summarizer
from corpus2skill.settings import SETTINGS_FILE, Settings

TENANT = "local"
"""Owner of everything in a workspace on one's own machine."""
EVALUATION_TENANT = "evaluation"
"""Runs of question packs are kept as records of their own, apart from people's conversations."""
TENANTS = (TENANT, EVALUATION_TENANT)
OFFLINE = "offline"
"""Name of the embedded engine as a model."""
ENGINES = (OFFLINE,)
KEY_VARIABLES = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
"""Environment variables that hold a customer's provider keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """An opened workspace: its settings and what lies in it."""

    path: Path
    settings: Settings
    versions: FileVersionStore
    clock: Clock
    ids: Ids

    def records(self) -> RecordStore:
        """The audit records; the database is opened when first asked for."""
        from corpus2skill.adapters.store.records import SqlRecordStore, records_url

        return SqlRecordStore(records_url(self.path), self.clock)

    def results(self) -> ResultStore:
        """What paid calls answered; the database is opened when first needed."""
        from corpus2skill.adapters.store.results import SqlResultStore, results_url

        return SqlResultStore(results_url(self.path))

    def has_results(self) -> bool:
        """False before the first paid call; looking makes no database."""
        from corpus2skill.adapters.store.results import results_url

        return Path(results_url(self.path).database or "").exists()

    def has_records(self) -> bool:
        """False before the first question; looking makes no database."""
        from corpus2skill.adapters.store.records import records_url

        return Path(records_url(self.path).database or "").exists()


def open_workspace(path: Path, settings: Settings) -> Workspace:
    """Open the workspace at `path`; nothing is created before something is written."""
    clock = SystemClock()
    return Workspace(
        path=path,
        settings=settings,
        versions=FileVersionStore(path),
        clock=clock,
        ids=TimeSortedIds(clock),
    )


def check_model(model: str) -> None:
    """Refuse, before anything else is done, a model that no adapter answers to.

    Raises:
        UnusableSettings: naming the models there are.
    """
    if model != OFFLINE:
        raise UnusableSettings("unknown_model", model=model, known=OFFLINE)


def leftovers(workspace: Workspace, corpus: str) -> int:
    """Folders that killed compiles left half written; the next compile of the corpus clears them."""
    from corpus2skill.adapters.store.compile_lock import STAGING

    return sum(1 for _ in (workspace.path / "corpora" / corpus / "versions").glob(f"{STAGING}*"))


def source_reader(workspace: Workspace, paths: Sequence[Path]) -> SourceReader:
    from corpus2skill.adapters.sources.folder import FolderSources

    return FolderSources(paths, exclude=workspace.path, max_bytes=workspace.settings.max_file_bytes)


def extractor(settings: Settings) -> Extractor:
    from corpus2skill.adapters.extract.child_pool import ChildPool
    from corpus2skill.adapters.extract.extractors import Extractors
    from corpus2skill.adapters.extract.limits import Limits

    limits = Limits(max_characters=settings.max_characters, max_pages=settings.max_pages)
    return Extractors(limits, ChildPool(limits))


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileModels:
    """Who summarises and who groups in a compile; None is the embedded engine."""

    summarize: ModelName | None = None
    group: ModelName | None = None
    base_url: str | None = None
    context_window: int | None = None
    """Tokens; None: what is known of the model."""
    max_cost: float | None = None
    """US dollars; None: no cap."""
    is_batch: bool = False

    @property
    def is_paid(self) -> bool:
        return self.summarize is not None or self.group is not None


class CompileEngine:
    """The summarizer and grouper of one compile, and all that stands around their paid calls."""

    def __init__(self, models: CompileModels, summarizer: Summarizer, grouper: Grouper) -> None:
        self.models = models
        self.summarizer = summarizer
        self.grouper = grouper

    @property
    def is_paid(self) -> bool:
        return self.models.is_paid

    @property
    def max_cost(self) -> float | None:
        return self.models.max_cost

    def check(self, plan: CompilePlan) -> None:
        """Refuse, before anything is paid, what cannot be done with these models."""

    async def estimate(self, plan: CompilePlan, limits: TreeLimits) -> tuple[EstimatedSpending, ...]:
        return ()

    def spending(self) -> tuple[Spending, ...]:
        return ()


@asynccontextmanager
async def open_engine(
    workspace: Workspace,
    corpus: str,
    models: CompileModels,
    listener: CompileListener | None = None,
    *,
    is_dry: bool = False,
) -> AsyncGenerator[CompileEngine]:
    """The engine of one compile for as long as the block lasts."""
    from corpus2skill.adapters.offline.grouper import OfflineGrouper
    from corpus2skill.adapters.offline.summarizer import OfflineSummarizer

    yield CompileEngine(models, OfflineSummarizer(), OfflineGrouper())


def model_for(text: str, role: Role) -> ModelName:
    """Parse `provider` or `provider:name`.

    Raises:
        UnusableSettings: no adapter answers to it.
    """
    raise UnusableSettings("unknown_model", model=text, known=OFFLINE)


def compiler_ports(workspace: Workspace, paths: Sequence[Path], engine: CompileEngine) -> CompilerPorts:
    """Everything a compile with `engine` needs."""
    from corpus2skill.adapters.offline.lexical_index import OfflineLexicalIndex

    return CompilerPorts(
        reader=source_reader(workspace, paths),
        extractor=extractor(workspace.settings),
        summarizer=engine.summarizer,
        grouper=engine.grouper,
        index_writer=OfflineLexicalIndex(),
        store=workspace.versions,
        clock=workspace.clock,
        product=__version__,
    )


def navigator_model(workspace: Workspace, corpus: str, version: int, model: str) -> NavigatorModel:
    """The model that walks one version's tree."""
    check_model(model)
    from corpus2skill.adapters.offline.mapped_index import MappedIndex
    from corpus2skill.adapters.offline.navigator import OfflineNavigator

    index = MappedIndex(workspace.versions.lexical_folder(corpus, version))
    return OfflineNavigator(index, fetch_limit=workspace.settings.fetch_limit)


def price_of(model: str) -> Price:
    """What tokens of `model` cost: the embedded engine costs nothing."""
    check_model(model)
    return free


def write_settings_file(workspace: Workspace, stored: dict[str, object]) -> None:
    """Replace `settings.toml` in one step.

    Raises:
        WorkspaceUnusable: the disk refused.
    """
    import tomli_w

    from corpus2skill.adapters.store.durable import replace_file, usable

    file = workspace.path / SETTINGS_FILE
    workspace.versions.prepare()
    with usable(file):
        replace_file(file, tomli_w.dumps(stored).encode("utf-8"))


def flat_ranking(workspace: Workspace, corpus: str, version: int) -> Callable[[str], tuple[str, ...]]:
    """What a question would read without a tree: the sources of as many leaves as a run has fetches."""
    from corpus2skill.adapters.offline.flat_ranking import FlatRanking
    from corpus2skill.adapters.offline.mapped_index import MappedIndex

    ranking = FlatRanking(MappedIndex(workspace.versions.lexical_folder(corpus, version)))

    def sources(question: str) -> tuple[str, ...]:
        paths = ranking.best(question, workspace.settings.fetch_limit)
        names = (path.rpartition("/")[2].removeprefix("doc_").removesuffix(".md") for path in paths)
        rows = (workspace.versions.chunk_row(corpus, version, name) for name in names)
        return tuple(row.source for row in rows if row is not None)

    return sources
