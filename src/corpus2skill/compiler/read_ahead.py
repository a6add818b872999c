"""Work that is begun ahead and finished in order, bounded in number and in bytes."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass

_MOST_STEPS = 8
_MOST_BYTES = 64_000_000


class ReadAhead:
    """Steps in the order in which they came; each is finished when all before it are."""

    def __init__(self) -> None:
        self._steps: deque[_Step] = deque()
        self._under_way: Counter[str] = Counter()
        self._bytes = 0

    async def put(
        self,
        finish: Callable[[], object],
        *,
        work: asyncio.Task[object] | None = None,
        key: str = "",
        size: int = 0,
    ) -> None:
        """Have `finish` called in its turn, once `work` is done; waits while too much is under way.

        `key` says what the step is about, `size` how many bytes wait with it.
        """
        self._steps.append(_Step(finish=finish, work=work, key=key, size=size))
        self._under_way[key] += 1
        self._bytes += size
        while self._steps[0].is_done or len(self._steps) > _MOST_STEPS or self._bytes > _MOST_BYTES:
            await self._finish_first()
            if not self._steps:
                return

    def is_under_way(self, key: str) -> bool:
        return self._under_way[key] > 0

    async def settle(self) -> None:
        """Finish every step."""
        while self._steps:
            await self._finish_first()

    async def abandon(self) -> None:
        """Cancel what is under way; nothing is finished any more."""
        works = [step.work for step in self._steps if step.work is not None]
        self._steps.clear()
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)

    async def _finish_first(self) -> None:
        step = self._steps[0]
        if step.work is not None:
            await asyncio.wait([step.work])
        self._steps.popleft()
        self._bytes -= step.size
        self._under_way[step.key] -= 1
        if not self._under_way[step.key]:
            del self._under_way[step.key]
        step.finish()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    finish: Callable[[], object]
    work: asyncio.Task[object] | None
    key: str
    size: int

    @property
    def is_done(self) -> bool:
        return self.work is None or self.work.done()
