"""The summarizer and the grouper of one compile, with what is known of their cost before they begin."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Iterable, Sequence
from contextlib import asynccontextmanager, contextmanager

from corpus2skill.application.model_wiring import CompileModels, PaidModels, open_paid_models
from corpus2skill.application.wiring import Workspace, neighbours, offline_grouper, offline_summarizer
from corpus2skill.compiler.batched_summarizer import BatchedSummarizer
from corpus2skill.compiler.group_plan import planned_grouping, planned_update
from corpus2skill.compiler.model_grouper import ModelGrouper
from corpus2skill.compiler.model_summarizer import ModelSummarizer
from corpus2skill.compiler.summary_call import summary_call
from corpus2skill.compiler.summary_plan import most_summary_calls, planned_summaries
from corpus2skill.compiler.summary_window import check_window
from corpus2skill.domain.chunk import Chunk
from corpus2skill.domain.job import CompileEvent, CompilePlan
from corpus2skill.domain.money import EstimatedSpending, PlannedCalls, Price, Spending
from corpus2skill.domain.tree import TreeLimits
from corpus2skill.errors import UnusableSettings
from corpus2skill.paying.call_key import call_key
from corpus2skill.paying.estimate import estimate
from corpus2skill.paying.paid_model import PaidModel
from corpus2skill.ports.events import CompileListener
from corpus2skill.ports.grouper import Grouper
from corpus2skill.ports.result_store import PastUsage
from corpus2skill.ports.summarizer import Summarizer

_LOOKED_UP_AT_ONCE = 256
"""Calls: the result store answers so many together almost as quickly as one."""

_READY = 2
"""Chunks at work for each call that may be under way: while some wait for a reply, others are looked up, checked
or have their prompt made, so that no place among the calls stays empty."""


class CompileEngine:
    """Who summarises and groups, paid or not."""

    def __init__(self, paid: PaidModels, models: CompileModels) -> None:
        self._paid = paid
        self._models = models

    @property
    def is_paid(self) -> bool:
        return self._models.is_paid

    @property
    def max_cost(self) -> float | None:
        return self._models.max_cost

    def summarizer(self) -> Summarizer:
        if self._paid.summarize is None:
            return offline_summarizer()
        summarizer = ModelSummarizer(
            self._paid.summarize, offline_summarizer(), at_once=_READY * self._models.concurrency
        )
        batched = self._paid.batched
        if batched is None:
            return summarizer
        return BatchedSummarizer(summarizer, lambda chunks: batched.pay(chunks, summary_call))

    def grouper(self) -> Grouper:
        if self._paid.group is None:
            return offline_grouper()
        return ModelGrouper(model=self._paid.group, neighbours=neighbours(), at_once=self._models.concurrency)

    def spending(self) -> tuple[Spending, ...]:
        """What the calls so far came to."""
        return self._paid.ledger.spending

    def check(self, plan: CompilePlan) -> None:
        """Refuse, before anything is paid, what cannot be done with these models.

        Raises:
            UnusableSettings: a chunk does not fit into the window of the model that is to summarise it.
        """
        model = self._paid.summarize
        if model is not None:
            with _in_whole_windows(model):
                check_window(plan.to_summarize, model.window)

    async def open_batches(self, corpus: str) -> int:
        """How many batches of summaries are under way that this compile, which makes none, would pay again."""
        model = self._paid.summarize
        if model is None or self._models.is_batch:
            return 0
        return len(await self._paid.batches.open(corpus, model.identity))

    def most_calls(self, plan: CompilePlan, limits: TreeLimits) -> int:
        """More calls than the plan will probably take, without looking what is answered already.

        Raises:
            UnusableSettings: the window is too small for any grouping.
        """
        summaries = 0 if self._paid.summarize is None else most_summary_calls(len(plan.to_summarize))
        return round(summaries + sum(part.calls.high for part in self._planned_grouping(plan, limits)))

    async def estimate(self, plan: CompilePlan, limits: TreeLimits) -> tuple[EstimatedSpending, ...]:
        """What the plan's calls will probably come to; those that are answered already cost nothing."""
        planned = [*(await self._planned_summaries(plan)), *self._planned_grouping(plan, limits)]
        return estimate(planned, self._name, self._price, self._past)

    async def _planned_summaries(self, plan: CompilePlan) -> Iterable[PlannedCalls]:
        model = self._paid.summarize
        if model is None:
            return ()
        waiting = list[Chunk]()
        for start in range(0, len(plan.to_summarize), _LOOKED_UP_AT_ONCE):
            some = plan.to_summarize[start : start + _LOOKED_UP_AT_ONCE]
            waiting += await self._unanswered(model, some)
        # Made a second time here: all calls of a large corpus would take more memory than the corpus.
        return (planned_summaries(map(summary_call, waiting)),)

    async def _unanswered(self, model: PaidModel, chunks: Sequence[Chunk]) -> Sequence[Chunk]:
        find = self._paid.results.find
        keys = [call_key(model.identity, summary_call(chunk)) for chunk in chunks]
        found = await asyncio.gather(*map(find, keys))
        return [chunk for chunk, reply in zip(chunks, found, strict=True) if reply is None]

    def _planned_grouping(self, plan: CompilePlan, limits: TreeLimits) -> Sequence[PlannedCalls]:
        model = self._paid.group
        if model is None:
            return ()
        with _in_whole_windows(model):
            if plan.is_first_grouping:
                return planned_grouping(plan.to_group, limits, model.window, plan.language)
            return planned_update(
                plan.to_group, plan.leaf_groups, plan.depth, limits, model.window, plan.language
            )

    def _name(self, planned: PlannedCalls) -> str:
        model = self._paid.summarize if planned.purpose == "summarize" else self._paid.group
        assert model is not None
        return model.name

    def _price(self, planned: PlannedCalls) -> Price:
        batch_price = self._paid.batch_price if planned.purpose == "summarize" else None
        return batch_price or self._paid.prices[self._name(planned)]

    def _past(self, planned: PlannedCalls) -> PastUsage:
        return self._paid.results.past_usage(self._name(planned), planned.purpose)


@contextmanager
def _in_whole_windows(model: PaidModel) -> Generator[None]:
    """Tell sizes as they can be set: with what the model may think, which the core knows nothing of."""
    try:
        yield
    except UnusableSettings as error:
        thought = model.whole_window - model.window
        sizes = {
            name: value for name in ("window", "needed") if isinstance(value := error.values.get(name), int)
        }
        whole = {name: value + thought for name, value in sizes.items()}
        raise UnusableSettings(error.code, **{**error.values, **whole}) from error


def silent(_event: CompileEvent, /) -> None:
    """The listener of what nobody watches."""


@asynccontextmanager
async def open_engine(
    workspace: Workspace,
    corpus: str,
    models: CompileModels,
    listener: CompileListener = silent,
    *,
    is_dry: bool = False,
) -> AsyncGenerator[CompileEngine]:
    """The engine of one compile for as long as the block lasts; a dry one needs no key and calls nothing."""
    async with open_paid_models(workspace, corpus, models, listener, is_dry=is_dry) as paid:
        yield CompileEngine(paid, models)
