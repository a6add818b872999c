"""What is told to the customers' own systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Announcer(Protocol):
    """Takes an announcement and sees to its delivery later; never waits for anybody and never fails the caller."""

    def announce(self, tenant: str, kind: str, payload: Mapping[str, object]) -> None:
        """Note that `kind` (`compilation.succeeded`, `version.published`, `run.not_found`, ...) happened.

        `payload` is plain JSON: ids and counts, no text of documents or conversations.
        """
        ...
