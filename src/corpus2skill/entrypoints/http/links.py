"""Addresses of the server's own things as a caller sees them, also below a proxy's sub-path."""

from __future__ import annotations

from starlette.requests import Request


def link(request: Request, path: str) -> str:
    """Return `path` (`/v1/...`) with the sub-path before it; for `Location` and links in answers."""
    return f"{request.scope.get('root_path', '')}{path}"
