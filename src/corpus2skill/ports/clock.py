"""Time and chance, which the core never takes for itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Protocol

Sleep = Callable[[float], Awaitable[None]]
"""Waits for so many seconds, as `asyncio.sleep`."""
Chance = Callable[[], float]
"""A number from 0 to below 1, as `random.random`."""


class Clock(Protocol):
    def now(self) -> datetime:
        """The time in UTC, with its zone."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards, for measuring."""
        ...


class Ids(Protocol):
    def new(self, prefix: str) -> str:
        """Return a fresh id `prefix_...` that sorts by the time it was made."""
        ...
