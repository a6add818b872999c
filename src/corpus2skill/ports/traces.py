"""Traces of what was done, for those who watch over the server."""

from __future__ import annotations

from typing import Protocol

from corpus2skill.domain.run import RunRecord
from corpus2skill.domain.server_job import ServerJob


class Traces(Protocol):
    """Told of what has ended; never fails and never waits. No text of questions, answers or documents goes out."""

    def run(self, record: RunRecord) -> None:
        """A run with its rounds."""
        ...

    def job(self, job: ServerJob) -> None:
        """A compile with its stages, once it has ended."""
        ...
