"""Ctrl-C that ends one thing and not the program."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def interrupts_to(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> Generator[None]:
    """Within the block the first Ctrl-C calls `stop` in the loop, the next one ends the program as usual.

    Where signals of this kind are ignored, as in the background of a shell, they stay so; where loops do not
    hear of them (Windows) every one ends the program.
    """

    def interrupted() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        stop()

    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    try:
        if is_usual:  # through the loop: a signal that comes just before it goes to sleep must wake it
            loop.add_signal_handler(signal.SIGINT, interrupted)
    except NotImplementedError:
        is_usual = False
    try:
        yield
    finally:
        if is_usual:
            loop.remove_signal_handler(signal.SIGINT)
