"""How the batches of a fake go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


def _never(_custom_id: str) -> bool:
    return False


def _reversed(names: Sequence[str]) -> list[str]:
    """Results come in no promised order: a client that relies on it fails here."""
    return list(reversed(names))


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlan:
    """Progress is counted in looks, not in seconds, so that a test needs no clock."""

    polls: int = 0
    """Looks at a batch that still find it in progress."""
    expires: Callable[[str], bool] = _never
    """Requests (by custom id) that expire instead of being answered."""
    order: Callable[[Sequence[str]], list[str]] = _reversed
    """Custom ids in the order in which the results are listed."""
    fails: bool = False
    """OpenAI: the whole batch fails at validation."""
