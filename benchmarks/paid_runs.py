"""Paid compiles, each measured in a process of its own (see paid_compile.py)."""

from __future__ import annotations

import asyncio
import os
import resource
import sqlite3
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anthropic
import openai

from benchmarks.paid_corpus import write_documents
from benchmarks.paid_in_process import InProcessModel
from corpus2skill.adapters.llm.anthropic_model import AnthropicModel
from corpus2skill.adapters.llm.connection import Connection
from corpus2skill.adapters.llm.models import open_model
from corpus2skill.adapters.llm.openai_model import OpenAIModel
from corpus2skill.adapters.store.results import results_url
from corpus2skill.application.compile_documents import compile_documents, estimate_compile
from corpus2skill.application.compile_engine import CompileEngine, open_engine
from corpus2skill.application.compile_options import CompileOptions, compile_models
from corpus2skill.application.model_wiring import PaidModels
from corpus2skill.application.wiring import Workspace, compiler_ports, open_workspace
from corpus2skill.compiler.load_version import load_version
from corpus2skill.compiler.pipeline import CompileRequest, compile_corpus
from corpus2skill.compiler.summary_call import summary_call
from corpus2skill.domain.chunk import Chunk
from corpus2skill.domain.job import CompileEvent, CompilePlan, CompileReport, StageProgress
from corpus2skill.domain.model_name import ModelName
from corpus2skill.domain.money import free
from corpus2skill.domain.provider_key import ProviderKey
from corpus2skill.domain.tokens import upper_tokens
from corpus2skill.domain.tree import TreeLimits
from corpus2skill.paying.budget import Budget
from corpus2skill.paying.ledger import Ledger
from corpus2skill.paying.paid_model import Account, PaidModel
from corpus2skill.paying.rate import KeyRate
from corpus2skill.settings import Settings
from tests.fakes.providers import KEY
from tests.fakes.providers.hosting import SpawnedProviders, spawned
from tests.fakes.providers.wire import JsonObject

AT_ONCE = 64
MODELS = {"anthropic": "claude-haiku-5-5", "openai": "gpt-5-mini"}
CORPUS = "default"
Figures = dict[str, float]
ROUNDS = 3
_SHOWN = ("extract", "summarize", "cluster", "write")


class Stages:
    """A listener that notes when a stage began and was last heard of, and the peak of memory until then."""

    def __init__(self) -> None:
        self.began: dict[str, float] = {}
        self.ended: dict[str, float] = {}
        self.peak_mb: dict[str, float] = {}

    def __call__(self, event: CompileEvent, /) -> None:
        if isinstance(event, StageProgress):
            now = time.perf_counter()
            self.began.setdefault(event.stage, now)
            self.ended[event.stage] = now
            self.peak_mb[event.stage] = _peak_mb()

    def figures(self) -> Figures:
        seconds = {f"{stage}_s": self.ended[stage] - self.began[stage] for stage in _SHOWN}
        return seconds | {f"mb_after_{stage}": self.peak_mb[stage] for stage in _SHOWN}


def over_http(provider: str, chunks: int, latency: float, window: int) -> Figures:
    """One compile against the fake in a process of its own, through the application's own path."""
    with _workspace(chunks) as (workspace, folder), _fake(latency) as fake:
        stages = Stages()
        options = _options(folder, provider, fake, window)
        began, cpu_began = time.perf_counter(), time.process_time()
        report = asyncio.run(compile_documents(workspace, options, stages))
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu_began
        summaries, grouping = _calls(report)
        figures = {
            "chunks": chunks,
            "calls": summaries + grouping,
            "grouping_calls": grouping,
            "wall_s": wall,
            "cpu_ms_per_call": cpu / (summaries + grouping) * 1e3,
            "peak_mb": _peak_mb(),
        }
        figures |= stages.figures()
        if latency:
            calls = fake.calls(_port(fake, provider))
            chain = _longest_chain(calls, grouping)
            ideal = summaries / AT_ONCE * latency + chain * latency
            refused = sum(call["state"] == "failed" for call in calls)
            figures |= {"chain": chain, "ideal_s": ideal, "over_ideal": wall / ideal, "refused": refused}
        return figures | _tree_figures(workspace, report) | _prompt_figures(workspace, window)


