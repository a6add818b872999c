"""Numbers for those who watch over the server. Never a name of a tenant, a person or a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Measures(Protocol):
    """Counts what happens in this process. Every method is quick and never fails."""

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request was answered. `route` is its template; `status` 0 where the caller went away before."""
        ...

    def run(
        self,
        outcome: str,
        seconds: float,
        *,
        model: str,
        input_tokens: int,
        output_tokens: int,
        dollars: float | None,
    ) -> None:
        """A run ended and was recorded."""
        ...

    def exposition(self, *, watchers: int, jobs: Mapping[str, int]) -> bytes:
        """All counts in the text format of Prometheus; how many watch now, and jobs by state, are given."""
        ...
