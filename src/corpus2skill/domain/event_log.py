"""What happened to one thing, in order, kept so that it can be told again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


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


def run_topic(run: str) -> str:
    """The topic of a run's events; it ends with `run.finished`."""
    return f"run:{run}"


def job_topic(job: str) -> str:
    """The topic of a job's events."""
    return f"job:{job}"


def documents_topic(corpus: str) -> str:
    """The topic of the verdicts on a corpus's uploads; it never ends."""
    return f"documents:{corpus}"
