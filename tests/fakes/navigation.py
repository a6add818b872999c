"""The navigator with everything around it faked: ask, and look at what came of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from corpus2skill.domain.language import Language
from corpus2skill.domain.money import Price, unknown_price
from corpus2skill.domain.run import (
    AnswerDelta,
    Heard,
    NodeVisited,
    RoundDelayed,
    RoundFinished,
    RoundStarted,
    RunEvent,
    RunFinished,
    RunLimits,
    RunRecord,
    RunStarted,
)
from corpus2skill.domain.session import Channel
from corpus2skill.navigator.cancellation import Cancellation
from corpus2skill.navigator.held_money import HeldMoney
from corpus2skill.navigator.loop import navigate
from corpus2skill.navigator.question import Question
from corpus2skill.navigator.run import Navigator
from corpus2skill.navigator.tree_reader import TreeReader
from corpus2skill.navigator.turnstile import Turnstile
from corpus2skill.ports.events import RunListener
from corpus2skill.ports.navigator_model import NavigatorModel
from tests.fakes.clock import FakeClock, FakeIds
from tests.fakes.record_store import FakeRecordStore
from tests.fakes.sample_version import CORPUS, VERSION, sample_store
from tests.fakes.virtual_time import VirtualClock

QUESTION = "年額プランを解約したら、いつまで使えますか？"


class Navigation:
    """One corpus, one clock, one store of records. `events` are those of all runs."""

    def __init__(
        self, limits: RunLimits = RunLimits(), *, clock: FakeClock | VirtualClock | None = None
    ) -> None:
        self.limits = limits
        self.store = sample_store()
        self.clock = clock or FakeClock()
        self.ids = FakeIds()
        self.records = FakeRecordStore(self.clock)
        self.events: list[RunEvent] = []
        self.cancellation = Cancellation()
        self.version = VERSION
        self.held = HeldMoney()
        self.price: Price = unknown_price
        self.waits: list[float] = []
        """Seconds that runs slept before they tried a round again."""

    async def ask(
        self,
        model: NavigatorModel,
        text: str = QUESTION,
        *,
        session: str = "session_1",
        channel: Channel = "text",
        corpus_language: Language = "ja",
        listener: RunListener | None = None,
        cancellation: Cancellation | None = None,
        heard_before: Heard | None = None,
        turnstile: Turnstile | None = None,
    ) -> RunRecord:
        question = Question(
            text=text,
            tenant="tenant_1",
            session=session,
            corpus_language=corpus_language,
            channel=channel,
            heard_before=heard_before,
        )
        navigator = Navigator(
            model=model,
            tree=TreeReader(self.store, CORPUS, self.version),
            records=self.records,
            clock=self.clock,
            ids=self.ids,
            sleep=self._sleep,
            chance=lambda: 0.0,
            limits=self.limits,
            price=self.price,
            held=self.held,
            turnstile=turnstile or Turnstile(),
        )
        return await navigate(
            question, navigator, listener or self.events.append, cancellation or self.cancellation
        )

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        if isinstance(self.clock, FakeClock):
            self.clock.advance(seconds)
            await asyncio.sleep(0)
        else:
            await asyncio.sleep(seconds)

    @property
    def record(self) -> RunRecord:
        """The one record that was written."""
        assert self.records.open_runs == ()
        (record,) = self.records.closed
        return record

    def told(self) -> list[str]:
        """The events so far in short: `round 1`, `text 年額は`, `visit root`, ..."""
        return [_short(event) for event in self.events]


def with_limits(**values: object) -> RunLimits:
    return replace(RunLimits(), **values)


def trail_of(record: RunRecord) -> list[tuple[str, str]]:
    """Nodes and reasons of a record's trail."""
    return [(visit.node, visit.reason) for visit in record.visits]


def _short(event: RunEvent) -> str:
    match event:
        case RunStarted():
            return "started"
        case RoundStarted(round=number, attempt=1):
            return f"round {number}"
        case RoundStarted(round=number, attempt=attempt):
            return f"round {number}, try {attempt}"
        case RoundDelayed(round=number, error_code=code):
            return f"delayed {number} by {code}"
        case AnswerDelta(text=text):
            return f"text {text}"
        case NodeVisited(visit=visit):
            return f"visit {visit.node}"
        case RoundFinished(kind=kind):
            return kind
        case RunFinished(record=record):
            return f"finished {record.outcome}"
