"""A job: one compile that a server carries out, however often it has to begin again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from corpus2skill.domain.corpus import Refusal, SourceReport
from corpus2skill.domain.job import STAGES, Stage
from corpus2skill.domain.money import Spending, total
from corpus2skill.errors import (
    Busy,
    ConfirmationNeeded,
    Corpus2SkillError,
    ModelUnavailable,
    ModelUnusable,
    SpendingCapReached,
    WorkspaceUnusable,
)

JobState = Literal[
    "queued",
    "waiting_for_key",
    "running",
    "paused_budget",
    "stalled",
    "failed",
    "cancelled",
    "succeeded",
]
"""`waiting_for_key`: goes on by itself when the key is stored. `paused_budget`: goes on with a higher cap.
`stalled`: something stood in the way that may pass by itself, and is tried again. `failed`: a person is needed."""
JOB_STATES: tuple[JobState, ...] = get_args(JobState)
ENDED: frozenset[JobState] = frozenset(("failed", "cancelled", "succeeded"))
"""Nothing happens any more, until somebody asks for it."""
STOPPABLE: frozenset[JobState] = frozenset(("queued", "waiting_for_key", "paused_budget", "stalled"))
"""Nobody works on it: to cancel it is to say so."""
REPEATABLE: frozenset[JobState] = frozenset(("failed", "cancelled", "stalled", "waiting_for_key"))
"""May be tried again."""

Plain = str | int | float | bool | None
MOST_FAILED_ITEMS = 1_000
"""So many are listed; all are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOptions:
    """What was asked of a job; None leaves what the corpus or the workspace's settings say."""

    model: str | None = None
    """`offline`, `provider` or `provider:name`; for both roles below."""
    summary_model: str | None = None
    grouping_model: str | None = None
    max_cost: float | None = None
    """US dollars that all attempts of the job together may spend."""
    batch: bool = False
    """Summaries through the provider's batch interface."""
    regroup: bool = False
    """Start the groups afresh."""
    strict: bool = False
    """Publish nothing if a source was refused or a summary is a stand-in."""
    confirmed: bool = False
    """Switch even if more than a fifth of the sources would go."""
    activate: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why a job is in its state: the code of an error and the values of its text."""

    code: str
    values: Mapping[str, Plain] = field(default_factory=dict[str, Plain])


@dataclass(frozen=True, slots=True, kw_only=True)
class StageState:
    """One of the six stages, in the newest attempt that came to it."""

    stage: Stage
    done: int = 0
    total: int = 0
    tries: int = 0
    """How often it, or a step of it, was begun in this attempt; more than its steps where some failed."""
    ms: int = 0
    is_done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedItem:
    """A source that did not come through; the others go on."""

    source: str
    verdict: str
    detail: str | None = None
    values: Mapping[str, Plain] = field(default_factory=dict[str, Plain])


@dataclass(frozen=True, slots=True, kw_only=True)
class JobMoney:
    """What the paid calls of all attempts came to."""

    calls: int = 0
    reused: int = 0
    retries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float | None = 0.0
    """None: a price is unknown."""
    saved: float | None = 0.0
    """What the calls that were answered from the result store would have cost."""

    def __add__(self, other: JobMoney) -> JobMoney:
        return JobMoney(
            calls=self.calls + other.calls,
            reused=self.reused + other.reused,
            retries=self.retries + other.retries,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            dollars=total((self.dollars, other.dollars)),
            saved=total((self.saved, other.saved)),
        )


def money_of(spending: tuple[Spending, ...]) -> JobMoney:
    return JobMoney(
        calls=sum(line.calls for line in spending),
        reused=sum(line.reused for line in spending),
        retries=sum(line.retries for line in spending),
        input_tokens=sum(line.usage.input_tokens for line in spending),
        output_tokens=sum(line.usage.output_tokens for line in spending),
        dollars=total(line.dollars for line in spending),
        saved=total(line.saved for line in spending),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateLine:
    """What the calls for one purpose will probably come to, low to high."""

    purpose: str
    model: str
    calls: tuple[float, float]
    input_tokens: tuple[float, float]
    output_tokens: tuple[float, float]
    dollars: tuple[float, float] | None
    """None: the price is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a compile would do and cost, as it was shown to somebody."""

    estimate: str
    """Its id."""
    tenant: str
    corpus: str
    options: JobOptions
    fingerprint: str
    """Of the documents, the active version and the models: another one, and the estimate is out of date."""
    created_at: str
    chunks: int
    to_summarize: int
    to_group: int
    refused: int
    """Sources that cannot become text."""
    lines: tuple[EstimateLine, ...] = ()
    """Empty where nothing is paid for."""
    minutes: tuple[float, float] | None = None
    """How long the calls will probably take; None where nothing is called."""

    @property
    def most_dollars(self) -> float | None:
        """The high end; None where a price is unknown."""
        return total(None if line.dollars is None else line.dollars[1] for line in self.lines)


_LATENCIES = (0.7, 3.0)
"""Seconds until a model begins to write, at best and at worst; so the next."""
_TOKENS_A_SECOND = (120.0, 30.0)


def probable_minutes(
    lines: tuple[EstimateLine, ...], concurrency: int, requests_per_minute: int | None
) -> tuple[float, float] | None:
    """How long these calls take, low to high, `concurrency` at a time. A rough measure: providers differ.

    At worst, one group waits for another: groups are made level by level.
    """
    called = [line for line in lines if line.calls[1] > 0]
    if not called:
        return None

    def seconds(end: int) -> float:
        whole = 0.0
        for line in called:
            writing = line.output_tokens[end] / _TOKENS_A_SECOND[end]
            at_once = (
                1 if line.purpose == "group" and end == 1 else min(concurrency, max(1.0, line.calls[end]))
            )
            whole += (line.calls[end] * _LATENCIES[end] + writing) / at_once
        return whole

    calls = [sum(line.calls[end] for line in called) for end in (0, 1)]
    least = [number / requests_per_minute if requests_per_minute else 0.0 for number in calls]
    return max(seconds(0) / 60, least[0]), max(seconds(1) / 60, least[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a job is; the same everywhere it is shown."""

    stages: tuple[StageState, ...] = tuple(StageState(stage=stage) for stage in STAGES)
    money: JobMoney = JobMoney()
    failed_items: tuple[FailedItem, ...] = ()
    failed_count: int = 0
    waiting: Cause | None = None
    """What is waited for at the moment, within `running`: a provider that asks for patience, a batch."""

    def stage(self, stage: Stage) -> StageState:
        return next(state for state in self.stages if state.stage == stage)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerJob:
    """A job as it is kept. Holds no key and no text of documents."""

    job: str
    """Its id, which sorts by time."""
    tenant: str
    corpus: str
    created_by: str
    created_at: str
    options: JobOptions
    state: JobState = "queued"
    state_at: str = ""
    """Since when it is in its state."""
    cause: Cause | None = None
    attempt: int = 0
    """How often it was begun."""
    worker: str | None = None
    """Who works on it, or did last."""
    beats: int = 0
    """Grows while somebody works on it."""
    is_cancelling: bool = False
    """Somebody wants it to stop."""
    is_quiet: bool = False
    """It was told to stop, and from now on sends no call that is not on its way already."""
    estimate: Estimate | None = None
    """What was shown before it was started."""
    progress: Progress = Progress()
    paid_before: JobMoney | None = None
    """What its corpus had come to when the first attempt began: so what a killed worker paid for is not lost."""
    started_at: str | None = None
    ended_at: str | None = None
    retry_at: str | None = None
    """When a stalled job is tried again by itself."""
    retries_left: int = 3
    """How often that still happens."""
    version: int | None = None
    """The version that came out, or the active one that stays where nothing differs."""
    is_new: bool = False
    is_activated: bool = False
    warnings: int = 0
    stand_ins: int = 0

    @property
    def attempt_id(self) -> str:
        return f"{self.job}-{self.attempt}"


