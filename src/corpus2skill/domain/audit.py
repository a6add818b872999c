"""What operators did, one line each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """Something that somebody did to what belongs to a tenant. Never holds a secret or a document's text."""

    event: str
    """Its id, which sorts by time."""
    tenant: str
    at: str
    """RFC 3339 in UTC with milliseconds."""
    actor: str
    """Id of the person or token; `system` for what the server did by itself."""
    action: str
    """What was done, a key of `messages/` under `audit.`: `job.started`, `token.created`, ..."""
    object: str
    """Id or name of what it was done to."""
    values: tuple[tuple[str, str | int | float | bool | None], ...] = ()
    """Particulars: counts, names, from and to."""
