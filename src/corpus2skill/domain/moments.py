"""Times as they are kept: RFC 3339 in UTC with milliseconds, so that they sort as text."""

from __future__ import annotations

from datetime import UTC, datetime


def moment_of(time: datetime) -> str:
    """`2026-04-01T09:30:00.000Z` of a time with a zone."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
