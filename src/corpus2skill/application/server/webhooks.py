"""Webhook endpoints of a tenant: made, changed, tried, and what was sent to them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.credential import Sealed
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.people import Principal
from corpus2skill.domain.webhook import (
    BOTH_SIGN_SECONDS,
    MOST_ENDPOINTS,
    PING,
    Delivery,
    WebhookEndpoint,
    WebhookKind,
    checked_url,
    new_secret,
    parsed_network,
    secret_bound_to,
)
from corpus2skill.ports.webhooks import Announcement, HeldEndpoint
from corpus2skill.settings import ServerSettings

_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointChange:
    """What is to be another one; None leaves it."""

    url: str | None = None
    kinds: tuple[WebhookKind, ...] | None = None
    description: str | None = None
    is_on: bool | None = None


def add_endpoint(
    server: Server, by: Principal, url: str, kinds: Sequence[WebhookKind], description: str
) -> tuple[WebhookEndpoint, str]:
    """Add an endpoint and return it with its secret, which nobody is shown again.

    Raises:
        InvalidInput: the URL cannot be used.
        Conflict: there are as many as there may be.
    """
    endpoint = WebhookEndpoint(
        endpoint=server.ids.new("webhook"),
        tenant=by.tenant,
        url=_checked(server.server_settings, url),
        kinds=_sorted(kinds),
        description=description,
        created_at=moment_of(server.clock.now()),
        created_by=by.actor,
    )
    secret = new_secret(secrets.token_bytes(_SECRET_BYTES))

    def work() -> None:
        sealed = _sealed(server, endpoint, secret)
        server.webhooks.add(HeldEndpoint(endpoint=endpoint, secret=sealed), MOST_ENDPOINTS)

    server.vault.sealing(work)
    server.audit.note(by.tenant, by.actor, "webhook.created", endpoint.endpoint, url=shown_url(url))
    return endpoint, secret


def change_endpoint(server: Server, by: Principal, endpoint: str, change: EndpointChange) -> WebhookEndpoint:
    """Change an endpoint; switched on again it has a clean record, switched off nothing waits for it.

    Raises:
        ThingNotFound, InvalidInput: the URL cannot be used.
    """
    if change.url is not None:
        _checked(server.server_settings, change.url)
    now = moment_of(server.clock.now())

    def turn(held: HeldEndpoint) -> HeldEndpoint:
        return replace(held, endpoint=_changed(held.endpoint, change, now))

    changed = server.webhooks.change(by.tenant, endpoint, turn)
    server.audit.note(
        by.tenant, by.actor, "webhook.changed", endpoint, url=shown_url(changed.url), is_on=changed.is_on
    )
    return changed


def rotate_secret(server: Server, by: Principal, endpoint: str) -> tuple[WebhookEndpoint, str]:
    """Give an endpoint a new secret; for a day the old one signs as well. Raises: ThingNotFound."""
    secret = new_secret(secrets.token_bytes(_SECRET_BYTES))
    until = moment_of(server.clock.now() + timedelta(seconds=BOTH_SIGN_SECONDS))

    def work() -> WebhookEndpoint:
        sealed = _sealed(server, server.webhooks.held(by.tenant, endpoint).endpoint, secret)
        return server.webhooks.change(
            by.tenant,
            endpoint,
            lambda held: HeldEndpoint(
                endpoint=replace(held.endpoint, both_until=until), secret=sealed, old_secret=held.secret
            ),
        )

    changed = server.vault.sealing(work)
    server.audit.note(by.tenant, by.actor, "webhook.secret_rotated", endpoint)
    return changed, secret


def remove_endpoint(server: Server, by: Principal, endpoint: str) -> WebhookEndpoint:
    """Raises: ThingNotFound."""
    removed = server.webhooks.remove(by.tenant, endpoint)
    server.audit.note(by.tenant, by.actor, "webhook.removed", endpoint, url=shown_url(removed.url))
    return removed


def ping(server: Server, by: Principal, endpoint: str) -> Delivery:
    """Send a message that only tries the endpoint, also one that is switched off. Raises: ThingNotFound."""
    found = server.webhooks.held(by.tenant, endpoint).endpoint
    announcement = Announcement(
        tenant=by.tenant,
        message=server.ids.new("msg"),
        kind=PING,
        at=moment_of(server.clock.now()),
        payload={"endpoint_id": endpoint},
    )
    delivery = delivery_of(server, announcement, found)
    server.webhooks.add_delivery(delivery)
    return delivery


def resend(server: Server, by: Principal, endpoint: str, delivery: str) -> Delivery:
    """Send an ended delivery once more, under the same message id. Raises: ThingNotFound, Conflict."""
    server.webhooks.held(by.tenant, endpoint)
    now = moment_of(server.clock.now())
    return server.webhooks.try_again(by.tenant, endpoint, delivery, now)


def delivery_of(server: Server, announcement: Announcement, endpoint: WebhookEndpoint) -> Delivery:
    """The announcement on its way to one endpoint."""
    return Delivery(
        delivery=server.ids.new("delivery"),
        tenant=announcement.tenant,
        endpoint=endpoint.endpoint,
        message=announcement.message,
        kind=announcement.kind,
        body=_body(announcement.kind, announcement.at, announcement.payload),
        state="waiting",
        created_at=announcement.at,
        next_at=moment_of(server.clock.now()),
    )


def shown_url(url: str) -> str:
    """Without its query, in which some receivers want a secret."""
    return url.partition("?")[0]


def _checked(settings: ServerSettings, url: str) -> str:
    networks = tuple(map(parsed_network, settings.webhook_networks))
    return checked_url(url, settings.webhook_schemes, networks)


def _sorted(kinds: Sequence[WebhookKind]) -> tuple[WebhookKind, ...]:
    return tuple(sorted(set(kinds)))


def _changed(endpoint: WebhookEndpoint, change: EndpointChange, now: str) -> WebhookEndpoint:
    changed = replace(
        endpoint,
        url=endpoint.url if change.url is None else change.url,
        kinds=endpoint.kinds if change.kinds is None else _sorted(change.kinds),
        description=endpoint.description if change.description is None else change.description,
    )
    if change.is_on is None or change.is_on == endpoint.is_on:
        return changed
    if change.is_on:
        return replace(changed, off_reason=None, off_at=None, failing_since=None)
    return replace(changed, off_reason="operator", off_at=now)


def _sealed(server: Server, endpoint: WebhookEndpoint, secret: str) -> Sealed:
    return server.vault.seal(secret, secret_bound_to(endpoint.tenant, endpoint.endpoint))


def _body(kind: str, at: str, payload: Mapping[str, object]) -> str:
    return json.dumps({"type": kind, "timestamp": at, "data": payload}, separators=(",", ":"))
