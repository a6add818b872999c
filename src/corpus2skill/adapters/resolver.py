"""Names of hosts, as the system resolves them."""

from __future__ import annotations

import socket


def system_resolver(host: str) -> tuple[str, ...]:
    """All addresses of a host. Raises OSError: it has none."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))