def in_process(chunks: int, window: int) -> Figures:
    """One compile with a model of no latency in this process: everything of ours but the provider's adapter."""
    with _workspace(chunks) as (workspace, folder):
        model = InProcessModel(window)
        stages = Stages()
        began, cpu_began = time.perf_counter(), time.process_time()
        report = asyncio.run(_compile_in_process(workspace, folder, model, stages))
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu_began
        summaries, grouping = _calls(report)
        figures = {
            "chunks": chunks,
            "calls": summaries + grouping,
            "grouping_calls": grouping,
            "wall_s": wall,
            "cpu_ms_per_call": (cpu - model.seconds) / (summaries + grouping) * 1e3,
            "peak_mb": _peak_mb(),
            "largest_prompt": model.largest_prompt,
            "largest_prompt_with_reply": model.largest_call,
        }
        figures |= stages.figures()
        return figures | _tree_figures(workspace, report)


def cpu_beside_bare(provider: str, chunks: int) -> Figures:
    """CPU for each call of summarising, ours and the bare SDK's, in turns."""
    with _workspace(chunks) as (workspace, folder), _fake(0.1) as fake:
        options = _options(folder, provider, fake, 200_000)
        shown = asyncio.run(estimate_compile(workspace, options, lambda _: None)).plan.to_summarize
        requests = _bare_requests(provider, fake, shown)
        ours, bare = list[float](), list[float]()
        for number in range(ROUNDS + 1):
            theirs = _cpu(lambda: _bare(provider, fake, requests))
            own = open_workspace(workspace.path / str(number), workspace.settings)
            mine = _cpu(lambda own=own: _summarize(own, options, shown))
            if number:  # the first is to get warm
                ours.append(mine / len(shown) * 1e3)
                bare.append(theirs / len(shown) * 1e3)
        mine, theirs = statistics.median(ours), statistics.median(bare)
        return {"bare_ms": theirs, "ours_ms": mine, "more_ms": mine - theirs, "ratio": mine / theirs}


