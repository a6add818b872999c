"""`/v1/webhook-endpoints`: where customers' systems are told what happened."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from corpus2skill.application.server import webhooks
from corpus2skill.domain.webhook import (
    Delivery,
    DeliveryState,
    NoAnswer,
    OffReason,
    WebhookEndpoint,
    WebhookKind,
)
from corpus2skill.entrypoints.http.bodies import RequestBody
from corpus2skill.entrypoints.http.caller import Admin, TheServer
from corpus2skill.entrypoints.http.idempotency import IdempotentRoute
from corpus2skill.entrypoints.http.ids import Id
from corpus2skill.entrypoints.http.links import link
from corpus2skill.entrypoints.http.paging import Cursor, Limit, Page, page

router = APIRouter(prefix="/webhook-endpoints", tags=["webhooks"], route_class=IdempotentRoute)

_Url = Annotated[
    str, Field(min_length=1, max_length=2_000, examples=["https://example.jp/hooks/corpus2skill"])
]
_Kinds = Annotated[list[WebhookKind], Field(min_length=1, max_length=20)]
_Description = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]


class WebhookEndpointBody(BaseModel):
    endpoint_id: str
    url: str
    kinds: list[WebhookKind]
    description: str
    created_at: str
    created_by: str
    is_on: bool
    off_reason: OffReason | None
    """`operator`: somebody switched it off. `failing`: nothing but failures for three days. `gone`: it answered 410."""
    off_at: str | None
    failing_since: str | None
    """Since when every try has failed; null where the last one went well."""
    both_secrets_until: str | None
    """Until then the secret before the present one signs as well."""


class NewWebhookEndpointBody(WebhookEndpointBody):
    secret: str
    """`whsec_...`: shown here and never again."""


class WebhookEndpointRequest(RequestBody):
    url: _Url
    """`https://`; its address must be one of the internet's unless the operator allows another network."""
    kinds: _Kinds
    description: _Description = ""


class WebhookEndpointChange(RequestBody):
    """What is left out, or null, stays as it is."""

    url: _Url | None = None
    kinds: _Kinds | None = None
    description: _Description | None = None
    is_on: bool | None = None


class DeliveryTryBody(BaseModel):
    at: str
    status: int | None
    """Of the answer; null where there was none."""
    code: NoAnswer | None
    """Why there was no answer."""
    ms: int


class WebhookDeliveryBody(BaseModel):
    delivery_id: str
    message_id: str
    """What was sent as `webhook-id`: the same with every try."""
    kind: str
    state: DeliveryState
    created_at: str
    next_at: str | None
    """When it is tried next."""
    tries: list[DeliveryTryBody]
    """Oldest first, the last twenty."""


class WholeDeliveryBody(WebhookDeliveryBody):
    body: str
    """What is sent, byte for byte."""


@router.get("")
def list_webhook_endpoints(principal: Admin, server: TheServer) -> Page[WebhookEndpointBody]:
    """All endpoints of the tenant, the oldest first."""
    return Page(data=[_body(found) for found in server.webhooks.endpoints(principal.tenant)])


@router.post("", status_code=201)
def create_webhook_endpoint(
    wanted: WebhookEndpointRequest, request: Request, response: Response, principal: Admin, server: TheServer
) -> NewWebhookEndpointBody:
    """Add an endpoint. Its secret is in this answer and never to be had again."""
    made, secret = webhooks.add_endpoint(server, principal, wanted.url, wanted.kinds, wanted.description)
    response.headers["Location"] = link(request, f"/v1/webhook-endpoints/{made.endpoint}")
    return _new_body(made, secret)


@router.get("/{endpoint_id}")
def show_webhook_endpoint(endpoint_id: Id, principal: Admin, server: TheServer) -> WebhookEndpointBody:
    """One endpoint."""
    return _body(server.webhooks.held(principal.tenant, endpoint_id).endpoint)


@router.patch("/{endpoint_id}")
def change_webhook_endpoint(
    endpoint_id: Id, wanted: WebhookEndpointChange, principal: Admin, server: TheServer
) -> WebhookEndpointBody:
    """Change an endpoint. What waits for one that is switched off is given up; it can be sent again."""
    change = webhooks.EndpointChange(
        url=wanted.url,
        kinds=None if wanted.kinds is None else tuple(wanted.kinds),
        description=wanted.description,
        is_on=wanted.is_on,
    )
    return _body(webhooks.change_endpoint(server, principal, endpoint_id, change))


