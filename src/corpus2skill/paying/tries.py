"""Whether, and when, a call that found no answer is tried again."""

from __future__ import annotations

from dataclasses import dataclass

from corpus2skill.errors import ModelUnavailable
from corpus2skill.ports.clock import Chance as Chance

_FIRST_WAIT = 1.0
_LONGEST_WAIT = 30.0
_JITTER = 0.1
"""Of a wait that the provider asked for: calls that were sent away together do not come back together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long to go on. Times are seconds that a call spends on its own tries and the waits between them."""

    seconds: float = 300.0
    """While no call of the key succeeds. A success begins them anew."""
    unreachable_seconds: float = 20.0
    """While no connection comes about and none ever did: the address is probably wrong."""
    tries: int = 25
    """Of one call, whatever the others do."""


class Course:
    """The tries of one call."""

    def __init__(self, patience: Patience, chance: Chance) -> None:
        self._patience = patience
        self._chance = chance
        self._successes = 0
        self._spent = 0.0
        self.failed = 0
        """Tries so far; none succeeded."""

    def wait_after(self, error: ModelUnavailable, seconds: float, successes: int) -> float:
        """Return how long to wait before the next try.

        `seconds` is what the failed try took; `successes` how many calls of the key ever succeeded.

        Raises:
            ModelUnavailable: it is not worth another try: `error` itself, or that the provider asks for
                more patience than there is.
        """
        self.failed += 1
        if successes != self._successes:
            self._successes, self._spent = successes, 0.0
        # A clock that jumped, or one reply that never came, is not to use up all patience alone.
        self._spent += min(seconds, self._patience.seconds / 2)
        if error.retry_after is not None and error.retry_after > self._patience.seconds:
            raise _asks_too_much(error, error.retry_after, self._patience.seconds) from error
        wait = self._wait(error.retry_after or 0.0)
        if self.failed >= self._patience.tries or self._spent + wait > self._limit(error):
            raise error
        self._spent += wait
        return wait

    def _limit(self, error: ModelUnavailable) -> float:
        if error.is_unreachable and not self._successes:
            return min(self._patience.unreachable_seconds, self._patience.seconds)
        return self._patience.seconds

    def _wait(self, asked: float) -> float:
        """From half to all of a time that doubles with each try; never less than what was asked for."""
        backoff = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** min(self.failed - 1, 10))
        return max(backoff * (0.5 + self._chance() / 2), asked * (1 + self._chance() * _JITTER))


def _asks_too_much(error: ModelUnavailable, asked: float, patience: float) -> ModelUnavailable:
    return ModelUnavailable(
        "retry_after_too_long",
        retry_after=asked,
        model=str(error.values.get("model", "")),
        asked=f"{asked:.0f}",
        patience=f"{patience:.0f}",
        reason=str(error.values.get("reason", error.code)),
    )
