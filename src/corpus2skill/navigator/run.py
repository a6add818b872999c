"""One run while it is under way."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import datetime

from corpus2skill.domain.language import Language
from corpus2skill.domain.message import Message, ProgramMessage, Text, Usage
from corpus2skill.domain.money import Price, unknown_price
from corpus2skill.domain.run import RunEvent, RunIds, RunLimits
from corpus2skill.domain.tree import Node
from corpus2skill.navigator.cancellation import Cancellation
from corpus2skill.navigator.question import Question
from corpus2skill.navigator.session import build_history
from corpus2skill.navigator.trail import Trail
from corpus2skill.navigator.tree_reader import TreeReader
from corpus2skill.ports.clock import Clock, Ids
from corpus2skill.ports.events import RunListener
from corpus2skill.ports.navigator_model import NavigatorModel
from corpus2skill.ports.store import RecordStore

_log = logging.getLogger(__name__)


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
    is_first_turn: bool
    """True where nothing was said before that the model is shown."""
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

    def tell(self, event: RunEvent) -> None:
        """Tell the listener. One that fails is told nothing more; the run does not notice."""
        if self.listener is None:
            return
        try:
            self.listener(event)
        except Exception:  # noqa: BLE001 -- a lost listener may not stop a run, whatever it raises
            _log.exception("the listener of run %s failed and is told nothing more", self.ids.run)
            self.listener = None


def begin_run(
    question: Question,
    navigator: Navigator,
    listener: RunListener | None,
    cancellation: Cancellation,
) -> Run:
    """Return a run before its first round: the session's history, then the question."""
    session = navigator.records.session(question.tenant, question.session, navigator.tree.corpus)
    history = build_history(session.turns, navigator.limits.history_characters, question.language)
    began = navigator.clock.monotonic()
    return Run(
        question=question,
        navigator=navigator,
        cancellation=cancellation,
        listener=listener,
        ids=RunIds(
            tenant=question.tenant,
            corpus=navigator.tree.corpus,
            version=navigator.tree.version,
            session=question.session,
            turn=session.next_turn,
            run=navigator.ids.new("run"),
        ),
        language=question.language,
        started_at=timestamp(navigator.clock.now()),
        began=began,
        messages=[*history.messages, ProgramMessage((Text(question.text),))],
        is_first_turn=not session.turns,
        left_out_turns=history.left_out,
        trail=Trail(clock=navigator.clock, last=began),
    )


def timestamp(time: datetime) -> str:
    """Return a UTC time as RFC 3339 with milliseconds."""
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
