"""When a round that found the model unavailable is tried again. Somebody waits for the answer."""

from __future__ import annotations

from corpus2skill.errors import ModelUnavailable
from corpus2skill.ports.clock import Chance

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 10.0
_JITTER = 0.1
"""Of a wait that the provider asked for: runs that were sent away together do not come back together."""


def seconds_before_try(error: ModelUnavailable, failed: int, chance: Chance) -> float:
    """Return how long to wait after the `failed`th failure in a row, in seconds.

    From half to all of a time that doubles with each failure; never less than what the provider asked for.
    """
    backoff = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** min(failed - 1, 10))
    asked = error.retry_after or 0.0
    return max(backoff * (0.5 + chance() / 2), asked * (1 + chance() * _JITTER))
