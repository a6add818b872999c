"""Batched calls with all that stands around them, which outlives the processes that use it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from corpus2skill.domain.job import CompileEvent
from corpus2skill.domain.message import ProgramMessage, Text, Usage
from corpus2skill.domain.model_call import TextCall, TextReply
from corpus2skill.domain.money import Price
from corpus2skill.paying.batched_calls import BatchedCalls
from corpus2skill.paying.budget import Budget
from corpus2skill.paying.call_key import call_key
from corpus2skill.paying.ledger import Ledger
from corpus2skill.paying.paid_model import Account, PaidModel
from corpus2skill.paying.rate import KeyRate
from tests.fakes.batch_log import FakeBatchLog
from tests.fakes.batch_model import USAGE, FakeBatchModel
from tests.fakes.language_model import FakeLanguageModel
from tests.fakes.result_store import FakeResultStore
from tests.fakes.virtual_time import VirtualClock, run_in_virtual_time


def price(usage: Usage) -> float:
    return (usage.input_tokens + 5 * usage.output_tokens) / 100_000


def batch_price(usage: Usage) -> float:
    return price(usage) / 2


def call_of(subject: str) -> TextCall:
    return TextCall(
        purpose="summarize",
        prompt_version="summary-1",
        system="見出しと要約を書いてください。",
        messages=(ProgramMessage((Text(f"{subject}。年額プランの解約は、契約管理画面から行う。"),)),),
        schema='{"type":"object"}',
        max_output_tokens=300,
        subject=subject,
    )


def subjects(count: int) -> list[str]:
    return [f"第{number}条" for number in range(count)]


@dataclass(kw_only=True)
class BatchDesk:
    """`run` is one process: it pays for the calls through batches, then asks for each of them."""

    cap: float | None = None
    price: Price = batch_price
    batches: FakeBatchModel = field(default_factory=FakeBatchModel)
    single: FakeLanguageModel = field(
        default_factory=lambda: FakeLanguageModel(TextReply(text="要約", stop="end", usage=USAGE))
    )
    store: FakeResultStore = field(default_factory=FakeResultStore)
    log: FakeBatchLog = field(default_factory=FakeBatchLog)
    told: list[CompileEvent] = field(default_factory=list[CompileEvent])
    seconds: float = 0.0
    """That the last run took."""
    ledger: Ledger = field(default_factory=Ledger)
    """Of the last run."""
    budget: Budget = field(default_factory=lambda: Budget(None))

    def key(self, subject: str) -> str:
        return call_key(self.batches.identity, call_of(subject))

    def run(self, items: list[str], ask: Callable[[str], TextCall] = call_of) -> list[str]:
        """Return the texts of the replies."""
        return run_in_virtual_time(self._main(items, ask))

    async def _main(self, items: list[str], ask: Callable[[str], TextCall]) -> list[str]:
        clock = VirtualClock()
        self.ledger, self.budget = Ledger(), Budget(self.cap)
        account = Account(
            corpus="terms",
            store=self.store,
            budget=self.budget,
            ledger=self.ledger,
            clock=clock,
            sleep=asyncio.sleep,
            chance=lambda: 0.5,
            listener=self.told.append,
        )
        rate = KeyRate(clock=clock, sleep=asyncio.sleep, concurrency=4)
        paid = PaidModel(self.single, account, rate=rate, price=price)
        calls = BatchedCalls(self.batches, paid, self.single, self.log, account, price=self.price)
        try:
            await calls.pay(items, ask)
            return [(await paid.complete(ask(item))).text for item in items]
        finally:
            self.seconds = clock.monotonic()
            await calls.close()
            await paid.close()
