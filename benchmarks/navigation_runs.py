"""Runs of the navigator, each measured in a process of its own (see navigation.py)."""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import anthropic
import openai

from benchmarks.navigation_provider import FETCHES, PIECES, STAMP, timed_providers
from corpus2skill.application.ask import Asking, AskOptions, ask
from corpus2skill.application.compile_documents import compile_documents
from corpus2skill.application.compile_options import CompileOptions
from corpus2skill.application.wiring import OFFLINE, TENANT, Workspace, open_workspace
from corpus2skill.domain.run import AnswerDelta, NodeVisited, RoundFinished, RunEvent, RunRecord
from corpus2skill.ports.store import RecordFilter
from corpus2skill.settings import Settings
from tests.fakes.providers import KEY
from tests.fakes.providers.hosting import SpawnedProviders
from tests.fakes.providers.wire import JsonObject

MODELS = {"anthropic": "claude-haiku-5-5", "openai": "gpt-5-mini"}
CORPUS, VERSION = "default", 1
SAMPLES = Path(__file__).resolve().parents[1] / "src" / "corpus2skill" / "samples" / "ja"
QUESTION = "年額プランの解約はいつまでに申請すればよいですか。"
LATENCY, PACE = 0.3, 0.03
MEAN_PIECES = 18
"""Deltas in a round of a run on the average, so that the bare SDK has as much to read."""
Figures = dict[str, float]
BareClient = anthropic.AsyncAnthropic | openai.AsyncOpenAI


class Timed:
    """A listener that notes when it was told what, in seconds of the monotonic clock."""

    def __init__(self) -> None:
        self.first: float | None = None
        self.delays: list[float] = []
        """Seconds from the writing of a piece by the server until it came here."""
        self.fetches: list[float] = []
        """Seconds from a usable reply until its visit was written and told."""
        self._round_finished = 0.0

    def __call__(self, event: RunEvent, /) -> None:
        now = time.monotonic()
        self.first = now if self.first is None else self.first
        match event:
            case AnswerDelta(text=text):
                self.delays += delays(text, now)
            case RoundFinished():
                self._round_finished = now
            case NodeVisited(visit=visit) if not visit.is_prefetched:
                self.fetches.append(now - self._round_finished)
            case _:
                pass


def delays(text: str, now: float) -> list[float]:
    return [now - int(stamp) / 1e9 for stamp in STAMP.findall(text)]


def our_share(provider: str, runs: int) -> Figures:
    """Runs of five rounds one after another, and the bare SDK reading the same answer in between."""
    with _compiled() as workspace, _fake(LATENCY, PACE) as fake:
        return asyncio.run(_one_by_one(workspace, fake, provider, runs))


async def _one_by_one(workspace: Workspace, fake: SpawnedProviders, provider: str, runs: int) -> Figures:
    options = AskOptions(
        question=QUESTION, model=f"{provider}:{MODELS[provider]}", base_url=_url(fake, provider)
    )
    cold = Timed()
    began = time.monotonic()
    _check(await ask(workspace, options, cold))
    cold_first = (cold.first or 0.0) - began

    shares, firsts, between, through = list[float](), list[float](), list[float](), list[float]()
    bare_around, bare_through = list[float](), list[float]()
    async with (
        Asking.of_version(workspace, CORPUS, VERSION, options.model, options.base_url) as asking,
        _bare_client(provider, fake) as client,
    ):
        for number in range(runs + 1):
            listener, around, bare = Timed(), *await _bare(fake, provider, client)
            fake.clear(_port(fake, provider))
            began = time.monotonic()
            _check(await asking.ask(options, listener))
            wall = time.monotonic() - began
            theirs = _seconds(fake.calls(_port(fake, provider)))
            if not number:  # the first is to get warm
                continue
            shares.append(100 * (wall - theirs) / wall)
            between.append((wall - theirs) / (FETCHES + 1) * 1e3)
            firsts.append(((listener.first or 0.0) - began) * 1e3)
            through += listener.delays
            bare_around.append(around * 1e3)
            bare_through += bare
    return {
        "ours_percent": statistics.median(shares),
        "ours_percent_most": max(shares),
        "ours_ms_a_round": statistics.median(between),
        "bare_ms_a_call": statistics.median(bare_around),
        "first_event_ms": statistics.median(firsts),
        "first_event_ms_most": max(firsts),
        "first_event_ms_cold": cold_first * 1e3,
        **_in_ms("delta", through),
        **_in_ms("bare_delta", bare_through),
        "delta_over_bare": statistics.median(through) / statistics.median(bare_through),
    }


def at_once(provider: str, runs: int) -> Figures:
    """So many runs at once in one process, over one opened version."""
    with _compiled() as workspace, _fake(LATENCY, 0.0) as fake:
        figures = asyncio.run(_all_together(workspace, fake, provider, runs))
        return figures | _recorded(workspace, runs)


