"""The caps: US dollars that the paid calls of one compile, and of a month, may come to, whatever their order."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from math import inf

from corpus2skill.domain.message import Usage
from corpus2skill.domain.money import Price
from corpus2skill.domain.money import most_dollars as most_dollars
from corpus2skill.errors import SpendingCapReached, UnusableSettings
from corpus2skill.paying.month import MonthCap

_LOOK_AGAIN_SECONDS = 0.2
"""While calls of another compile hold what is left of the month."""


@dataclass(slots=True, kw_only=True, eq=False)
class Reservation:
    """Money that a call under way may come to."""

    dollars: float
    paid: float = 0.0
    """What the call came to, once that is known."""


class Budget:
    """Shared by all models of a compile. `cap` None: no cap, and nothing is held up; so with `month`."""

    def __init__(self, cap: float | None, month: MonthCap | None = None) -> None:
        self._cap = cap
        self._month = month
        self._held_of_month: set[Reservation] = set()
        self._spent = 0.0
        self._open: set[Reservation] = set()
        self._queue = asyncio.Lock()
        self._settled = asyncio.Event()

    def require_price(self, model: str, price: Price) -> None:
        """Look whether the cap can be held with this model.

        Raises:
            UnusableSettings: there is a cap, and the model's price is unknown.
        """
        cap = self._cap if self._cap is not None or self._month is None else self._month.limit
        if cap is not None and price(Usage(input_tokens=1, output_tokens=1)) is None:
            raise UnusableSettings("price_unknown", model=model, cap=_shown(cap))

    async def reserve(self, dollars: float) -> Reservation:
        """Set aside what a call costs at most, before it is sent.

        While calls under way hold money that they may not need, it is waited for them.

        Raises:
            SpendingCapReached: the call could go over the cap.
        """
        reservation = Reservation(dollars=dollars)
        if self._cap is None and self._month is None:
            return reservation
        async with self._queue:
            while self._cap is not None and not self._has_room(dollars, self._cap):
                self._settled.clear()
                await self._settled.wait()
            while self._month is not None and not self._month.take(reservation, dollars):
                self._settled.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK_AGAIN_SECONDS):
                        await self._settled.wait()
            self._open.add(reservation)
            self._held_of_month.add(reservation)
        return reservation

    def commit(self, dollars: float) -> Reservation:
        """Set aside what was ordered earlier: it is owed, whether or not the cap has room for it."""
        reservation = Reservation(dollars=dollars)
        self._open.add(reservation)
        if self._month is not None:
            self._month.owe(reservation, dollars)
            self._held_of_month.add(reservation)
        return reservation

    @property
    def room(self) -> float:
        """Dollars that are neither spent nor set aside."""
        of_month = inf if self._month is None else self._month.room
        if self._cap is None:
            return of_month
        return min(of_month, self._cap - self._spent - sum(held.dollars for held in self._open))

    def settle(self, reservation: Reservation, dollars: float | None) -> None:
        """Replace a reservation by what the call came to; None: nobody knows, so all of it.

        Of the month it holds that until it is given back: by then it is kept where the month is counted.
        """
        reservation.paid = reservation.dollars if dollars is None else dollars
        self._spent += reservation.paid
        self._open.discard(reservation)
        if self._month is not None and reservation in self._held_of_month:
            self._month.owe(reservation, reservation.paid)
        self._settled.set()

    def release(self, reservation: Reservation) -> None:
        """Give back a reservation whose call was not answered, or was settled."""
        self._open.discard(reservation)
        if self._month is not None and reservation in self._held_of_month:
            self._held_of_month.discard(reservation)
            self._month.release(reservation, reservation.paid)
        self._settled.set()

    def close(self) -> None:
        """Give back everything: no call is under way any more."""
        for reservation in list(self._held_of_month):
            self.release(reservation)

    def _has_room(self, dollars: float, cap: float) -> bool:
        """
        Raises:
            SpendingCapReached: there will be none, however cheap the calls under way turn out.
        """
        if self._spent + sum(held.dollars for held in self._open) + dollars <= cap:
            return True
        if not self._open or self._spent + dollars > cap:
            raise SpendingCapReached(cap=_shown(cap), next=_shown(dollars), spent=_shown(self._spent))
        return False


def _shown(dollars: float) -> str:
    return f"{dollars:.4f}".rstrip("0").rstrip(".")
