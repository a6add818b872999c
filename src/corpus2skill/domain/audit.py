"""What operators did, one line each."""

from __future__ import annotations

from dataclasses import dataclass

SYSTEM = "system"
"""The actor of what the server did by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Which events are meant. None: all."""

    action: str | None = None
    """As the event has it; with a dot at its end all that begin with it."""
    actor: str | None = None
    object: str | None = None
    since: str | None = None
    """RFC 3339 in UTC with milliseconds; so the next, which is not included."""
    until: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """Something that somebody did to what belongs to a tenant. Never holds a secret or a document's text."""

    event: str
    """Its id, which sorts by time."""
    tenant: str
    at: str
    """RFC 3339 in UTC with milliseconds."""
    actor: str
    """Id of the person or token; `cli:<user>` at the machine itself, `system` for what the server did by itself."""
    action: str
    """What was done, a key of `messages/` under `audit.`: `job.started`, `token.created`, ..."""
    object: str
    """Id or name of what it was done to."""
    values: tuple[tuple[str, str | int | float | bool | None], ...] = ()
    """Particulars: counts, names, from and to."""
