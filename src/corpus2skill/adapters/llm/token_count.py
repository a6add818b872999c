"""The tokens that a provider says it used, as numbers that can be added, kept and paid by."""

from __future__ import annotations

_MOST = 1_000_000_000
"""No call has more: what is said beyond it would fit into no database."""


def token_count(said: object) -> int:
    """Return a count that a call can have: servers say nothing, negative numbers and text as well."""
    is_number = isinstance(said, int) and not isinstance(said, bool)
    return min(max(said, 0), _MOST) if is_number else 0