@contextmanager
def _workspace(chunks: int) -> Generator[tuple[Workspace, Path]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_documents(folder / "docs", chunks)
        yield open_workspace(folder / "workspace", Settings(concurrency=AT_ONCE)), folder / "docs"


@contextmanager
def _fake(latency: float) -> Generator[SpawnedProviders]:
    os.environ.update(ANTHROPIC_API_KEY=KEY, OPENAI_API_KEY=KEY)
    with spawned(["--no-bodies", "--latency", str(latency)]) as fake:
        yield fake


def _options(folder: Path, provider: str, fake: SpawnedProviders, window: int) -> CompileOptions:
    return CompileOptions(
        paths=[folder],
        model=f"{provider}:{MODELS[provider]}",
        base_url=_url(fake, provider),
        context_window=window,
        is_confirmed=True,
    )


def _url(fake: SpawnedProviders, provider: str) -> str:
    return fake.anthropic_url if provider == "anthropic" else fake.openai_url


def _port(fake: SpawnedProviders, provider: str) -> int:
    return fake.anthropic_port if provider == "anthropic" else fake.openai_port


def _calls(report: CompileReport) -> tuple[int, int]:
    summaries = sum(line.calls for line in report.spending if line.purpose == "summarize")
    return summaries, sum(line.calls for line in report.spending) - summaries


def _longest_chain(calls: Iterable[JsonObject], grouping: int) -> int:
    """The most of the last `grouping` calls of which each came after the one before it was answered."""
    answered = [call for call in calls if call["state"] == "answered"]
    spans = sorted((float(str(call["started_at"])), float(str(call["finished_at"]))) for call in answered)[
        -grouping:
    ]
    chain, free_from = 0, 0.0
    for start, end in sorted(spans, key=lambda span: span[1]):
        if start >= free_from:
            chain, free_from = chain + 1, end
    return chain


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _tree_figures(workspace: Workspace, report: CompileReport) -> Figures:
    version = report.manifest.version
    tree = load_version(workspace.versions, CORPUS, version).tree
    groups = [group for _, group in tree.paths() if group is not None]
    root = workspace.path / "corpora" / CORPUS / "versions" / str(version) / "tree" / CORPUS / "SKILL.md"
    return {
        "depth": tree.depth(),
        "most_groups_in_a_node": max(len(tree.groups), *(len(group.groups) for group in groups)),
        "most_leaves_in_a_group": max(len(group.member_ids) for group in groups),
        "root_tokens_at_most": upper_tokens(root.read_text(encoding="utf-8")),
    }


def _prompt_figures(workspace: Workspace, window: int) -> Figures:
    """The largest prompt as the provider counted it. One over its window would have been refused by the fake."""
    with sqlite3.connect(results_url(workspace.path).database or "") as connection:
        (largest,) = connection.execute("SELECT max(input_tokens) FROM results").fetchone()
    return {"window": window, "largest_prompt_counted": largest}


async def _compile_in_process(
    workspace: Workspace, folder: Path, model: InProcessModel, stages: Stages
) -> CompileReport:
    """As application.compile_documents does, the opening of a provider left out."""
    results = workspace.results()
    account = Account(
        corpus=CORPUS,
        store=results,
        budget=Budget(None),
        ledger=Ledger(),
        clock=workspace.clock,
        sleep=asyncio.sleep,
        chance=lambda: 0.5,
        listener=stages,
    )
    rate = KeyRate(clock=workspace.clock, sleep=asyncio.sleep, concurrency=AT_ONCE)
    paid = PaidModel(model, account, rate=rate, price=free)
    batches = workspace.batches()
    models = PaidModels(
        summarize=paid,
        group=paid,
        results=results,
        batches=batches,
        ledger=account.ledger,
        prices={model.name: free},
    )
    named = replace(
        compile_models(workspace.settings, CompileOptions()),
        summarize=ModelName("openai", "-"),
        group=ModelName("openai", "-"),
    )
    engine = CompileEngine(models, named)
    ports = compiler_ports(workspace, [folder], engine.summarizer(), engine.grouper())
    request = CompileRequest(corpus=CORPUS, title=CORPUS)

    async def approve(plan: CompilePlan, /) -> None:
        engine.check(plan)
        await engine.estimate(plan, TreeLimits())

    try:
        return await compile_corpus(
            request, replace(ports, spending=engine.spending, approve=approve), stages
        )
    finally:
        await paid.close()
        results.close()
        batches.close()


async def _summarize(workspace: Workspace, options: CompileOptions, chunks: Sequence[Chunk]) -> None:
    models = compile_models(workspace.settings, options)
    async with open_engine(workspace, CORPUS, models) as engine:
        summaries: AsyncIterator[object] = engine.summarizer().summarize(chunks)
        async for _ in summaries:
            pass


def _bare_requests(provider: str, fake: SpawnedProviders, chunks: Sequence[Chunk]) -> list[Any]:
    """What our adapter would send, once it knows the endpoint's manners."""
    name = ModelName(provider, MODELS[provider])
    key = ProviderKey(secret=KEY, source="-")
    model = open_model(name, Connection(key=key, base_url=_url(fake, provider)))
    assert isinstance(model, AnthropicModel | OpenAIModel)

    async def learn() -> None:
        await model.complete(summary_call(chunks[0]))
        await model.close()

    asyncio.run(learn())
    return [model.text_params(summary_call(chunk)) for chunk in chunks]


async def _bare(provider: str, fake: SpawnedProviders, requests: Sequence[Any]) -> None:
    client: Any
    if provider == "anthropic":
        client = anthropic.AsyncAnthropic(api_key=KEY, base_url=_url(fake, provider), max_retries=0)
        create = client.messages.create
    else:
        client = openai.AsyncOpenAI(api_key=KEY, base_url=_url(fake, provider), max_retries=0)
        create = client.chat.completions.create
    waiting = iter(requests)

    async def work() -> None:
        for request in waiting:
            await create(**request)

    async with client:
        await asyncio.gather(*(work() for _ in range(AT_ONCE)))


def _cpu(work: Callable[[], Coroutine[Any, Any, None]]) -> float:
    began = time.process_time()
    asyncio.run(work())
    return time.process_time() - began
