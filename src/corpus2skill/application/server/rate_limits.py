"""How often one caller may ask: buckets that fill by themselves."""

from __future__ import annotations

import threading

from corpus2skill.errors import TooMany
from corpus2skill.ports.clock import Clock

_MOST_BUCKETS = 10_000


class RateLimit:
    """So many in a minute for each caller, all of them at once if they like. In this process; any thread."""

    def __init__(self, clock: Clock, per_minute: int) -> None:
        self._clock = clock
        self._size = float(per_minute)
        self._per_second = per_minute / 60
        self._levels: dict[str, tuple[float, float]] = {}
        """What each had left, and when."""
        self._lock = threading.Lock()

    def take(self, caller: str) -> None:
        """Count one.

        Raises:
            TooMany: none is left for this caller now.
        """
        with self._lock:
            now = self._clock.monotonic()
            level, at = self._levels.get(caller, (self._size, now))
            level = min(self._size, level + (now - at) * self._per_second)
            if level < 1:
                raise TooMany("rate_limit", retry_after=(1 - level) / self._per_second)
            if len(self._levels) >= _MOST_BUCKETS:
                self._forget_full(now)
            self._levels[caller] = (level - 1, now)

    def _forget_full(self, now: float) -> None:
        """A bucket that has filled up again is as one that never was; where none has, the oldest go."""
        kept = {
            name: (level, at)
            for name, (level, at) in self._levels.items()
            if level + (now - at) * self._per_second < self._size
        }
        names = sorted(kept, key=lambda name: kept[name][1])
        self._levels = {name: kept[name] for name in names[-_MOST_BUCKETS // 2 :]}
