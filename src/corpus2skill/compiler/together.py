"""Calls that do not need each other's answers, made at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TypeVar

Answer = TypeVar("Answer")

MOST = 64
"""Calls in flight at once where nothing else is said; what a key allows is held below this."""


async def together(calls: Sequence[Callable[[], Awaitable[Answer]]], most: int = MOST) -> list[Answer]:
    """Return the answers in the order of `calls`.

    Once a call has failed no other is begun; those in flight are awaited, so that what is paid for is kept,
    and then the failure goes up: that of the first call in order, where several failed.
    """
    answers: dict[int, Answer] = {}
    failures: dict[int, BaseException] = {}
    waiting = iter(enumerate(calls))

    async def work(waiting: Iterator[tuple[int, Callable[[], Awaitable[Answer]]]]) -> None:
        for number, call in waiting:
            if failures:
                return
            try:
                answers[number] = await call()
            except BaseException as failure:
                failures[number] = failure
                raise

    workers = [work(waiting) for _ in range(min(most, len(calls)))]
    await asyncio.gather(*workers, return_exceptions=True)
    if failures:
        raise failures[min(failures)]
    return [answers[number] for number in range(len(calls))]
