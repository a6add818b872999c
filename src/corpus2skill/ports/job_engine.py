"""What carries an attempt of a job out as a durable workflow."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from corpus2skill.ports.steps import Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class StepNote:
    """A step that came to its end, as the engine noted it down."""

    stage: str
    count: int
    """What came of it."""
    started_ms: int
    """Milliseconds since 1970; so the next."""
    ended_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """An attempt whose end nobody noted."""

    attempt: str
    release: str
    """Of the product that began it."""
    executor: str
    """The worker."""


class JobEngine(Protocol):
    """Attempts by their ids. What it stores is small: names, counts and times, never a text or a key.

    All methods but `carry_out` wait for a database and are not to be called in an event loop.
    """

    async def carry_out(self, attempt: str, work: Callable[[Steps], Awaitable[str]]) -> str:
        """Do `work` under the engine's eyes and return the word that it ends with.

        Cancelling the caller cancels the work, which is waited for.

        Raises:
            whatever `work` raises. An attempt that was begun before is not begun again: `Conflict`.
        """
        ...

    def unfinished(self) -> tuple[Unfinished, ...]:
        """The attempts, of any worker and release, that were begun and did not end, oldest first."""
        ...

    def give_up(self, attempt: str) -> None:
        """Note that an unfinished attempt is over: another one takes its place."""
        ...

    def steps(self, attempt: str) -> tuple[StepNote, ...]:
        """The steps of an attempt that ended, in order; none for an attempt that is not known."""
        ...

    def close(self) -> None: ...
