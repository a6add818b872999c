"""Where a request comes from, when nobody is signed in yet."""

from __future__ import annotations

from fastapi import Request

from corpus2skill.application.server.passwords import Visitor


def visitor_of(request: Request) -> Visitor:
    """Proxies that are trusted have put the address right before."""
    address = request.client.host if request.client is not None else ""
    return Visitor(address=address, agent=request.headers.get("user-agent", ""))
