"""Many small questions of async code answered together by one thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked(Generic[Item, Answer]):
    item: Item
    future: asyncio.Future[Answer]
    loop: asyncio.AbstractEventLoop


class Gathering(Generic[Item, Answer]):
    """Hands all that has been asked while the thread was busy to `work`, at most `most` items at once.

    `work` returns an answer, or an error to be raised, for each item. What it raises itself is raised for
    every item. An item is worked on to its end, whether or not the one who asked still waits.
    """

    def __init__(
        self, name: str, work: Callable[[Sequence[Item]], Sequence[Answer | Exception]], most: int
    ) -> None:
        self._name = name
        self._work = work
        self._most = most
        self._lock = threading.Lock()
        self._queue: SimpleQueue[_Asked[Item, Answer] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    async def ask(self, item: Item) -> Answer:
        loop = asyncio.get_running_loop()
        asked: _Asked[Item, Answer] = _Asked(item=item, future=loop.create_future(), loop=loop)
        with self._lock:
            if self._thread is None:
                # A daemon, so that a store which nobody closed does not keep the process alive.
                self._thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
                self._thread.start()
            self._queue.put(asked)
        return await asked.future

    def close(self) -> None:
        """Answer what was asked, then end the thread. Asking again begins a new one."""
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is not None:
                self._queue.put(None)
                thread.join()

    def _serve(self) -> None:
        while (first := self._queue.get()) is not None:
            group = [first]
            is_last = False
            with suppress(Empty):
                while len(group) < self._most and not is_last:
                    following = self._queue.get_nowait()
                    if following is None:
                        is_last = True
                    else:
                        group.append(following)
            self._answer(group)
            if is_last:
                return

    def _answer(self, group: Sequence[_Asked[Item, Answer]]) -> None:
        answers: Sequence[Answer | Exception]
        try:
            answers = self._work([asked.item for asked in group])
        except Exception as error:  # noqa: BLE001 (raised again in every task that waits)
            answers = [error] * len(group)
        pairs = list(zip(group, answers, strict=True))
        for loop in {asked.loop for asked in group}:
            own = [pair for pair in pairs if pair[0].loop is loop]
            with suppress(RuntimeError):  # the loop is closed, and with it those who asked
                loop.call_soon_threadsafe(_settle, own)


def _settle(pairs: Sequence[tuple[_Asked[Item, Answer], Answer | Exception]]) -> None:
    for asked, answer in pairs:
        if asked.future.done():
            continue
        if isinstance(answer, Exception):
            asked.future.set_exception(answer)
        else:
            asked.future.set_result(answer)
