"""Time and chance, which the core never takes for itself."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


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
