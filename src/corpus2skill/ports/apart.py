"""Work that would hold up everybody else, done where it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

Lane = Literal["estimate", "look"]
"""What waits only for its own kind: estimates, which take long, and what somebody looks at in this moment."""


class Apart(Protocol):
    """Does work that grows with a corpus. Any thread may ask; it waits until the work is done."""

    def call(self, lane: Lane, whose: str, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Return `work(*args, **kwargs)`: a function of a module that only reads, with values as arguments.

        `whose`: the tenant; its things are worked at one after another.

        Raises:
            TooMany: so much waits already, for this tenant or for all, that it would take too long.
            BrokenOff: whatever did the work died of it, or was ended; another try begins afresh.
            and whatever `work` does.
        """
        ...

    def close(self) -> None:
        """End what is at work."""
        ...
