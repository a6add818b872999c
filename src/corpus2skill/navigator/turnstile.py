"""Runs that come together let each other through, and all else that lives on their event loop."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

AT_ONCE = 4
"""Parts of runs in one turn of an event loop. A part takes milliseconds."""


@dataclass(slots=True)
class Turnstile:
    """Lets a few parts of runs be done in one turn of the event loop, the others in the turns after it.

    A loop does all that is ready before it looks at clocks and connections again: five hundred runs that
    began at once, each with its part to do, would hold it up for seconds. One for all runs of a process.
    """

    _gates: WeakKeyDictionary[asyncio.AbstractEventLoop, _Gate] = field(
        default_factory=WeakKeyDictionary[asyncio.AbstractEventLoop, "_Gate"]
    )

    async def enter(self) -> None:
        """Go on at once where there is room in this turn, else when it is one's own turn, first come first."""
        loop = asyncio.get_running_loop()
        gate = self._gates.get(loop)
        if gate is None:
            gate = self._gates[loop] = _Gate()
        waiting = gate.enter(loop)
        if waiting is not None:
            await waiting


@dataclass(slots=True, weakref_slot=True)
class _Gate:
    """Of one event loop."""

    free: int = AT_ONCE
    """Places of this turn."""
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque[asyncio.Future[None]])
    is_next_turn_begun: bool = False

    def enter(self, loop: asyncio.AbstractEventLoop) -> asyncio.Future[None] | None:
        """Take a place; where there is none, return what is done as soon as there is one."""
        if self.free:
            self._take(loop)
            return None
        place: asyncio.Future[None] = loop.create_future()
        self.waiting.append(place)
        return place

    def _take(self, loop: asyncio.AbstractEventLoop) -> None:
        self.free -= 1
        if not self.is_next_turn_begun:
            self.is_next_turn_begun = True
            loop.call_soon(self._begin_turn, loop)

    def _begin_turn(self, loop: asyncio.AbstractEventLoop) -> None:
        self.free, self.is_next_turn_begun = AT_ONCE, False
        while self.free and self.waiting:
            place = self.waiting.popleft()
            if not place.done():  # a cancelled run waits no more
                place.set_result(None)
                self._take(loop)
