"""What the runs of one process have come to, and may come to with the round that each is in."""

from __future__ import annotations

from dataclasses import dataclass, field

from corpus2skill.domain.run import RunIds


@dataclass(slots=True)
class HeldMoney:
    """US dollars of runs under way. One for all runs of a process that share records."""

    _held: dict[RunIds, float] = field(default_factory=dict[RunIds, float])

    def hold(self, run: RunIds, dollars: float) -> None:
        """Set aside so much for `run`, in all."""
        self._held[run] = dollars

    def release(self, run: RunIds) -> None:
        """Hold nothing more: the run is recorded."""
        self._held.pop(run, None)

    def of_tenant(self, run: RunIds) -> float:
        """What is held for the tenant's other runs."""
        return sum(
            dollars for other, dollars in self._held.items() if other.tenant == run.tenant and other != run
        )

    def of_session(self, run: RunIds) -> float:
        """What is held for the session's other runs."""
        return sum(
            dollars
            for other, dollars in self._held.items()
            if (other.tenant, other.session) == (run.tenant, run.session) and other != run
        )
