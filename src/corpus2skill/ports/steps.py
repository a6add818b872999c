"""The parts of a compile as steps: seen from outside, and tried again each for itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from corpus2skill.domain.job import Stage

Result = TypeVar("Result")


class Steps(Protocol):
    async def run(
        self, stage: Stage, work: Callable[[], Awaitable[Result]], count: Callable[[Result], int]
    ) -> Result:
        """Do the next piece of `stage` and return what it made.

        `work` may be begun again after a failure that passes: it has to come to the same result. `count` says
        in one number what came of it, which is all that is noted down.

        Raises:
            whatever `work` raised last.
        """
        ...


class _AtOnce:
    """Each step is done once, and nothing is noted."""

    async def run(
        self, stage: Stage, work: Callable[[], Awaitable[Result]], count: Callable[[Result], int]
    ) -> Result:
        del stage, count
        return await work()


at_once = _AtOnce()
"""The steps of a compile in the foreground."""
