"""Where webhooks are kept, and who sends them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from corpus2skill.domain.credential import Sealed
from corpus2skill.domain.webhook import (
    Delivery,
    DeliveryState,
    DeliveryTry,
    WebhookAnswer,
    WebhookEndpoint,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldEndpoint:
    """An endpoint with its secrets, sealed."""

    endpoint: WebhookEndpoint
    secret: Sealed
    old_secret: Sealed | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """What is to be told, before anybody looked who wants to hear it."""

    tenant: str
    message: str
    kind: str
    at: str
    payload: Mapping[str, object]


class WebhookStore(Protocol):
    def add(self, held: HeldEndpoint, most: int) -> None:
        """
        Raises:
            Conflict: the tenant has `most` endpoints already.
            Outrun: it was sealed with a key that is the master key no longer.
        """
        ...

    def held(self, tenant: str, endpoint: str) -> HeldEndpoint:
        """Raises: ThingNotFound."""
        ...

    def endpoints(self, tenant: str) -> tuple[WebhookEndpoint, ...]:
        """Oldest first."""
        ...

    def change(
        self, tenant: str, endpoint: str, turn: Callable[[HeldEndpoint], HeldEndpoint]
    ) -> WebhookEndpoint:
        """Replace an endpoint by what `turn` makes of it, in one step; of one that is off then, nothing waits.

        Raises:
            ThingNotFound.
            Outrun: it was sealed with a key that is the master key no longer.
        """
        ...

    def remove(self, tenant: str, endpoint: str) -> WebhookEndpoint:
        """Remove it with its deliveries. Raises: ThingNotFound."""
        ...

    def fan_out(self, make: Callable[[Announcement, WebhookEndpoint], Delivery], limit: int) -> int:
        """Turn so many announcements, the oldest first, into deliveries to those who want to hear them.

        One step: none is lost and none doubled. Returns how many announcements there were.
        """
        ...

    def add_delivery(self, delivery: Delivery) -> None: ...

    def due(self, now: str) -> tuple[tuple[str, str], ...]:
        """Tenant and endpoint of all that have a delivery to be tried at `now`, the longest waiting first."""
        ...

    def due_of(self, tenant: str, endpoint: str, now: str, limit: int) -> tuple[Delivery, ...]:
        """Deliveries to be tried at `now`, the longest waiting first."""
        ...

    def claim(self, delivery: Delivery, until: str) -> bool:
        """Keep others from trying it before `until`; False where it is not as it was when it was read."""
        ...

    def note_try(
        self, delivery: Delivery, tried: DeliveryTry, state: DeliveryState, next_at: str | None
    ) -> None:
        """Note what came of a try. Of a delivery that was removed meanwhile nothing is noted."""
        ...

    def delivery(self, tenant: str, endpoint: str, delivery: str) -> Delivery:
        """Raises: ThingNotFound."""
        ...

    def deliveries(
        self,
        tenant: str,
        endpoint: str,
        *,
        state: DeliveryState | None = None,
        before: str | None = None,
        limit: int,
    ) -> Sequence[Delivery]:
        """Newest first; `before` is the id of the last one seen."""
        ...

    def try_again(self, tenant: str, endpoint: str, delivery: str, at: str) -> Delivery:
        """Have an ended delivery tried once more, from `at` on. Raises: ThingNotFound, Conflict: it waits."""
        ...


class WebhookSender(Protocol):
    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> WebhookAnswer:
        """POST once and return what came of it; never raises for what the other side does."""
        ...
