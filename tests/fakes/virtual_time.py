"""Time that jumps: async code that waits for an hour is done at once, in the order it would have happened."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from tests.fakes.clock import START

Result = TypeVar("Result")


def run_in_virtual_time(main: Coroutine[Any, Any, Result]) -> Result:
    """Run `main` in a loop whose `asyncio.sleep` takes no time but lets the loop's time pass."""
    with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
        return runner.run(main)


class VirtualClock:
    """`ports.clock.Clock` of the running loop. `jump` puts it forward or back, as no clock should."""

    def __init__(self) -> None:
        self._jumped = 0.0

    def jump(self, seconds: float) -> None:
        self._jumped += seconds

    def advance(self, seconds: float) -> None:
        """As `FakeClock`'s."""
        self.jump(seconds)

    def block(self, seconds: float) -> None:
        """Let time pass as a call does that blocks the loop: its timers are due when it comes back."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, _VirtualLoop)
        loop.pass_time(seconds)

    def now(self) -> datetime:
        return START.astimezone(UTC) + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time() + self._jumped


class _JumpingSelector(selectors.DefaultSelector):
    """Where the loop would wait, its time passes."""

    seconds = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if timeout is None and not found:
            raise AssertionError("everybody waits, and nothing will happen")
        self.seconds += timeout or 0.0
        return found


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.seconds

    def pass_time(self, seconds: float) -> None:
        self._jumping.seconds += seconds
