"""The tokens that a provider says it used, as numbers that can be added, kept and paid by."""

from __future__ import annotations

_MOST = 1_000_000_000
"""No call has more: what is said beyond it would fit into no database."""


def token_count(said: object) -> int:
    """Return a count that a call can have: servers say nothing, negative numbers and text as well."""
    if not isinstance(said, int) or isinstance(said, bool):
        return 0
    return min(max(said, 0), _MOST)
