"""The operators' log."""

from __future__ import annotations

from typing import Protocol

from corpus2skill.domain.audit import AuditEvent, AuditFilter


class AuditLog(Protocol):
    """Append-only: there is no way to change or remove an event; the database refuses it as well."""

    def note(
        self, tenant: str, actor: str, action: str, object_: str, **values: str | float | bool | None
    ) -> AuditEvent:
        """Append what was just done. `values` hold no secret and no text of documents or conversations."""
        ...

    def events(
        self,
        tenant: str,
        *,
        before: str | None = None,
        limit: int = 100,
        which: AuditFilter = AuditFilter(),
    ) -> tuple[AuditEvent, ...]:
        """The newest events first; `before` is the id of the oldest one seen so far."""
        ...
