"""The time of this machine, and ids that sort by the time they were made."""

from __future__ import annotations

import secrets
import threading
import time
from datetime import UTC, datetime

from corpus2skill.ports.clock import Clock

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32 in ASCII order: no letter that is mistaken for a digit."""
_RANDOM_BITS = 80
_LENGTH = 26
"""Characters of 48 bits of time and 80 of chance."""


class SystemClock:
    """`ports.clock.Clock` of the machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class TimeSortedIds:
    """`ports.clock.Ids`: milliseconds, then chance; within one process each id is above the one before."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0
        self._lock = threading.Lock()

    def new(self, prefix: str) -> str:
        milliseconds = int(self._clock.now().timestamp() * 1000)
        fresh = (milliseconds << _RANDOM_BITS) | secrets.randbits(_RANDOM_BITS)
        with self._lock:
            # Two ids of one millisecond, or a clock set back: go on from the last one.
            self._last = fresh if fresh > self._last else self._last + 1 + secrets.randbits(32)
            return f"{prefix}_{_base32(self._last)}"


def _base32(number: int) -> str:
    digits: list[str] = []
    for _ in range(_LENGTH):
        number, rest = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[rest])
    return "".join(reversed(digits))
