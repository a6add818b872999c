"""How long an endpoint may take. No library is imported here, so that settings can name these."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds."""

    connect: float = 10.0
    reply: float = 600.0
    """For a whole reply that is not streamed; local models are slow."""
    silence: float = 120.0
    """Between two pieces of a stream."""
