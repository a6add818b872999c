"""The wiring of language models: the half of `wiring` that knows what is paid for.

The providers' SDKs are imported where a model is opened: nothing else waits for them.
"""

from __future__ import annotations

import asyncio
import gc
import os
import random
from collections.abc import AsyncGenerator, Generator, Iterable, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corpus2skill.application.model_prices import price_of
from corpus2skill.application.wiring import OFFLINE, Workspace
from corpus2skill.domain.credential import KEYLESS
from corpus2skill.domain.job import SpendingKnown
from corpus2skill.domain.model_name import ModelName, Role
from corpus2skill.domain.money import Price, free
from corpus2skill.domain.provider_key import ProviderKey
from corpus2skill.domain.usage import day_of, first_of_month
from corpus2skill.errors import ModelUnusable, UnusableSettings
from corpus2skill.paying.batched_calls import BatchedCalls
from corpus2skill.paying.budget import Budget
from corpus2skill.paying.ledger import Ledger
from corpus2skill.paying.month import MonthCap
from corpus2skill.paying.paid_model import Account, PaidModel
from corpus2skill.paying.rate import KeyRate
from corpus2skill.paying.rated_model import RatedModel
from corpus2skill.paying.tries import Patience
from corpus2skill.ports.batch_log import BatchLog
from corpus2skill.ports.batch_model import BatchModel
from corpus2skill.ports.events import CompileListener
from corpus2skill.ports.language_model import LanguageModel
from corpus2skill.ports.navigator_model import NavigatorModel
from corpus2skill.ports.result_store import ResultStore
from corpus2skill.ports.store import RecordStore
from corpus2skill.settings import Settings

