"""Addresses of other people's servers: which of them may be called for a customer."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from urllib.parse import urlsplit

from corpus2skill.errors import ModelUnavailable, UnusableSettings

Resolve = Callable[[str], tuple[str, ...]]
"""From a host's name to its addresses. Raises OSError: it has none."""
_EMBEDDING = ipaddress.IPv6Network("64:ff9b::/96")
"""Addresses of version 4 behind a translator."""


def check_public(url: str, resolve: Resolve) -> None:
    """Look where a URL leads: a customer may not have the server call machines of the operator's own network.

    Raises:
        UnusableSettings: it is no URL of a web server, or leads to a private, local or reserved address.
        ModelUnavailable: its name cannot be resolved now.
    """
    host = host_of(url)
    try:
        addresses = resolve(host)
    except (OSError, UnicodeError) as error:
        raise ModelUnavailable("host_unresolved", is_unreachable=True, host=host) from error
    for address in addresses:
        if not is_public(address):
            raise UnusableSettings("endpoint_private", host=host)


def host_of(url: str) -> str:
    """Raises: UnusableSettings: it is no URL of a web server, or has a name or password in it."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host, parts = "", None
    is_plain = url.isascii() and url.isprintable() and " " not in url
    if parts is None or not host or not is_plain or parts.scheme not in ("http", "https"):
        raise UnusableSettings("endpoint_unusable")
    if parts.username is not None or parts.query or parts.fragment:
        raise UnusableSettings("endpoint_unusable")
    return host


def is_public(address: str) -> bool:
    """True where an IP address is one of the internet's."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    inner = _inside(found) if isinstance(found, ipaddress.IPv6Address) else None
    if inner is not None:
        return is_public(str(inner))
    return found.is_global and not found.is_multicast and not found.is_reserved


def _inside(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The address of version 4 that one of version 6 leads to."""
    if address.ipv4_mapped is not None or address.sixtofour is not None:
        return address.ipv4_mapped or address.sixtofour
    if address in _EMBEDDING:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return None
