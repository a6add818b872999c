"""One run while it is under way."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from corpus2skill.domain.language import Language
from corpus2skill.domain.message import Message, Usage
from corpus2skill.domain.run import RunEvent, RunIds, RunLimits
from corpus2skill.domain.tree import Node
from corpus2skill.navigator.cancellation import Cancellation
from corpus2skill.navigator.question import Question
from corpus2skill.navigator.trail import Trail
from corpus2skill.navigator.tree_reader import TreeReader
from corpus2skill.ports.clock import Clock, Ids
from corpus2skill.ports.events import RunListener
from corpus2skill.ports.navigator_model import NavigatorModel
from corpus2skill.ports.store import RecordStore

_log = logging.getLogger(__name__)

Price = Callable[[Usage], float | None]
"""US dollars of so many tokens, None where the price is unknown."""


def unknown_price(_usage: Usage) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Navigator:
    """What a run needs of the world."""

    model: NavigatorModel
    tree: TreeReader
    records: RecordStore
    clock: Clock
    ids: Ids
    limits: RunLimits = RunLimits()
    price: Price = unknown_price


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
    left_out_turns: int
    trail: Trail
    just_read: tuple[Node, ...] = ()
    """What the last reply's calls found: a relative path starts there."""
    rounds: int = 0
    fetches: int = 0
    usage: Usage = Usage()
    unusable_replies: int = 0
    """In a row: calls that failed, replies that were empty or cut within a tool call."""
    unknown_tools: int = 0
    """Rounds in a row that asked for a tool there is none of."""
    wrong_paths: dict[str, int] = field(default_factory=dict[str, int])
    """How often each was asked for."""

    @property
    def limits(self) -> RunLimits:
        return self.navigator.limits

    @property
    def is_first_turn(self) -> bool:
        return self.ids.turn == 1

    def tell(self, event: RunEvent) -> None:
        """Tell the listener. One that fails is told nothing more; the run does not notice."""
        if self.listener is None:
            return
        try:
            self.listener(event)
        except Exception:
            _log.exception("the listener of run %s failed and is told nothing more", self.ids.run)
            self.listener = None
