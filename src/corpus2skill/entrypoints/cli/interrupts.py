"""Ctrl-C that ends one thing and not the program."""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_to(stop: Callable[[], None]) -> Generator[None]:
    """Within the block the first Ctrl-C calls `stop`, the next one ends the program as usual.

    Where signals of this kind are ignored, as in the background of a shell, they stay so.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:
        yield
        return

    def interrupted(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stop()

    signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
