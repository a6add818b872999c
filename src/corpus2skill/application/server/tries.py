"""How often somebody may try a password."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from corpus2skill.domain.people import name_key
from corpus2skill.errors import TooMany

WINDOW_SECONDS = 15 * 60.0
PER_NAME_AND_ADDRESS = 5
PER_ADDRESS = 30
"""Many people may sit behind one address."""
PER_NAME = 50
"""From all addresses: so many that nobody is easily locked out by others."""
_MOST_KEPT = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """Who is tried, from where."""

    name: str
    address: str

    @property
    def counted(self) -> Sequence[tuple[tuple[str, str], int]]:
        """What it counts towards, each with the most failures there may be of it."""
        key = name_key(self.name)[:200]
        return (
            ((key, self.address), PER_NAME_AND_ADDRESS),
            (("", self.address), PER_ADDRESS),
            ((key, ""), PER_NAME),
        )


class Tries:
    """Failures of the last quarter of an hour, in this process. Any thread may use it."""

    def __init__(self) -> None:
        self._failures: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, attempt: Try, now: float) -> None:
        """Count a try as a failure until it is known to be none, so that many at once are no way around.

        Raises:
            TooMany: there were too many failures; this one is not counted.
        """
        with self._lock:
            waits = [self._wait(key, most, now) for key, most in attempt.counted]
            if max(waits) > 0:
                raise TooMany(
                    "too_many_tries", retry_after=max(waits), minutes=max(1, round(max(waits) / 60))
                )
            for key, _ in attempt.counted:
                self._failures.setdefault(key, deque()).append(now)
                self._failures.move_to_end(key)
            while len(self._failures) > _MOST_KEPT:
                self._failures.popitem(last=False)

    def succeeded(self, attempt: Try) -> None:
        """Forget the failures of this name from this address, and take back what the try counted elsewhere."""
        with self._lock:
            (first, _), *others = attempt.counted
            self._failures.pop(first, None)
            for key, _ in others:
                failures = self._failures.get(key)
                if failures:
                    failures.pop()

    def _wait(self, key: tuple[str, str], most: int, now: float) -> float:
        """Seconds until one more is let through; 0 at once."""
        failures = self._failures.get(key)
        if failures is None:
            return 0.0
        while failures and failures[0] <= now - WINDOW_SECONDS:
            failures.popleft()
        if not failures:
            del self._failures[key]
            return 0.0
        return failures[-most] + WINDOW_SECONDS - now if len(failures) >= most else 0.0
