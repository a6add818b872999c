"""The processes that carry out jobs. They belong to the server, not to a tenant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """One process, from its start to its end."""

    worker: str
    """Its id, never used again."""
    place: str
    """The machine and the server's folder on it: of one place only one worker is alive."""
    release: str
    """Of the product."""
    started_at: str
    beats: int = 0
    """Grows while it lives."""
    seen_at: str = ""
    """When it last said so, by its own clock."""
    ended_at: str | None = None
    """When it went, or was found gone."""


class WorkerStore(Protocol):
    def arrive(self, worker: Worker) -> None: ...

    def beat(self, worker: str, at: str) -> None:
        """Say that it lives."""
        ...

    def leave(self, worker: str, at: str) -> None:
        """Note that it is gone; the first time stays."""
        ...

    def alive(self) -> tuple[Worker, ...]:
        """Those that nobody saw leave, oldest first. Whether they live is told by whether their beats grow."""
        ...


class Presence(Protocol):
    """What a living process holds, and the system or the database lets go of when it dies."""

    def hold(self, worker: str) -> bool:
        """Hold the place of this worker; False where another process still holds it."""
        ...

    def is_gone(self, worker: Worker) -> bool | None:
        """True where that worker certainly is dead, False where it certainly lives; None: nobody knows."""
        ...

    def release(self) -> None: ...
