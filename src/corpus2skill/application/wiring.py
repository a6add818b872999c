"""The one file that knows both sides: which adapter answers which port of the core.

Adapters are imported where they are used: a command that only reads a file does not load numpy.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from corpus2skill import __version__
from corpus2skill.adapters.clock import SystemClock, TimeSortedIds
from corpus2skill.adapters.store.version_files import FileVersionStore
from corpus2skill.compiler.pipeline import CompilerPorts
from corpus2skill.domain.model_name import ModelName, Role
from corpus2skill.domain.money import Price, flat_price, free, unknown_price
from corpus2skill.errors import InvalidInput, UnusableSettings
from corpus2skill.navigator.held_money import HeldMoney
from corpus2skill.paying.batched_calls import BatchedCalls
from corpus2skill.paying.budget import Budget
from corpus2skill.paying.ledger import Ledger
from corpus2skill.paying.paid_model import Account, PaidModel
from corpus2skill.paying.rate import KeyRate
from corpus2skill.paying.rated_model import RatedModel
from corpus2skill.paying.tries import Patience
from corpus2skill.ports.batch_log import BatchLog
from corpus2skill.ports.clock import Clock, Ids
from corpus2skill.ports.events import CompileListener
from corpus2skill.ports.extractor import Extractor
from corpus2skill.ports.grouper import Grouper, Neighbours
from corpus2skill.ports.language_model import LanguageModel
from corpus2skill.ports.navigator_model import NavigatorModel
from corpus2skill.ports.result_store import ResultStore
from corpus2skill.ports.sources import SourceReader
from corpus2skill.ports.store import RecordStore
from corpus2skill.ports.summarizer import Summarizer
from corpus2skill.settings import SETTINGS_FILE, Settings, expanded

if TYPE_CHECKING:
    from corpus2skill.adapters.llm.connection import Connection

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
    held: HeldMoney = field(default_factory=HeldMoney)
    """What runs under way hold of the spending limits."""
    rates: dict[str, KeyRate] = field(default_factory=dict[str, KeyRate])
    """Of rounds, by the provider's key and address."""

    def records(self) -> RecordStore:
        """The audit records; the database is opened when first asked for."""
        from corpus2skill.adapters.store.records import SqlRecordStore, records_url

        return SqlRecordStore(records_url(self.path), self.clock)

    def results(self) -> ResultStore:
        """What paid calls answered; the database is opened when first needed."""
        from corpus2skill.adapters.store.results import SqlResultStore, results_url

        return SqlResultStore(results_url(self.path))

    def batches(self) -> BatchLog:
        """The batches under way, in the same database."""
        from corpus2skill.adapters.store.batch_log import SqlBatchLog
        from corpus2skill.adapters.store.results import results_url

        return SqlBatchLog(results_url(self.path))

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
        model_for(model, "summarize")


def leftovers(workspace: Workspace, corpus: str) -> int:
    """Folders that killed compiles left half written; the next compile of the corpus clears them."""
    from corpus2skill.adapters.store.compile_lock import STAGING

    return sum(1 for _ in (workspace.path / "corpora" / corpus / "versions").glob(f"{STAGING}*"))


def source_reader(workspace: Workspace, paths: Sequence[Path]) -> SourceReader:
    from corpus2skill.adapters.sources.folder import FolderSources

    return FolderSources(paths, exclude=workspace.path, max_bytes=workspace.settings.max_file_bytes)


def original_file(workspace: Workspace, paths: Sequence[Path], source: str) -> tuple[str, Path] | None:
    """Name and path of the file under `paths` that `source` is or lies in; None where it is there no longer."""
    from corpus2skill.adapters.sources.folder import FolderSources

    try:
        files = FolderSources(paths, exclude=workspace.path)
    except InvalidInput:  # one of the paths is gone, and names are told by all of them
        return None
    return files.file_of(source)


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
    concurrency: int = 16
    is_batch: bool = False

    @property
    def is_paid(self) -> bool:
        return self.summarize is not None or self.group is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidModels:
    """The models of a compile behind store, cap, rate and tries, and what they share."""

    summarize: PaidModel | None
    group: PaidModel | None
    results: ResultStore
    batches: BatchLog
    ledger: Ledger
    prices: Mapping[str, Price]
    """By the models' names."""
    batched: BatchedCalls | None = None
    """Pays for summaries ahead, where that was asked for."""
    batch_price: Price | None = None
    """What the summaries cost then."""