def failed_item(report: SourceReport) -> FailedItem | None:
    """The source as a failed item; None where it came through or was meant to be passed over."""
    if report.verdict != "kept" and report.verdict not in get_args(Refusal):
        return None
    return FailedItem(
        source=report.source, verdict=report.verdict, detail=report.detail, values=dict(report.values)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How an attempt ended, and so what becomes of its job."""

    state: JobState
    cause: Cause | None = None


KEY_CODES = frozenset(("key_missing", "key_wanted", "key_refused", "key_not_stored"))


def ending_of(error: BaseException) -> Ending:
    """What an error means for the job: wait for something, try again by itself, or wait for a person."""
    if not isinstance(error, Corpus2SkillError):
        return Ending(state="failed", cause=Cause(code="job_broken", values={"kind": type(error).__name__}))
    return Ending(state=_state_after(error), cause=Cause(code=error.code, values=_plain(error.values)))


def _state_after(error: Corpus2SkillError) -> JobState:
    match error:
        case ModelUnusable(code=code) if code in KEY_CODES:
            return "waiting_for_key"
        case SpendingCapReached() | ConfirmationNeeded(code="payment_not_confirmed"):
            return "paused_budget"
        case ModelUnavailable() | Busy():
            return "stalled"
        case WorkspaceUnusable(code=code) if code != "workspace_newer":
            return "stalled"
        case _:
            return "failed"


def _plain(values: Mapping[str, object]) -> dict[str, Plain]:
    return {
        name: value if isinstance(value, int | float | bool) or value is None else str(value)
        for name, value in values.items()
    }
