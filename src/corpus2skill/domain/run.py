"""A run: its outcomes, its record and the events that tell of it while it happens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from corpus2skill.domain.language import Language
from corpus2skill.domain.message import Confidence, Usage
from corpus2skill.domain.session import Channel, Door
from corpus2skill.domain.trail import Visit

Outcome = Literal[
    "answered",
    "not_found",
    "fetch_limit",
    "timed_out",
    "cancelled",
    "interrupted",
    "stopped",
    "refused",
    "budget",
    "tool_misuse",
    "tree_unavailable",
    "model_failed",
]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
"""The closed set of ways a run can end."""

LastWord = Literal["stop", "answer"]
"""At the fetch limit: `stop` ends the run, `answer` gives the model one round without tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """What bounds one run."""

    fetches: int = 8
    rounds: int = 24
    """Calls to the model, those with malformed or unknown tool calls counted."""
    seconds: float = 120.0
    round_seconds: float = 60.0
    """Of one call to the model; each try of a round has them anew."""
    same_wrong_path: int = 3
    unknown_tools: int = 2
    """So many unknown tools in a row end the run."""
    fruitless_rounds: int = 3
    """So many rounds in a row whose calls name no path at all, malformed ones or of unknown tools, end it too."""
    last_word: LastWord = "stop"
    tries: int = 8
    """Of one round while the model is unavailable, and only within `seconds`."""
    history_tokens: int = 8_000
    """Of earlier turns, counted generously; the oldest are left out first."""
    question_characters: int = 10_000
    run_dollars: float | None = None
    """US dollars that one run may cost. None, here and in the next two: no limit."""
    session_dollars: float | None = None
    """All runs of one session together."""
    day_dollars: float | None = None
    """All runs of one tenant in any 24 hours."""
    month_dollars: float | None = None
    """All runs and compiles of one tenant in a month, which begins in UTC."""

    @property
    def has_spending_limit(self) -> bool:
        limits = (self.run_dollars, self.session_dollars, self.day_dollars, self.month_dollars)
        return any(limit is not None for limit in limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunIds:
    """Which run, of whom, on what."""

    tenant: str
    corpus: str
    version: int
    session: str
    turn: int
    run: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A leaf as the asker sees it: evidence or citation."""

    doc_id: str
    title: str
    source: str
    place: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """Words that the answer gives as quoted."""

    text: str
    doc_id: str | None = None
    """The leaf read in which they stand word for word; None where they stand in none."""
    is_name: bool = False
    """No quotation of a text: the name of a node, a document or a place, or words of the question."""

    @property
    def holds(self) -> bool:
        return self.doc_id is not None or self.is_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """How much of a spoken answer was heard before somebody spoke over it."""

    run: str
    """Whose answer it is."""
    characters: int
    """Of the answer, from its beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """The audit record of one run, written on every way out."""

    ids: RunIds
    channel: Channel
    door: Door
    language: Language
    question: str
    answer: str
    """What the asker read; the fixed sentence of the outcome where the model gave none."""
    outcome: Outcome
    confidence: Confidence | None
    visits: tuple[Visit, ...]
    evidence: tuple[Source, ...]
    """The leaves the run read, in order."""
    citations: tuple[Source, ...]
    """Leaves the answer names; always among the evidence."""
    struck_citations: int
    """Named leaves that were not read: struck out of the answer."""
    fetches: int
    rounds: int
    model: str
    prompt_version: str
    usage: Usage
    usd: float | None
    """None where the price is unknown."""
    started_at: str
    ended_at: str
    total_ms: int
    is_truncated: bool = False
    """The answer hit the output limit."""
    left_out_turns: int = 0
    """Earlier turns that did not fit into the history."""
    retries: int = 0
    """Calls that found the model unavailable and were made again; `rounds` does not count them."""
    error_class: str | None = None
    error_detail: str | None = None
    error_code: str | None = None
    """Of one of our own errors: the key of its sentence, ..."""
    error_values: dict[str, str | int | float] = field(default_factory=dict[str, str | int | float])
    """... and what that is filled with."""
    user: str | None = None
    """Who asked, where the door knows; deleted with what was said."""
    quotations: tuple[Quotation, ...] = ()
    """What the answer gives as quoted, held against the leaves read."""
    heard: str | None = None
    """Of a spoken run that was interrupted: what of an answer had been heard. None in every other case."""
    heard_before: Heard | None = None
    """Where this question broke into the answer before it: how much of that had been heard. An answer's record
    is closed before it is spoken, so that the next one tells."""

    @property
    def unheld_quotations(self) -> tuple[Quotation, ...]:
        """Quotations that stand in none of the leaves read."""
        return tuple(quotation for quotation in self.quotations if not quotation.holds)

    @property
    def is_doubtful(self) -> bool:
        """True where the answer named a leaf that was not read, or quotes what stands in none."""
        return self.struck_citations > 0 or bool(self.unheld_quotations)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    ids: RunIds
    question: str
    model: str
    channel: Channel
    language: Language
    """Of the answer: which voice to speak with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundStarted:
    """Whatever was drafted before may be dropped."""

    round: int
    attempt: int = 1
    """Above 1: the same round is begun again, because the model was unavailable or its stream broke."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundDelayed:
    """The model was unavailable: the round is begun again in a while (`round.delayed` on the wire)."""

    round: int
    attempt: int
    """The one that comes."""
    seconds: float
    """Until it does."""
    error_code: str
    """As in the record; an asker is not shown what is in it."""
    error_values: dict[str, str | int | float]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDelta:
    """Text of a reason or of the answer: not known yet which (`text.delta` on the wire)."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeVisited:
    visit: Visit


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundFinished:
    round: int
    kind: Literal["navigate", "answer", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    record: RunRecord


RunEvent = RunStarted | RoundStarted | RoundDelayed | AnswerDelta | NodeVisited | RoundFinished | RunFinished