@asynccontextmanager
async def open_paid_models(
    workspace: Workspace,
    corpus: str,
    models: CompileModels,
    listener: CompileListener,
    *,
    is_dry: bool,
) -> AsyncGenerator[PaidModels]:
    """The models of one compile for as long as the block lasts. Dry ones need no key: nothing is sent.

    Raises:
        UnusableSettings, ModelUnusable: an address, a key or a price is missing or cannot be used.
    """
    results = workspace.results()
    account = Account(
        corpus=corpus,
        store=results,
        budget=Budget(models.max_cost),
        ledger=Ledger(),
        clock=workspace.clock,
        sleep=asyncio.sleep,
        chance=random.random,
        listener=listener,
        patience=Patience(seconds=workspace.settings.patience_seconds),
    )
    batches = workspace.batches()
    opening = _Opening(workspace, models, account, is_dry=is_dry)
    try:
        batched = opening.batched(models.summarize, batches) if models.is_batch else None
        yield PaidModels(
            summarize=opening.model(models.summarize),
            group=opening.model(models.group),
            results=results,
            batches=batches,
            ledger=account.ledger,
            prices=opening.prices,
            batched=batched,
            batch_price=opening.batch_price,
        )
    finally:
        await opening.close()
        batches.close()
        results.close()


class _Opening:
    """Opens the models of one compile; those that are called with one key share its rate."""

    def __init__(
        self, workspace: Workspace, models: CompileModels, account: Account, *, is_dry: bool
    ) -> None:
        self._workspace = workspace
        self._models = models
        self._account = account
        self._is_dry = is_dry
        self._rates: dict[str, KeyRate] = {}
        self._opened: dict[ModelName, PaidModel] = {}
        self._bare: dict[ModelName, LanguageModel] = {}
        self._batched: BatchedCalls | None = None
        self.prices: dict[str, Price] = {}
        self.batch_price: Price | None = None

    def model(self, name: ModelName | None) -> PaidModel | None:
        if name is None:
            return None
        if name not in self._opened:
            self._opened[name] = self._open(name)
        return self._opened[name]

    def _open(self, name: ModelName) -> PaidModel:
        from corpus2skill.adapters.llm.models import open_model

        model = open_model(name, _connection(self._workspace, name, self._models, is_dry=self._is_dry))
        self._bare[name] = model
        price = self.prices[model.name] = self._price(name, is_batch=False)
        return PaidModel(model, self._account, rate=self._rate(name), price=price)

    def batched(self, name: ModelName | None, log: BatchLog) -> BatchedCalls:
        """The batches of the model that is to summarise.

        Raises:
            UnusableSettings: there is none.
            ModelUnusable: its provider has no batches.
        """
        from corpus2skill.adapters.llm.models import open_batches

        single = self.model(name)
        if name is None or single is None:
            raise UnusableSettings("batch_without_model")
        model = open_batches(name, _connection(self._workspace, name, self._models, is_dry=self._is_dry))
        price = self.batch_price = self._price(name, is_batch=True)
        self._batched = BatchedCalls(model, single, self._bare[name], log, self._account, price=price)
        return self._batched

    def _price(self, name: ModelName, *, is_batch: bool) -> Price:
        """The listed price, else the stated one: of no stated price is it known that batches have it for less."""
        from corpus2skill.adapters.llm.connection import base_url_in_force
        from corpus2skill.adapters.llm.prices import price_of as listed_price

        base_url = base_url_in_force(name, self._models.base_url, os.environ)
        price = listed_price(name, base_url, is_batch=is_batch)
        return _stated_price(self._workspace.settings) if price is unknown_price else price

    def _rate(self, name: ModelName) -> KeyRate:
        if name.provider not in self._rates:
            settings = self._workspace.settings
            self._rates[name.provider] = KeyRate(
                clock=self._workspace.clock,
                sleep=asyncio.sleep,
                concurrency=settings.concurrency,
                requests_per_minute=settings.requests_per_minute,
                tokens_per_minute=settings.tokens_per_minute,
            )
        return self._rates[name.provider]

    async def close(self) -> None:
        for model in self._opened.values():
            await model.close()
        if self._batched is not None:
            await self._batched.close()


def open_single_model(workspace: Workspace, name: ModelName, base_url: str | None) -> LanguageModel:
    """A model as it is, without store or tries.

    Raises:
        UnusableSettings, ModelUnusable: as `open_paid_models`.
    """
    from corpus2skill.adapters.llm.models import open_model

    models = CompileModels(
        base_url=base_url or workspace.settings.base_url, context_window=workspace.settings.context_window
    )
    return open_model(name, _connection(workspace, name, models, is_dry=False))


