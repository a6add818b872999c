"""Many calls at a time, their answers in the order of what they are about."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from itertools import islice
from types import TracebackType
from typing import TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")

_WINDOW = 4
"""Items begun for each call that may be under way: so far may others run ahead of a slow one."""


class CallGate:
    """Lets so many calls be under way at once, and no more begin once it is closed."""

    def __init__(self, at_once: int) -> None:
        self._room = asyncio.Semaphore(at_once)
        self.is_closed = False
        self.failure: BaseException | None = None
        """What closed it first, where something failed."""

    def close(self, failure: BaseException | None = None) -> None:
        self.failure = self.failure or (None if self.is_closed else failure)
        self.is_closed = True

    async def __aenter__(self) -> None:
        await self._room.acquire()
        if self.is_closed:
            self._room.release()
            raise GateClosed

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._room.release()


class GateClosed(Exception):
    """No further call is begun, because another one failed. Never leaves this module."""


async def in_order(
    items: Iterable[Item], work: Callable[[Item, CallGate], Awaitable[Answer]], at_once: int
) -> AsyncGenerator[Answer, None]:
    """Yield `work` of every item in the order of `items`, as soon as it and all before it are there.

    `work` makes each of its calls inside the gate that it is given. Only a window of the items is begun at a
    time, however many there are. Once one has failed no further call is begun; those under way are awaited,
    so that what is paid for is kept, the answers before it are yielded, and then the failure goes up. Where nobody
    wants the rest any more, all that was begun is cancelled.
    """
    gate = CallGate(at_once)
    waiting = iter(items)
    window: deque[asyncio.Task[Answer]] = deque()
    try:
        while True:
            room = 0 if gate.is_closed else _WINDOW * at_once - len(window)
            window.extend(
                asyncio.create_task(_watched(work(item, gate), gate)) for item in islice(waiting, room)
            )
            if not window:
                break
            await asyncio.wait([window[0]])
            if window[0].cancelled() or window[0].exception():
                break
            yield window.popleft().result()
    except (asyncio.CancelledError, GeneratorExit):
        for task in window:
            task.cancel()
        raise
    finally:
        gate.close()
        await asyncio.gather(*window, return_exceptions=True)
    if gate.failure is not None:
        raise gate.failure


async def _watched(work: Awaitable[Answer], gate: CallGate) -> Answer:
    try:
        return await work
    except BaseException as failure:
        gate.close(failure)
        raise
