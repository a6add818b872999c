"""How somebody else ends a run, at whatever moment it is in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

from corpus2skill.navigator.outcome import CancelReason, RunEnded, outcome_of_cancel


class Cancellation:
    """Ends the one run it is given to. Its methods belong to the run's event loop."""

    def __init__(self) -> None:
        self._reason: CancelReason | None = None
        self._task: asyncio.Task[object] | None = None
        self._asked_of_task = False
        self._cancelling_before = 0

    def cancel(self, reason: CancelReason) -> None:
        """End the run as soon as it can be; the first reason counts. Does nothing to a finished one."""
        if self._reason is not None:
            return
        self._reason = reason
        # From inside the run (a listener) there is nothing to wake: the next checkpoint sees the reason.
        if self._task is not None and self._task is not asyncio.current_task():
            self._asked_of_task = self._task.cancel()

    def check(self) -> None:
        """Notice what the code within may have swallowed.

        Raises:
            RunEnded: somebody called `cancel`.
            asyncio.CancelledError: the task was cancelled in another way.
        """
        if self._reason is not None and not self._is_cancelled_from_outside():
            raise RunEnded(outcome_of_cancel(self._reason))
        if self._is_cancelled_from_outside():
            raise asyncio.CancelledError

    @contextmanager
    def over_current_task(self) -> Generator[None]:
        """Let `cancel` reach the code within, which then ends in `RunEnded`.

        A cancellation of the task that did not come through `cancel` goes through as it is.
        """
        task = asyncio.current_task()
        assert task is not None
        self._task, self._cancelling_before = task, task.cancelling()
        try:
            yield
        except (Exception, asyncio.CancelledError):
            self.check()
            raise
        finally:
            self._task = None
            if self._asked_of_task:
                task.uncancel()

    def _is_cancelled_from_outside(self) -> bool:
        if self._task is None:
            return False
        return self._task.cancelling() - self._asked_of_task > self._cancelling_before


@asynccontextmanager
async def time_limit(seconds: float) -> AsyncGenerator[asyncio.Timeout]:
    """Bound the time of the code within, even where it turns the cancellation into another error.

    Raises:
        RunEnded: `timed_out`.
    """
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield limit
    except Exception as error:
        if limit.expired():
            raise RunEnded("timed_out") from error
        raise
    if limit.expired():
        raise RunEnded("timed_out")
