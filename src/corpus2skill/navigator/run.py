"""One run while it is under way."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime

from corpus2skill.domain.language import Language
from corpus2skill.domain.message import Message, Usage
from corpus2skill.domain.money import Price, unknown_price
from corpus2skill.domain.run import Heard, RunEvent, RunIds, RunLimits
from corpus2skill.domain.tree import Node
from corpus2skill.navigator.cancellation import Cancellation, time_limit
from corpus2skill.navigator.held_money import HeldMoney
from corpus2skill.navigator.question import Question
from corpus2skill.navigator.trail import Trail
from corpus2skill.navigator.tree_reader import TreeReader
from corpus2skill.navigator.turnstile import Turnstile
from corpus2skill.ports.clock import Chance, Clock, Ids, Sleep
from corpus2skill.ports.events import RunListener
from corpus2skill.ports.navigator_model import NavigatorModel
from corpus2skill.ports.store import RecordStore

_log = logging.getLogger(__name__)

_HELD_UP_FROM = 0.01
"""Seconds. Less is not worth moving a time limit for."""


def _nothing(_since: datetime) -> float:
    return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Navigator:
    """What a run needs of the world."""

    model: NavigatorModel
    tree: TreeReader
    records: RecordStore
    clock: Clock
    ids: Ids
    sleep: Sleep
    """Waits before a round is tried again."""
    chance: Chance
    limits: RunLimits = RunLimits()
    price: Price = unknown_price
    held: HeldMoney = field(default_factory=HeldMoney)
    """Shared by all runs of a process whose spending has a limit in common."""
    spent_otherwise: Callable[[datetime], float] = _nothing
    """US dollars that were paid since then for anything but questions: a month's limit is over both."""
    turnstile: Turnstile = field(default_factory=Turnstile)
    """Shared by all runs of a process."""


@dataclass(slots=True, kw_only=True)
class Run:
    """What has happened so far."""

    question: Question
    navigator: Navigator
    cancellation: Cancellation
    listener: RunListener | None
    ids: RunIds
    language: Language
    """Of the answer."""
    started_at: str
    began: float
    messages: list[Message]
    is_first_turn: bool
    """True where nothing was said before that the model is shown."""
    trail: Trail
    heard_before: Heard | None = None
    """How much was heard of an earlier answer of the session that the question broke into."""
    left_out_turns: int = 0
    just_read: tuple[Node, ...] = ()
    """What the last reply's calls found: a relative path starts there."""
    rounds: int = 0
    retries: int = 0
    fetches: int = 0
    usage: Usage = Usage()
    unaccounted: float = 0.0
    """US dollars that calls may have cost which broke off and named no usage."""
    counted_messages: int = 0
    """So many of `messages` had, with all else that was sent, ..."""
    counted_tokens: int = 0
    """... so many tokens by the provider's own count; 0: it has not said."""
    held_up: float = 0.0
    """Seconds that the listener took of the run's time."""
    time_limits: list[asyncio.Timeout] = field(default_factory=list[asyncio.Timeout])
    """Those that the run is under now."""
    unusable_replies: int = 0
    """In a row: none that can be read, empty ones, ones cut within a tool call."""
    unknown_tools: int = 0
    """Rounds in a row that asked for a tool there is none of."""
    fruitless_rounds: int = 0
    """Rounds in a row that asked for something, and for no path."""
    wrong_paths: dict[str, int] = field(default_factory=dict[str, int])
    """How often each was asked for, by its `normal_form`."""
    call_ids: set[str] = field(default_factory=set[str])
    """Of the model's tool calls so far."""

    @property
    def limits(self) -> RunLimits:
        return self.navigator.limits

    @property
    def seconds_left(self) -> float:
        """Of the run's own time limit."""
        return self.limits.seconds + self.held_up - (self.navigator.clock.monotonic() - self.began)

    @asynccontextmanager
    async def within(self, seconds: float) -> AsyncGenerator[None]:
        """Bound the time of the code within. What the listener takes of it does not count.

        Raises:
            RunEnded: `timed_out`.
        """
        async with time_limit(seconds) as limit:
            self.time_limits.append(limit)
            try:
                yield
            finally:
                self.time_limits.remove(limit)

    def tell(self, event: RunEvent) -> None:
        """Tell the listener. One that fails is told nothing more; the run does not notice."""
        if self.listener is None:
            return
        began = self.navigator.clock.monotonic()
        try:
            self.listener(event)
        except Exception:  # noqa: BLE001 -- a lost listener may not stop a run, whatever it raises
            _log.exception("the listener of run %s failed and is told nothing more", self.ids.run)
            self.listener = None
        self._prolong(self.navigator.clock.monotonic() - began)

    def _prolong(self, seconds: float) -> None:
        """Move the time limits by what a listener held the run up: it is not to end as timed out for that."""
        if seconds < _HELD_UP_FROM:
            return
        self.held_up += seconds
        for limit in self.time_limits:
            when = limit.when()
            if when is not None and not limit.expired():
                limit.reschedule(when + seconds)
