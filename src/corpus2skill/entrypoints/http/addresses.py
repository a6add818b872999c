"""Addresses of ours as the one who asks reaches them."""

from __future__ import annotations

from fastapi import Request


def absolute(request: Request, path: str) -> str:
    """The whole address of a path below the server's own, by the name and sub-path of this request."""
    return f"{str(request.base_url).rstrip('/')}{path}"


def below(request: Request, path: str) -> str:
    """The same without scheme and name."""
    return f"{request.scope.get('root_path', '')}{path}"