if TYPE_CHECKING:
    from corpus2skill.adapters.llm.connection import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileModels:
    """Who summarises and who groups in a compile; None is the offline engine."""

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
    results, records = workspace.results(), workspace.records()
    account = Account(
        corpus=corpus,
        store=results,
        budget=Budget(models.max_cost, _month_cap(workspace, results, records)),
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
        if account.ledger.spending:
            listener(SpendingKnown(account.ledger.spending))  # with the calls that were waited for just now
        account.budget.close()
        batches.close()
        results.close()
        records.close()


def _month_cap(workspace: Workspace, results: ResultStore, records: RecordStore) -> MonthCap | None:
    limit = workspace.settings.month_cost
    if limit is None:
        return None

    def spent() -> float:
        return month_spent(workspace, results, records)

    return MonthCap(limit, spent, workspace.month_hold, workspace.clock)


def month_spent(workspace: Workspace, results: ResultStore, records: RecordStore) -> float:
    """US dollars that the tenant's compiles and questions of this month have come to so far."""
    since = first_of_month(workspace.clock.now())
    return results.spent(day_of(since)) + records.spent(workspace.tenant, since=since)


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
            with _without_collector():
                self._opened[name] = self._open(name)
        return self._opened[name]

    def _open(self, name: ModelName) -> PaidModel:
        from corpus2skill.adapters.llm.models import open_model

        connection = _connection(self._workspace, name, self._models, is_dry=self._is_dry)
        model = open_model(name, connection, self._workspace.keys.variables)
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
        connection = _connection(self._workspace, name, self._models, is_dry=self._is_dry)
        model = open_batches(name, connection, self._workspace.keys.variables)
        price = self.batch_price = self._price(name, is_batch=True)
        self._batched = BatchedCalls(model, single, self._bare[name], log, self._account, price=price)
        return self._batched

    def _price(self, name: ModelName, *, is_batch: bool) -> Price:
        beside = [other for other in (self._models.summarize, self._models.group) if other is not None]
        keys = self._workspace.keys
        return price_in_force(
            self._workspace.settings,
            name,
            keys.address(name.provider) or self._models.base_url,
            beside=beside,
            is_batch=is_batch,
            environment=keys.variables,
        )

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


@contextmanager
def _without_collector() -> Generator[None]:
    """Import an SDK in the block: what that makes stays as long as the process, and is not collected.

    Looking through it takes 0.2 s of the import, and a quarter millisecond of each call later on.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()


def open_single_model(workspace: Workspace, name: ModelName, base_url: str | None) -> LanguageModel:
    """A model as it is, without store or tries.

    Raises:
        UnusableSettings, ModelUnusable: as `open_paid_models`.
    """
    from corpus2skill.adapters.llm.models import open_model

    return open_model(name, _single_connection(workspace, name, base_url), workspace.keys.variables)


def open_batch_model(workspace: Workspace, name: ModelName, base_url: str | None) -> BatchModel:
    """The batch interface of a model as it is.

    Raises:
        UnusableSettings, ModelUnusable: as `open_paid_models`.
    """
    from corpus2skill.adapters.llm.models import open_batches

    return open_batches(name, _single_connection(workspace, name, base_url), workspace.keys.variables)


def _single_connection(workspace: Workspace, name: ModelName, base_url: str | None) -> Connection:
    models = CompileModels(
        base_url=base_url or workspace.settings.base_url, context_window=workspace.settings.context_window
    )
    return _connection(workspace, name, models, is_dry=False)


def price_in_force(
    settings: Settings,
    name: ModelName,
    base_url: str | None,
    *,
    beside: Iterable[ModelName] = (),
    is_batch: bool = False,
    environment: Mapping[str, str] | None = None,
) -> Price:
    """The price of a model, used `beside` others and those that the settings name.

    `environment`: the variables that may name an address; None: all of this process.

    Raises:
        UnusableSettings: the address is none.
    """
    from corpus2skill.adapters.llm.connection import base_url_in_force
    from corpus2skill.adapters.llm.prices import price_of as listed_price_of

    variables = os.environ if environment is None else environment

    def listed(one: ModelName) -> Price:
        return listed_price_of(one, base_url_in_force(one, base_url, variables), is_batch=is_batch)

    return price_of(settings, name, listed, beside=(*beside, *_configured(settings)), is_batch=is_batch)


def _configured(settings: Settings) -> Generator[ModelName]:
    """The models that the settings name for some role; one that cannot be used is its command's to refuse."""
    roles: tuple[tuple[str | None, Role], ...] = (
        (settings.summary_model, "summarize"),
        (settings.grouping_model, "group"),
        (settings.navigation_model, "navigate"),
    )
    for text, role in roles:
        with suppress(UnusableSettings):
            yield model_for(text or settings.model, role)


def listed_window(name: ModelName, base_url: str | None) -> int | None:
    """Tokens that the list of models says it reads.

    Raises:
        UnusableSettings: the address is none.
    """
    from corpus2skill.adapters.llm.catalogue import known_window
    from corpus2skill.adapters.llm.connection import base_url_in_force

    return known_window(name, base_url_in_force(name, base_url, os.environ))


async def said_window(model: LanguageModel, name: ModelName) -> int | None:
    """Tokens that its server says it reads."""
    from corpus2skill.adapters.llm.stated_window import stated_window

    return await stated_window(model, name.model)


def _connection(workspace: Workspace, name: ModelName, models: CompileModels, *, is_dry: bool) -> Connection:
    from corpus2skill.adapters.llm.connection import Connection
    from corpus2skill.adapters.llm.timeouts import Timeouts

    settings, keys = workspace.settings, workspace.keys
    address = keys.address(name.provider) or models.base_url
    key = _dry_key(workspace, name) if is_dry else _paying_key(workspace, name, address)
    if address is not None and not is_dry:
        keys.approve(address)
    return Connection(
        key=key,
        base_url=address,
        window=models.context_window,
        timeouts=Timeouts(reply=settings.reply_seconds, silence=settings.silence_seconds),
    )


def _dry_key(workspace: Workspace, name: ModelName) -> ProviderKey:
    """The key, or a place holder: nothing is sent."""
    key = None if workspace.keys.is_alone else workspace.keys.key(name.provider)
    return key or ProviderKey(secret="none", source="-")  # noqa: S106


def _paying_key(workspace: Workspace, name: ModelName, address: str | None) -> ProviderKey | None:
    """
    Raises:
        ModelUnusable: there is none, and nothing else may pay.
    """
    key = workspace.keys.key(name.provider)
    if key is None and workspace.keys.is_alone and (address is None or name.provider not in KEYLESS):
        raise ModelUnusable("key_not_stored", model=str(name), provider=name.provider)
    return key


def _address(workspace: Workspace, name: ModelName, base_url: str | None) -> str | None:
    """Where the model is, but for the environment: by an option, the stored key, the settings."""
    return base_url or workspace.keys.address(name.provider) or workspace.settings.base_url


def model_for(text: str, role: Role) -> ModelName:
    """Parse `provider` or `provider:name`.

    Raises:
        UnusableSettings: no adapter answers to it.
    """
    from corpus2skill.adapters.llm.catalogue import parse_model

    return parse_model(text, role)


def open_navigator(
    workspace: Workspace, corpus: str, version: int, model: str, base_url: str | None = None
) -> tuple[NavigatorModel, Price]:
    """The model that walks one version's tree, and what its tokens cost.

    Raises:
        UnusableSettings, ModelUnusable: as `open_paid_models`.
    """
    if model == OFFLINE:
        return _offline_navigator(workspace, corpus, version), free
    name = model_for(model, "navigate")
    chosen = _address(workspace, name, base_url)
    price = price_in_force(workspace.settings, name, chosen, environment=workspace.keys.variables)
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


def check_model(model: str) -> None:
    """Refuse, before anything else is done, a model that no adapter answers to.

    Raises:
        UnusableSettings: naming the models there are.
    """
    if model != OFFLINE:
        model_for(model, "summarize")
