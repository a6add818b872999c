"""Work in the thread that asks for it: of the worker, the command line and tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from corpus2skill.ports.apart import Lane

P = ParamSpec("P")
T = TypeVar("T")


class Here:
    """`ports.apart.Apart` that is not apart at all."""

    def call(self, _lane: Lane, _whose: str, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return work(*args, **kwargs)

    def close(self) -> None: ...
