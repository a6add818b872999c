"""How fast one key may be used: requests and tokens in a minute, calls at a time, and the provider's pauses."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from corpus2skill.errors import ModelUnavailable
from corpus2skill.ports.clock import Clock
from corpus2skill.ports.clock import Sleep as Sleep

_MINUTE = 60.0
_AHEAD = 10.0
"""Seconds of its minute that a key may use up at once; the rest is spread. Providers that are said to allow
60 requests a minute may mean one a second."""
_SHORTEST = 0.001
"""Seconds. A wait of a rounding error would be waited for without end."""
_GROWTH = 0.25
"""Calls at a time that each success adds again after a slow-down: a quarter more for each round of calls."""


@dataclass(slots=True, kw_only=True)
class Turn:
    """One call under way."""

    tokens: _Taken | None
    slowings: int
    """How often the key had been slowed down when the call began."""

    def used(self, tokens: int) -> None:
        """Say what the call really took: what was reserved above it is free again."""
        if self.tokens is not None:
            self.tokens.correct(tokens)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Waiting:
    """A call that may not begin yet."""

    tokens: int
    admitted: asyncio.Future[Turn]


class KeyRate:
    """What one key may do, shared by all models that are called with it. Whoever comes first goes first.

    In no stretch of a minute do more than `requests_per_minute` calls begin, or calls for more than
    `tokens_per_minute`; a single call that is bigger than that goes when nothing else has gone for a minute.
    A clock that jumps back costs a wait, one that jumps ahead may spare one: no more.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        sleep: Sleep,
        concurrency: int,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
    ) -> None:
        self._time = _ForwardTime(clock)
        self._sleep = sleep
        self._requests = _PerMinute(requests_per_minute) if requests_per_minute else None
        self._tokens = _PerMinute(tokens_per_minute) if tokens_per_minute else None
        self._most = max(1, concurrency)
        self._at_once = float(self._most)
        self._under_way = 0
        self._slowings = 0
        self._paused_until = 0.0
        self._waiting: deque[_Waiting] = deque()
        self._alarm: asyncio.Task[None] | None = None
        self._alarm_at = 0.0
        self.successes = 0
        """Calls of this key that ended well, over all its models."""

    @property
    def pause_left(self) -> float:
        """Seconds until the provider's own pause ends, as far as is known; 0 or less: there is none."""
        return self._paused_until - self._time.now()

    @asynccontextmanager
    async def turn(self, tokens: int) -> AsyncGenerator[Turn]:
        """Wait until a call of at most so many tokens, in and out, may begin; make it within the block.

        `ModelUnavailable` out of the block slows the key down, and its `retry_after` pauses the key.
        """
        turn = await self._begin(tokens)
        try:
            yield turn
        except ModelUnavailable as error:
            turn.used(0)
            self._slow_down(turn, error)
            raise
        else:
            self.successes += 1
            self._at_once = min(float(self._most), self._at_once + _GROWTH)
        finally:
            self._under_way -= 1
            self._admit()

    async def _begin(self, tokens: int) -> Turn:
        waiting = _Waiting(tokens=tokens, admitted=asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._admit()
        try:
            return await waiting.admitted
        except asyncio.CancelledError:
            if not waiting.admitted.cancelled():
                self._under_way -= 1  # admitted and cancelled in the same moment
            self._admit()
            raise

    def _admit(self) -> None:
        """Let all go that may go now, and come back when the next one may."""
        while self._waiting and self._under_way < int(self._at_once):
            if self._waiting[0].admitted.cancelled():
                self._waiting.popleft()
                continue
            wait = self._wait(self._waiting[0].tokens)
            if wait > 0:
                self._set_alarm(max(wait, _SHORTEST))
                return
            waiting = self._waiting.popleft()
            waiting.admitted.set_result(self._take(waiting.tokens))
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _set_alarm(self, seconds: float) -> None:
        """An alarm that is set for an earlier time stays: it looks again, and sets the next one."""
        at = self._time.now() + seconds
        if self._alarm is not None:
            if self._alarm_at <= at:
                return
            self._alarm.cancel()
        self._alarm, self._alarm_at = asyncio.create_task(self._ring(seconds)), at

    async def _ring(self, seconds: float) -> None:
        await self._sleep(seconds)
        self._alarm = None
        self._admit()

    def _wait(self, tokens: int) -> float:
        now = self._time.now()
        waits = [self._paused_until - now]
        if self._requests is not None:
            waits.append(self._requests.wait(now, 1))
        if self._tokens is not None:
            waits.append(self._tokens.wait(now, tokens))
        return max(waits)

    def _take(self, tokens: int) -> Turn:
        now = self._time.now()
        self._under_way += 1
        if self._requests is not None:
            self._requests.take(now, 1)
        taken = None if self._tokens is None else self._tokens.take(now, tokens)
        return Turn(tokens=taken, slowings=self._slowings)

    def _slow_down(self, turn: Turn, error: ModelUnavailable) -> None:
        """Halve the calls at a time, once for all the calls that ran into the same jam."""
        if error.retry_after is not None:
            self._paused_until = max(self._paused_until, self._time.now() + error.retry_after)
        if not error.is_unreachable and turn.slowings == self._slowings:
            self._slowings += 1
            self._at_once = max(1.0, min(self._at_once, float(self._under_way)) / 2)


class _ForwardTime:
    """Seconds since it was made, by a clock whose jumps back are passed over."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = clock.monotonic()
        self._seconds = 0.0

    def now(self) -> float:
        read = self._clock.monotonic()
        self._seconds += max(0.0, read - self._last)
        self._last = read
        return self._seconds


class _Taken:
    """Units that count until a minute after they were taken."""

    __slots__ = ("_owner", "at", "units")

    def __init__(self, owner: _PerMinute, at: float, units: int) -> None:
        self._owner = owner
        self.at = at
        self.units = units

    def correct(self, units: int) -> None:
        self._owner.correct(self, units)


class _PerMinute:
    """At most `limit` units in any stretch of a minute, and not all of them at its beginning."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._taken: deque[_Taken] = deque()
        self._sum = 0
        self._spread_until = 0.0
        """When the units taken so far would be used up at an even pace."""

    def wait(self, now: float, units: int) -> float:
        """Return the seconds until so many units fit; 0 or less: now."""
        self._drop(now)
        return max(self._room_at(units), self._spread_until - _AHEAD) - now

    def take(self, now: float, units: int) -> _Taken:
        taken = _Taken(self, now, units)
        self._taken.append(taken)
        self._sum += units
        self._spread_until = max(self._spread_until, now) + self._seconds(units)
        return taken

    def correct(self, taken: _Taken, units: int) -> None:
        """Replace what was reserved by what was used; what is past its minute counts no more."""
        if self._taken and self._taken[0].at <= taken.at:
            self._sum += units - taken.units
            self._spread_until += self._seconds(units) - self._seconds(taken.units)
        taken.units = units

    def _drop(self, now: float) -> None:
        while self._taken and self._taken[0].at + _MINUTE <= now:
            self._sum -= self._taken.popleft().units

    def _room_at(self, units: int) -> float:
        """When enough of what was taken is past its minute."""
        at, left = 0.0, self._sum
        for taken in self._taken:
            if left + units <= self._limit:
                break
            at, left = taken.at + _MINUTE, left - taken.units
        return at

    def _seconds(self, units: int) -> float:
        return min(units, self._limit) * _MINUTE / self._limit
