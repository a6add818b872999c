"""What happened to one thing, in order, kept so that it can be told again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """Something that happened. `payload` is plain JSON."""

    kind: str
    """`node.visited`, `job.progress`, `document.judged`, ...: the name of the event on the wire."""
    payload: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedEvent(NewEvent):
    number: int
    """From 1, without gaps, within its topic."""
    at: str
    """RFC 3339 in UTC with milliseconds."""


RUN_FINISHED = "run.finished"
TEXT_DELTA = "text.delta"


def run_topic(run: str) -> str:
    """The topic of a run's events; it ends with `run.finished`."""
    return f"run:{run}"


def job_topic(job: str) -> str:
    """The topic of a job's events."""
    return f"job:{job}"


def exam_topic(exam: str) -> str:
    """The topic of a test run's events."""
    return f"test-run:{exam}"


def documents_topic(corpus: str) -> str:
    """The topic of the verdicts on a corpus's uploads; it never ends."""
    return f"documents:{corpus}"


def is_last(event: NewEvent) -> bool:
    """True for an event after which its topic has no more: a run's end, or one whose payload says `is_last`."""
    return event.kind == RUN_FINISHED or event.payload.get("is_last") is True


def merged(events: Iterable[LoggedEvent]) -> list[LoggedEvent]:
    """Return `events` with pieces of text that follow each other made one, numbered as the last of them."""
    told: list[LoggedEvent] = []
    for event in events:
        before = told[-1] if told else None
        if before is not None and before.kind == event.kind == TEXT_DELTA:
            text = f"{before.payload['text']}{event.payload['text']}"
            told[-1] = replace(event, payload={**event.payload, "text": text})
        else:
            told.append(event)
    return told
