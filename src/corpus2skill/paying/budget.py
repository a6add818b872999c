"""The cap: US dollars that the paid calls of one compile may come to, whatever their order."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from math import inf

from corpus2skill.domain.message import Usage
from corpus2skill.domain.money import Price
from corpus2skill.domain.money import most_dollars as most_dollars
from corpus2skill.errors import SpendingCapReached, UnusableSettings


@dataclass(slots=True, kw_only=True, eq=False)
class Reservation:
    """Money that a call under way may come to."""

    dollars: float


class Budget:
    """Shared by all models of a compile. `cap` None: no cap, and nothing is held up."""

    def __init__(self, cap: float | None) -> None:
        self._cap = cap
        self._spent = 0.0
        self._open: set[Reservation] = set()
        self._queue = asyncio.Lock()
        self._settled = asyncio.Event()

    def require_price(self, model: str, price: Price) -> None:
        """Look whether the cap can be held with this model.

        Raises:
            UnusableSettings: there is a cap, and the model's price is unknown.
        """
        if self._cap is not None and price(Usage(input_tokens=1, output_tokens=1)) is None:
            raise UnusableSettings("price_unknown", model=model, cap=_shown(self._cap))

    async def reserve(self, dollars: float) -> Reservation:
        """Set aside what a call costs at most, before it is sent.

        While calls under way hold money that they may not need, it is waited for them.

        Raises:
            SpendingCapReached: the call could go over the cap.
        """
        reservation = Reservation(dollars=dollars)
        if self._cap is None:
            return reservation
        async with self._queue:
            while not self._has_room(dollars, self._cap):
                self._settled.clear()
                await self._settled.wait()
            self._open.add(reservation)
        return reservation

    def commit(self, dollars: float) -> Reservation:
        """Set aside what was ordered earlier: it is owed, whether or not the cap has room for it."""
        reservation = Reservation(dollars=dollars)
        self._open.add(reservation)
        return reservation

    @property
    def room(self) -> float:
        """Dollars that are neither spent nor set aside."""
        if self._cap is None:
            return inf
        return self._cap - self._spent - sum(held.dollars for held in self._open)

    def settle(self, reservation: Reservation, dollars: float | None) -> None:
        """Replace a reservation by what the call came to; None: nobody knows, so all of it."""
        self._spent += reservation.dollars if dollars is None else dollars
        self.release(reservation)

    def release(self, reservation: Reservation) -> None:
        """Give back a reservation whose call was not answered, or was settled."""
        self._open.discard(reservation)
        self._settled.set()

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
