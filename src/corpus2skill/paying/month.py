"""The cap of a month: over everything that a tenant pays, whichever process pays it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from corpus2skill.errors import SpendingCapReached
from corpus2skill.ports.clock import Clock

_LOOK_SECONDS = 1.0
"""For so long what others have spent is taken for what it was."""


@dataclass(slots=True)
class MonthHold:
    """US dollars of calls under way, of all compiles of one tenant in this process. Any thread may use it."""

    paid: float = 0.0
    """What calls that are under way no longer came to, since the process began."""
    _held: dict[object, float] = field(default_factory=dict[object, float])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, who: object, dollars: float, room: Callable[[float, float], bool]) -> bool:
        """Set `dollars` aside where there is `room`, which is told what would be held then and what was paid."""
        with self._lock:
            if not room(sum(self._held.values()) + dollars, self.paid):
                return False
            self._held[who] = dollars
            return True

    def change(self, who: object, dollars: float) -> None:
        """Set aside so much instead, whether or not there is room: it is owed."""
        with self._lock:
            self._held[who] = dollars

    def release(self, who: object, paid: float) -> None:
        """Give back what was set aside; so much of it was paid."""
        with self._lock:
            self._held.pop(who, None)
            self.paid += paid

    @property
    def dollars(self) -> float:
        with self._lock:
            return sum(self._held.values())


class MonthCap:
    """The cap as one compile has it. What is paid and kept is read from where it is kept."""

    def __init__(self, limit: float, spent: Callable[[], float], hold: MonthHold, clock: Clock) -> None:
        """`spent`: US dollars of this month so far, of everybody."""
        self.limit = limit
        self._spent = spent
        self._hold = hold
        self._clock = clock
        self._known = 0.0
        self._known_at: float | None = None
        self._paid_then = 0.0

    def take(self, who: object, dollars: float) -> bool:
        """Set money aside; False where calls under way hold what it needs and may give some of it back.

        Raises:
            SpendingCapReached: the call could go over the cap, however cheap the others turn out.
        """
        if self._take(who, dollars, is_fresh=False) or self._take(who, dollars, is_fresh=True):
            return True
        if not self._hold.dollars or self._known + dollars > self.limit:
            raise SpendingCapReached(
                "month_cap_reached", cap=_shown(self.limit), next=_shown(dollars), spent=_shown(self._known)
            )
        return False

    @property
    def room(self) -> float:
        """US dollars that are neither spent nor set aside."""
        return self.limit - self._spent() - self._hold.dollars

    def owe(self, who: object, dollars: float) -> None:
        """Set money aside for what was ordered already, or came to so much."""
        self._hold.change(who, dollars)

    def release(self, who: object, dollars: float) -> None:
        """Give back what was set aside; `dollars` of it were paid, and are kept by now where they are counted."""
        self._hold.release(who, dollars)

    def _take(self, who: object, dollars: float, *, is_fresh: bool) -> bool:
        now = self._clock.monotonic()
        if is_fresh or self._known_at is None or now - self._known_at >= _LOOK_SECONDS:
            self._paid_then = (
                self._hold.paid
            )  # before what is kept is read: rather counted twice than not at all
            self._known, self._known_at = self._spent(), now

        def has_room(held: float, paid: float) -> bool:
            return self._known + (paid - self._paid_then) + held <= self.limit

        return self._hold.take(who, dollars, has_room)


def _shown(dollars: float) -> str:
    return f"{dollars:.4f}".rstrip("0").rstrip(".")
