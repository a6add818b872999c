"""What is sent to customers' own systems: where to, how it is signed, and when it is tried again."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import ipaddress
from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import urlsplit

from corpus2skill.domain.net_addresses import is_public
from corpus2skill.errors import InvalidInput

WebhookKind = Literal[
    "compilation.succeeded",
    "compilation.failed",
    "compilation.paused",
    "version.published",
    "run.not_found",
    "feedback.negative",
]
WEBHOOK_KINDS: tuple[WebhookKind, ...] = get_args(WebhookKind)
PING = "ping"
"""Kind of a message that only tries whether an endpoint answers; it is not subscribed to."""
DeliveryState = Literal["waiting", "delivered", "given_up"]
OffReason = Literal["operator", "failing", "gone"]
"""Why nothing is sent: an operator's wish; it failed for days; it answered that it is gone (410)."""

SECRET_PREFIX = "whsec_"  # noqa: S105 - how a secret begins, after Standard Webhooks
BOTH_SIGN_SECONDS = 24 * 3600.0
"""After a change of the secret, the old one signs as well."""
OFF_AFTER_SECONDS = 3 * 24 * 3600.0
"""An endpoint that has failed for so long, without one success, is switched off."""
RETRY_SECONDS = (5.0, 60.0, 300.0, 1_800.0, 7_200.0, 18_000.0, 28_800.0, 28_800.0)
"""From one try to the next: nine tries in about a day."""
_JITTER = 0.2
MOST_RETRY_AFTER = 3_600.0
MOST_ENDPOINTS = 20
"""Of one tenant."""
MOST_URL = 2_000
_METADATA = frozenset({"168.63.129.16"})
"""Services of cloud machines at addresses that are the internet's by their number."""
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookEndpoint:
    """Where a tenant wants to be told."""

    endpoint: str
    """`webhook_...`"""
    tenant: str
    url: str
    kinds: tuple[WebhookKind, ...]
    description: str
    created_at: str
    """RFC 3339 in UTC with milliseconds; so the others."""
    created_by: str
    off_reason: OffReason | None = None
    """None: it is on."""
    off_at: str | None = None
    failing_since: str | None = None
    """When the first try failed after the last success; None where the last one went well."""
    both_until: str | None = None
    """Until then the secret before the present one signs as well."""

    @property
    def is_on(self) -> bool:
        return self.off_reason is None


NoAnswer = Literal["timeout", "refused_address", "unreachable", "unresolved", "tls", "protocol"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryTry:
    at: str
    status: int | None = None
    """Of the answer; None where there was none."""
    code: NoAnswer | None = None
    """Why there was none."""
    ms: int = 0

    @property
    def is_good(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One message on its way to one endpoint."""

    delivery: str
    """`delivery_...`"""
    tenant: str
    endpoint: str
    message: str
    """`msg_...`: the same for every endpoint and every try, so that a receiver knows it again."""
    kind: str
    body: str
    """What is sent, byte for byte."""
    state: DeliveryState
    created_at: str
    next_at: str | None
    """When it is tried next; None where it is not any more."""
    tries: tuple[DeliveryTry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookAnswer:
    """What came of sending."""

    status: int | None = None
    code: NoAnswer | None = None
    ms: int = 0
    retry_after: float | None = None


def checked_url(text: str, schemes: tuple[str, ...], networks: tuple[Network, ...]) -> str:
    """Return the URL of an endpoint.

    A host's name is looked at when it is called: where it leads may change.

    Raises:
        InvalidInput: it is none, is of another scheme, has a name or password in it, or is an address that
            may not be called.
    """
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise InvalidInput("webhook_url") from None
    is_plain = text.isascii() and text.isprintable() and not set(text) & set(' "<>\\^`{|}')
    if not host or not is_plain or parts.fragment or parts.username is not None or len(text) > MOST_URL:
        raise InvalidInput("webhook_url")
    if parts.scheme not in schemes:
        raise InvalidInput("webhook_scheme", wanted=", ".join(schemes))
    if _is_address(host) and not may_call(host, networks):
        raise InvalidInput("webhook_private", host=host)
    return text


def may_call(address: str, networks: tuple[Network, ...]) -> bool:
    """True for an IP address of the internet, or of one of the networks that the operator allows."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    inner = mapped or found
    if any(inner.version == network.version and inner in network for network in networks):
        return True
    return is_public(str(inner)) and str(inner) not in _METADATA


def parsed_network(text: str) -> Network:
    """Raises: ValueError: it is no network as `10.1.0.0/16`."""
    return ipaddress.ip_network(text)


def new_secret(random: bytes) -> str:
    return SECRET_PREFIX + base64.b64encode(random).decode("ascii")


def secret_bound_to(tenant: str, endpoint: str) -> tuple[str, ...]:
    """What a sealed secret is bound to: copied to another endpoint it cannot be opened."""
    return ("webhook-secret", tenant, endpoint)


def signature(secret: str, message: str, timestamp: int, body: bytes) -> str:
    """`v1,...`: HMAC-SHA256 over `id.timestamp.body`, after Standard Webhooks."""
    signed = b".".join((message.encode("ascii"), str(timestamp).encode("ascii"), body))
    digest = hmac.new(_key(secret), signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode('ascii')}"


def seconds_to_next(tries: int, chance: float, retry_after: float | None) -> float | None:
    """How long to wait after so many tries; None: it is given up. `chance` is from 0 to 1."""
    if tries > len(RETRY_SECONDS):
        return None
    usual = RETRY_SECONDS[tries - 1] * (1 + _JITTER * (2 * chance - 1))
    return max(usual, min(retry_after or 0.0, MOST_RETRY_AFTER))


def _key(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError("no secret of a webhook") from error


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True