@router.delete("/{endpoint_id}")
def remove_webhook_endpoint(endpoint_id: Id, principal: Admin, server: TheServer) -> WebhookEndpointBody:
    """Remove an endpoint with its deliveries."""
    return _body(webhooks.remove_endpoint(server, principal, endpoint_id))


@router.post("/{endpoint_id}/rotate-secret", status_code=201)
def rotate_webhook_secret(
    endpoint_id: Id, request: Request, response: Response, principal: Admin, server: TheServer
) -> NewWebhookEndpointBody:
    """Make a new secret. For 24 hours messages carry two signatures, so that none is lost on the way."""
    made, secret = webhooks.rotate_secret(server, principal, endpoint_id)
    response.headers["Location"] = link(request, f"/v1/webhook-endpoints/{made.endpoint}")
    return _new_body(made, secret)


@router.post("/{endpoint_id}/ping", status_code=202)
def ping_webhook_endpoint(
    endpoint_id: Id, request: Request, response: Response, principal: Admin, server: TheServer
) -> WebhookDeliveryBody:
    """Send a message of kind `ping`, once; also to an endpoint that is switched off."""
    delivery = webhooks.ping(server, principal, endpoint_id)
    response.headers["Location"] = _place(request, delivery)
    return _delivery(delivery)


@router.get("/{endpoint_id}/deliveries")
def list_webhook_deliveries(
    endpoint_id: Id,
    principal: Admin,
    server: TheServer,
    state: Annotated[DeliveryState | None, Query()] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[WebhookDeliveryBody]:
    """What was sent, and what waits, the newest first."""
    server.webhooks.held(principal.tenant, endpoint_id)
    found = server.webhooks.deliveries(
        principal.tenant, endpoint_id, state=state, before=cursor, limit=limit + 1
    )
    return page(found, limit, _delivery, lambda one: one.delivery)


@router.get("/{endpoint_id}/deliveries/{delivery_id}")
def show_webhook_delivery(
    endpoint_id: Id, delivery_id: Id, principal: Admin, server: TheServer
) -> WholeDeliveryBody:
    """One delivery with what is sent."""
    found = server.webhooks.delivery(principal.tenant, endpoint_id, delivery_id)
    return WholeDeliveryBody(**_delivery(found).model_dump(), body=found.body)


@router.post("/{endpoint_id}/deliveries/{delivery_id}/resend", status_code=202)
def resend_webhook_delivery(
    endpoint_id: Id,
    delivery_id: Id,
    request: Request,
    response: Response,
    principal: Admin,
    server: TheServer,
) -> WebhookDeliveryBody:
    """Send a delivery that has ended once more, under the same message id; 409 while it waits."""
    delivery = webhooks.resend(server, principal, endpoint_id, delivery_id)
    response.headers["Location"] = _place(request, delivery)
    return _delivery(delivery)


def _place(request: Request, delivery: Delivery) -> str:
    return link(request, f"/v1/webhook-endpoints/{delivery.endpoint}/deliveries/{delivery.delivery}")


def _body(endpoint: WebhookEndpoint) -> WebhookEndpointBody:
    return WebhookEndpointBody(
        endpoint_id=endpoint.endpoint,
        url=endpoint.url,
        kinds=list(endpoint.kinds),
        description=endpoint.description,
        created_at=endpoint.created_at,
        created_by=endpoint.created_by,
        is_on=endpoint.is_on,
        off_reason=endpoint.off_reason,
        off_at=endpoint.off_at,
        failing_since=endpoint.failing_since,
        both_secrets_until=endpoint.both_until,
    )


def _new_body(endpoint: WebhookEndpoint, secret: str) -> NewWebhookEndpointBody:
    return NewWebhookEndpointBody(**_body(endpoint).model_dump(), secret=secret)


def _delivery(found: Delivery) -> WebhookDeliveryBody:
    return WebhookDeliveryBody(
        delivery_id=found.delivery,
        message_id=found.message,
        kind=found.kind,
        state=found.state,
        created_at=found.created_at,
        next_at=found.next_at,
        tries=[
            DeliveryTryBody(at=one.at, status=one.status, code=one.code, ms=one.ms) for one in found.tries
        ],
    )
