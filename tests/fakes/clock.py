"""Time and ids that a test decides."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

START = datetime(2026, 4, 1, 9, 0, tzinfo=UTC)


class FakeClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def advance(self, seconds: float) -> None:
        self._seconds += seconds

    def now(self) -> datetime:
        return START + timedelta(seconds=self._seconds)

    def monotonic(self) -> float:
        return self._seconds


class FakeIds:
    """`run_1`, `run_2`, ..."""

    def __init__(self) -> None:
        self._count = 0

    def new(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}_{self._count}"
