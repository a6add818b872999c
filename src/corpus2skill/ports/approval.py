"""The question that stands before the first paid call."""

from __future__ import annotations

from typing import Protocol

from corpus2skill.domain.job import CompilePlan


class Approval(Protocol):
    """Looks at what is to be done and lets it go on, or raises."""

    async def __call__(self, plan: CompilePlan, /) -> None:
        """Return where the plan may be carried out.

        Raises:
            ConfirmationNeeded: it costs, and nobody said yes to it.
            ModelError: it cannot be done with the models as they are configured.
        """
        ...


async def unasked(_plan: CompilePlan, /) -> None:
    """The approval of what costs nothing."""
