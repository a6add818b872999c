"""Batches over the real adapters, killed with SIGKILL at any door: the next process picks the batch up."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from corpus2skill.adapters.clock import SystemClock
from corpus2skill.adapters.llm.connection import Connection
from corpus2skill.adapters.llm.models import open_batches, open_model
from corpus2skill.adapters.store.batch_log import SqlBatchLog
from corpus2skill.adapters.store.results import SqlResultStore, results_url
from corpus2skill.domain.message import ProgramMessage, Text
from corpus2skill.domain.model_call import TextCall
from corpus2skill.domain.model_name import ModelName
from corpus2skill.domain.money import free
from corpus2skill.domain.provider_key import ProviderKey
from corpus2skill.paying.batched_calls import BatchedCalls, Polling
from corpus2skill.paying.budget import Budget
from corpus2skill.paying.ledger import Ledger
from corpus2skill.paying.paid_model import Account, PaidModel
from corpus2skill.paying.rate import KeyRate
from corpus2skill.ports.batch_log import NotedBatch
from corpus2skill.ports.batch_model import BatchModel, BatchResult, BatchStatus
from tests.fakes.opened_models import text_call
from tests.fakes.providers import KEY, BatchPlan, ProviderServer, Script, anthropic_server, openai_server
from tests.fakes.providers.anthropic_dialect import AnthropicDialect
from tests.fakes.providers.hosting import in_thread
from tests.fakes.providers.openai_dialect import OpenAIDialect
from tests.fakes.providers.script import Asked
from tests.unit.children import in_child

CALLS = 12
SERVERS = {"anthropic": anthropic_server, "openai": openai_server}
MODELS = {"anthropic": "claude-haiku-5-5", "openai": "gpt-4.1-mini"}
Door = Callable[[], None]


class DyingBatches:
    """A `BatchModel` with a door before and after everything that it does."""

    def __init__(self, model: BatchModel, door: Door) -> None:
        self._model = model
        self._door = door
        self.name, self.identity, self.most_calls = model.name, model.identity, model.most_calls

    async def submit(self, calls: Mapping[str, TextCall], token: str) -> str:
        self._door()
        batch_id = await self._model.submit(calls, token)
        self._door()
        return batch_id

    async def find(self, token: str, calls: Mapping[str, TextCall]) -> str | None:
        found = await self._model.find(token, calls)
        self._door()
        return found

    async def status(self, batch_id: str) -> BatchStatus:
        status = await self._model.status(batch_id)
        self._door()
        return status

    async def results(self, batch_id: str) -> AsyncIterator[BatchResult]:
        async for result in self._model.results(batch_id):
            yield result
        self._door()

    async def cancel(self, batch_id: str) -> None:
        await self._model.cancel(batch_id)

    async def close(self) -> None:
        await self._model.close()


class DyingLog(SqlBatchLog):
    """A log with a door before and after everything that it writes."""

    def __init__(self, folder: Path, door: Door) -> None:
        super().__init__(results_url(folder))
        self._door = door

    async def note(self, batch: NotedBatch) -> None:
        await super().note(batch)
        self._door()

    async def name(self, token: str, batch_id: str | None) -> None:
        await super().name(token, batch_id)
        self._door()

    async def strike(self, token: str) -> None:
        self._door()
        await super().strike(token)
        self._door()


def killing_at(fatal: int) -> Door:
    """A door that is passed `fatal` times, and not once more."""
    passed = 0

    def door() -> None:
        nonlocal passed
        if passed == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        passed += 1

    return door


def pay_all(folder: Path, server: ProviderServer, door: Door) -> str:
    """One process: all the calls through a batch, then each of them singly. Returns what was booked."""
    provider = server.dialect.provider
    name = ModelName(provider, MODELS[provider])
    connection = Connection(
        key=ProviderKey(secret=KEY, source="the test"), base_url=server.base_url, window=100_000
    )

    async def main() -> str:
        clock, store, log = SystemClock(), SqlResultStore(results_url(folder)), DyingLog(folder, door)
        account = Account(
            corpus="terms",
            store=store,
            budget=Budget(1.0),
            ledger=Ledger(),
            clock=clock,
            sleep=asyncio.sleep,
            chance=lambda: 0.5,
            listener=lambda _: None,
        )
        bare = open_model(name, connection, {})
        rate = KeyRate(clock=clock, sleep=asyncio.sleep, concurrency=4)
        paid = PaidModel(bare, account, rate=rate, price=free)
        batches = DyingBatches(open_batches(name, connection, {}), door)
        polling = Polling(first=0.0)
        calls = BatchedCalls(batches, paid, bare, log, account, price=free, polling=polling)
        await calls.pay(range(CALLS), call_of)
        replies = [await paid.complete(call_of(number)) for number in range(CALLS)]
        await calls.close()
        await paid.close()
        log.close()
        store.close()
        return f"{sum(bool(reply.text) for reply in replies)} {account.ledger.spending[0].calls}"

    return asyncio.run(main())


def call_of(number: int) -> TextCall:
    return text_call(ProgramMessage((Text(f"第{number}条をまとめてください。"),)))


@contextmanager
def counted(provider: str) -> Generator[tuple[ProviderServer, Counter[str]]]:
    """A server in a thread, and how often it answered each question, singly or in a batch."""
    answered: Counter[str] = Counter()

    def count(asked: Asked) -> None:
        answered[asked.prompt.question] += 1

    server = SERVERS[provider](batch_plan=BatchPlan(polls=1), script=Script().add(count))
    with in_thread(server):
        yield server, answered


def batches_at(server: ProviderServer) -> int:
    """Handed in, known to us or not."""
    assert isinstance(server.dialect, AnthropicDialect | OpenAIDialect)
    return len(server.dialect.batches.batches)


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_process_killed_at_any_door_leaves_a_batch_that_is_picked_up(provider: str, tmp_path: Path) -> None:
    """Issue 4, batch mode: SIGKILL before and after handing in, while waiting, while reading. Paid once."""
    fatal = 0
    while True:
        folder = tmp_path / f"{fatal}"
        with counted(provider) as (server, answered):
            died = in_child(lambda: pay_all(folder, server, killing_at(fatal))).was_killed  # noqa: B023
            ended = in_child(lambda: pay_all(folder, server, killing_at(1_000)))  # noqa: B023
        assert ended.said.split()[0] == str(CALLS), (fatal, ended.said)
        assert len(answered) == CALLS
        assert max(answered.values()) == 1, fatal
        assert batches_at(server) == 1, fatal
        if not died:
            break
        fatal += 1
    assert fatal >= 9
    assert ended.said == f"{CALLS} 0"


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_process_that_is_killed_again_and_again_gets_there(provider: str, tmp_path: Path) -> None:
    """Each process passes one door more than the one before it."""
    with counted(provider) as (server, answered):
        for fatal in range(30):
            if not in_child(lambda: pay_all(tmp_path, server, killing_at(fatal))).was_killed:  # noqa: B023
                break
        else:
            pytest.fail("never done")
    assert len(answered) == CALLS
    assert max(answered.values()) == 1
    assert batches_at(server) == 1