async def _all_together(workspace: Workspace, fake: SpawnedProviders, provider: str, runs: int) -> Figures:
    options = AskOptions(
        question=QUESTION, model=f"{provider}:{MODELS[provider]}", base_url=_url(fake, provider)
    )
    listeners = [Timed() for _ in range(runs)]
    async with Asking.of_version(workspace, CORPUS, VERSION, options.model, options.base_url) as asking:
        _check(await asking.ask(options, Timed()))
        before_mb, cpu_began, began = _resident_mb(), time.process_time(), time.monotonic()
        lags = list[float]()
        watch = asyncio.create_task(_watch(lags))
        records = await asyncio.gather(*(asking.ask(options, listener) for listener in listeners))
        watch.cancel()
        wall, cpu = time.monotonic() - began, time.process_time() - cpu_began
    more_mb = _peak_mb() - before_mb
    bare_wall, bare_cpu = await _bare_together(fake, provider, runs)
    rounds = runs * (FETCHES + 1)
    firsts = [(listener.first or 0.0) - began for listener in listeners]
    return {
        "answered": sum(record.outcome == "answered" for record in records),
        "fetches": sum(len(listener.fetches) for listener in listeners),
        "wall_s": wall,
        "bare_wall_s": bare_wall,
        "wall_over_bare": wall / bare_wall,
        "cpu_ms_a_round": cpu / rounds * 1e3,
        "bare_cpu_ms_a_call": bare_cpu / rounds * 1e3,
        **_in_ms("fetch", [fetch for listener in listeners for fetch in listener.fetches]),
        "first_event_ms_last_run": max(firsts) * 1e3,
        "loop_late_ms_most": max(lags) * 1e3,
        "mb_before": before_mb,
        "mb_a_run": more_mb / runs,
    }


async def _bare_together(fake: SpawnedProviders, provider: str, runs: int) -> tuple[float, float]:
    """Wall time and CPU of the SDK alone for as many calls in as many tasks."""

    async def call_in_turn(client: BareClient) -> None:
        for _ in range(FETCHES + 1):
            async for _text in _bare_texts(provider, client, MEAN_PIECES):
                pass

    async with _bare_client(provider, fake) as client:
        began, cpu_began = time.monotonic(), time.process_time()
        await asyncio.gather(*(call_in_turn(client) for _ in range(runs)))
        return time.monotonic() - began, time.process_time() - cpu_began


def _recorded(workspace: Workspace, runs: int) -> Figures:
    """What stands in the records afterwards, read through a store of its own. One run was to get warm."""
    store = workspace.records()
    records = list(store.records(TENANT, RecordFilter()))
    verdict = store.verify(TENANT)
    assert len(records) == runs + 1
    return {
        "recorded": len(records) - 1,
        "visits_recorded": sum(len(record.visits) for record in records[:runs]),
        "left_open": store.under_way(TENANT, RecordFilter()),
        "chain_verifies": float(not verdict.faults and verdict.records == runs + 1),
    }


async def _watch(lags: list[float]) -> None:
    """Note how much later than it wanted a task of the same loop is woken."""
    while True:
        wanted = time.monotonic() + 0.005
        await asyncio.sleep(0.005)
        lags.append(time.monotonic() - wanted)


@contextmanager
def _compiled() -> Generator[Workspace]:
    """The samples, compiled offline."""
    with tempfile.TemporaryDirectory() as name:
        workspace = open_workspace(Path(name), Settings())
        options = CompileOptions(paths=[SAMPLES], model=OFFLINE)
        asyncio.run(compile_documents(workspace, options, lambda _: None))
        yield workspace


@contextmanager
def _fake(latency: float, pace: float) -> Generator[SpawnedProviders]:
    os.environ.update(ANTHROPIC_API_KEY=KEY, OPENAI_API_KEY=KEY)
    with timed_providers(latency, pace) as fake:
        yield fake


def _check(record: RunRecord) -> None:
    assert (record.outcome, record.rounds, record.retries) == ("answered", FETCHES + 1, 0), record


def _seconds(calls: Sequence[JsonObject]) -> float:
    """What the provider took, by its own clock, from a request's arrival to the last event of its stream."""
    return sum(float(str(call["finished_at"])) - float(str(call["started_at"])) for call in calls)


async def _bare(fake: SpawnedProviders, provider: str, client: BareClient) -> tuple[float, list[float]]:
    """One call by the SDK alone: seconds around the provider's own, and those a piece took to come."""
    fake.clear(_port(fake, provider))
    through = list[float]()
    began = time.monotonic()
    async for text in _bare_texts(provider, client, PIECES):
        through += delays(text, time.monotonic())
    wall = time.monotonic() - began
    return wall - _seconds(fake.calls(_port(fake, provider))), through


async def _bare_texts(provider: str, client: BareClient, pieces: int) -> AsyncIterator[str]:
    model, question = MODELS[provider], f"{pieces} pieces"
    if isinstance(client, anthropic.AsyncAnthropic):
        events = await client.messages.create(
            model=model, messages=[{"role": "user", "content": question}], max_tokens=1_000, stream=True
        )
        async for event in events:
            if event.type == "content_block_delta" and event.delta.type == "text_delta":
                yield event.delta.text
    else:
        chunks = await client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": question}], stream=True
        )
        async for chunk in chunks:
            for choice in chunk.choices:
                yield choice.delta.content or ""


def _bare_client(provider: str, fake: SpawnedProviders) -> BareClient:
    if provider == "anthropic":
        return anthropic.AsyncAnthropic(api_key=KEY, base_url=_url(fake, provider), max_retries=0)
    return openai.AsyncOpenAI(api_key=KEY, base_url=_url(fake, provider), max_retries=0)


def _url(fake: SpawnedProviders, provider: str) -> str:
    return fake.anthropic_url if provider == "anthropic" else fake.openai_url


def _port(fake: SpawnedProviders, provider: str) -> int:
    return fake.anthropic_port if provider == "anthropic" else fake.openai_port


def _in_ms(name: str, seconds: Sequence[float]) -> Figures:
    ordered = sorted(seconds)
    return {
        f"{name}_ms": statistics.median(ordered) * 1e3,
        f"{name}_ms_p95": ordered[int(len(ordered) * 0.95)] * 1e3,
        f"{name}_ms_most": ordered[-1] * 1e3,
    }


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