def _stated_price(settings: Settings) -> Price:
    """What the settings say of a model that no list knows."""
    if settings.input_price is None or settings.output_price is None:
        return unknown_price
    return flat_price(settings.input_price, settings.output_price)


def _connection(workspace: Workspace, name: ModelName, models: CompileModels, *, is_dry: bool) -> Connection:
    from corpus2skill.adapters.llm.connection import Connection
    from corpus2skill.adapters.llm.keys import Keys
    from corpus2skill.adapters.llm.timeouts import Timeouts
    from corpus2skill.domain.provider_key import ProviderKey

    settings = workspace.settings
    file = None if settings.key_file is None else expanded(Path(settings.key_file))
    key = Keys(os.environ, file).key(name.provider)
    if key is None and is_dry:
        key = ProviderKey(secret="none", source="-")  # noqa: S106 - a place holder: nothing is sent
    return Connection(
        key=key,
        base_url=models.base_url,
        window=models.context_window,
        timeouts=Timeouts(reply=settings.reply_seconds, silence=settings.silence_seconds),
    )


def model_for(text: str, role: Role) -> ModelName:
    """Parse `provider` or `provider:name`.

    Raises:
        UnusableSettings: no adapter answers to it.
    """
    from corpus2skill.adapters.llm.catalogue import parse_model

    return parse_model(text, role)


def offline_summarizer() -> Summarizer:
    from corpus2skill.adapters.offline.summarizer import OfflineSummarizer

    return OfflineSummarizer()


def offline_grouper() -> Grouper:
    from corpus2skill.adapters.offline.grouper import OfflineGrouper

    return OfflineGrouper()


def neighbours() -> Neighbours:
    """The order in which a model that sees a list in pieces is shown it."""
    from corpus2skill.adapters.offline.neighbours import lexical_neighbours

    return lexical_neighbours


def compiler_ports(
    workspace: Workspace, paths: Sequence[Path], summarizer: Summarizer, grouper: Grouper
) -> CompilerPorts:
    """Everything a compile with this summarizer and grouper needs."""
    from corpus2skill.adapters.offline.lexical_index import OfflineLexicalIndex

    return CompilerPorts(
        reader=source_reader(workspace, paths),
        extractor=extractor(workspace.settings),
        summarizer=summarizer,
        grouper=grouper,
        index_writer=OfflineLexicalIndex(),
        store=workspace.versions,
        clock=workspace.clock,
        product=__version__,
    )


def open_navigator(
    workspace: Workspace, corpus: str, version: int, model: str, base_url: str | None = None
) -> tuple[NavigatorModel, Price]:
    """The model that walks one version's tree, and what its tokens cost.

    Raises:
        UnusableSettings, ModelUnusable: as `open_paid_models`.
    """
    if model == OFFLINE:
        return _offline_navigator(workspace, corpus, version), free
    from corpus2skill.adapters.llm.connection import base_url_in_force
    from corpus2skill.adapters.llm.prices import price_of

    name = model_for(model, "navigate")
    chosen = base_url or workspace.settings.base_url
    price = price_of(name, base_url_in_force(name, chosen, os.environ))
    if price is unknown_price:
        price = _stated_price(workspace.settings)
    bare = open_single_model(workspace, name, base_url)
    return RatedModel(bare, _rate_of_rounds(workspace, f"{name.provider} {chosen or ''}")), price


def _rate_of_rounds(workspace: Workspace, key: str) -> KeyRate:
    settings = workspace.settings
    if key not in workspace.rates:
        workspace.rates[key] = KeyRate(
            clock=workspace.clock,
            sleep=asyncio.sleep,
            concurrency=settings.rounds_at_once,
            requests_per_minute=settings.requests_per_minute,
            tokens_per_minute=settings.tokens_per_minute,
        )
    return workspace.rates[key]


def _offline_navigator(workspace: Workspace, corpus: str, version: int) -> NavigatorModel:
    from corpus2skill.adapters.offline.mapped_index import MappedIndex
    from corpus2skill.adapters.offline.navigator import OfflineNavigator

    index = MappedIndex(workspace.versions.lexical_folder(corpus, version))
    return OfflineNavigator(index, fetch_limit=workspace.settings.fetch_limit)


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
