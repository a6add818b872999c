"""The worker's duty: tell customers' systems what was announced."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from corpus2skill import __version__
from corpus2skill.application.server.resting import Rest
from corpus2skill.application.server.webhooks import delivery_of
from corpus2skill.application.server_wiring import Server, webhook_sender
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.webhook import (
    OFF_AFTER_SECONDS,
    PING,
    Delivery,
    DeliveryState,
    DeliveryTry,
    OffReason,
    WebhookAnswer,
    WebhookEndpoint,
    seconds_to_next,
    secret_bound_to,
    signature,
)
from corpus2skill.errors import Corpus2SkillError, ThingNotFound
from corpus2skill.ports.clock import Chance
from corpus2skill.ports.webhooks import HeldEndpoint, WebhookSender

_log = logging.getLogger(__name__)

_LOOK_AGAIN_SECONDS = 1.0
_REST_SECONDS = 5.0
"""After a fault of the database."""
_ANNOUNCED_AT_ONCE = 200
_OF_ENDPOINT_AT_ONCE = 20
_AT_ONCE = 20
"""Endpoints that are sent to at a time; each gets one message after the other."""
_OF_TENANT_AT_ONCE = 4
"""So that no tenant's slow receivers hold up the others'."""
_CLAIM_SECONDS = 60.0
"""Longer than one try may take: if this process dies in it, the message is sent again then."""
_GONE = 410
_SYSTEM = "system"


async def deliver_announcements(server: Server, stop: asyncio.Event) -> None:
    """Deliver until `stop` is set. What is under way then is sent to its end or, at the latest, sent again."""
    courier, rest = Courier(server, webhook_sender(server)), Rest(server, _LOOK_AGAIN_SECONDS)
    try:
        while not stop.is_set():
            rest.look()
            try:
                if await courier.turn() == 0:
                    await rest.until_written(stop)
            except Corpus2SkillError:
                _log.warning("webhooks cannot be looked after now; tried again", exc_info=True)
                await _pause(stop, _REST_SECONDS)
    finally:
        await courier.finish()


@dataclass(slots=True)
class Courier:
    """Who is sent to at the moment, and by whom."""

    server: Server
    sender: WebhookSender
    chance: Chance = random.random
    under_way: dict[tuple[str, str], asyncio.Task[None]] = field(
        default_factory=dict[tuple[str, str], asyncio.Task[None]]
    )

    async def turn(self) -> int:
        """Take up what was announced and begin to send what is due; return how many announcements there were."""
        fanned = await asyncio.to_thread(self._fan_out)
        due = await asyncio.to_thread(self.server.webhooks.due, self._now())
        for key in self._free(due):
            task = asyncio.create_task(self._send_all(*key))
            self.under_way[key] = task
            task.add_done_callback(lambda _, key=key: self.under_way.pop(key, None))
        return fanned

    async def finish(self) -> None:
        """Wait until nothing is under way: no try takes long."""
        await asyncio.gather(*self.under_way.values(), return_exceptions=True)

    def _now(self) -> str:
        return moment_of(self.server.clock.now())

    def _fan_out(self) -> int:
        return self.server.webhooks.fan_out(
            lambda announced, hearer: delivery_of(self.server, announced, hearer), _ANNOUNCED_AT_ONCE
        )

    def _free(self, due: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
        """Endpoints whose turn it is."""
        of_tenant = Counter(tenant for tenant, _ in self.under_way)
        chosen: list[tuple[str, str]] = []
        for tenant, endpoint in due:
            if len(self.under_way) + len(chosen) >= _AT_ONCE:
                break
            if (tenant, endpoint) not in self.under_way and of_tenant[tenant] < _OF_TENANT_AT_ONCE:
                of_tenant[tenant] += 1
                chosen.append((tenant, endpoint))
        return chosen

    async def _send_all(self, tenant: str, endpoint: str) -> None:
        """Send what is due to one endpoint, in order."""
        store = self.server.webhooks
        try:
            due = await asyncio.to_thread(store.due_of, tenant, endpoint, self._now(), _OF_ENDPOINT_AT_ONCE)
            for delivery in due:
                until = moment_of(self.server.clock.now() + timedelta(seconds=_CLAIM_SECONDS))
                if await asyncio.to_thread(store.claim, delivery, until):
                    await self._send(delivery)
        except ThingNotFound:  # the endpoint was removed meanwhile
            return
        except Corpus2SkillError:
            _log.warning("a webhook cannot be looked after now; tried again", exc_info=True)

    async def _send(self, delivery: Delivery) -> None:
        held = await asyncio.to_thread(self.server.webhooks.held, delivery.tenant, delivery.endpoint)
        now = self.server.clock.now()
        body = delivery.body.encode("ascii")
        headers = await asyncio.to_thread(self._headers, held, delivery, now, body)
        answer = await self.sender.send(held.endpoint.url, headers, body)
        await asyncio.to_thread(self._note, delivery, answer, now)

    def _headers(self, held: HeldEndpoint, delivery: Delivery, now: datetime, body: bytes) -> dict[str, str]:
        seconds = int(now.timestamp())
        bound = secret_bound_to(delivery.tenant, delivery.endpoint)
        sealed = [held.secret]
        if held.old_secret is not None and moment_of(now) < (held.endpoint.both_until or ""):
            sealed.append(held.old_secret)
        opened = [self.server.vault.open(one, bound) for one in sealed]
        return {
            "content-type": "application/json",
            "user-agent": f"corpus2skill/{__version__}",
            "webhook-id": delivery.message,
            "webhook-timestamp": str(seconds),
            "webhook-signature": " ".join(signature(one, delivery.message, seconds, body) for one in opened),
        }

    def _note(self, delivery: Delivery, answer: WebhookAnswer, now: datetime) -> None:
        tried = DeliveryTry(at=moment_of(now), status=answer.status, code=answer.code, ms=answer.ms)
        state, next_at = self._next(delivery, tried, answer, now)
        self.server.webhooks.note_try(delivery, tried, state, next_at)
        becomes = _outcome(tried, self.server.clock.now())
        was = self.server.webhooks.held(delivery.tenant, delivery.endpoint).endpoint
        if becomes(was) == was:
            return
        changed = self._change(was, becomes)
        if was.is_on and not changed.is_on:
            self._tell_off(changed)

    def _next(
        self, delivery: Delivery, tried: DeliveryTry, answer: WebhookAnswer, now: datetime
    ) -> tuple[DeliveryState, str | None]:
        if tried.is_good:
            return "delivered", None
        tries = len(delivery.tries) + 1
        seconds = None if delivery.kind == PING else seconds_to_next(tries, self.chance(), answer.retry_after)
        if seconds is None or tried.status == _GONE:
            return "given_up", None
        return "waiting", moment_of(now + timedelta(seconds=seconds))

    def _change(
        self, endpoint: WebhookEndpoint, becomes: Callable[[WebhookEndpoint], WebhookEndpoint]
    ) -> WebhookEndpoint:
        return self.server.webhooks.change(
            endpoint.tenant,
            endpoint.endpoint,
            lambda held: replace(held, endpoint=becomes(held.endpoint)),
        )

    def _tell_off(self, endpoint: WebhookEndpoint) -> None:
        _log.warning("the webhook %s was switched off: %s", endpoint.endpoint, endpoint.off_reason)
        self.server.audit.note(
            endpoint.tenant,
            _SYSTEM,
            "webhook.switched_off",
            endpoint.endpoint,
            reason=endpoint.off_reason,
            since=endpoint.failing_since,
        )


def _outcome(tried: DeliveryTry, now: datetime) -> Callable[[WebhookEndpoint], WebhookEndpoint]:
    """What a try makes of its endpoint."""

    def becomes(endpoint: WebhookEndpoint) -> WebhookEndpoint:
        if tried.is_good:
            return replace(endpoint, failing_since=None)
        failing = replace(endpoint, failing_since=endpoint.failing_since or tried.at)
        too_long = moment_of(now - timedelta(seconds=OFF_AFTER_SECONDS))
        reason: OffReason | None = (
            "gone" if tried.status == _GONE else "failing" if str(failing.failing_since) < too_long else None
        )
        if reason is None or not endpoint.is_on:
            return failing
        return replace(failing, off_reason=reason, off_at=moment_of(now))

    return becomes


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()
