"""Tokens that programs sign in with."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from corpus2skill.domain.people import Scope

TOKEN_PREFIX = "c2s_"  # noqa: S105 - how a token begins, so that scanners find leaked ones


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiToken:
    """A token as it is kept: the secret itself was shown once and is known to nobody."""

    token: str
    """Its id, `token_...`."""
    tenant: str
    name: str
    scopes: frozenset[Scope]
    beginning: str
    """The first characters of the secret, to tell tokens apart."""
    created_at: str
    created_by: str
    expires_at: str | None = None
    revoked_at: str | None = None
    last_used_at: str | None = None
    """To the minute."""


def token_digest(secret: str) -> str:
    """SHA-256 of a secret, hex. A secret has 256 random bits: nothing slower is needed to keep it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
