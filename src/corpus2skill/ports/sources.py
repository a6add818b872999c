"""Where source documents come from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from corpus2skill.domain.corpus import SourceFile, SourceReport


class SourceReader(Protocol):
    """The documents of one corpus."""

    def find(self) -> Iterator[str | SourceReport]:
        """Yield source names in a fixed order, and a report for each thing passed over.

        Names are unique: a path below the folder, `/` between parts, NFC. A report here has a `Skip`
        verdict (hidden, link, special) or `unreadable` (a folder that cannot be listed).
        """
        ...

    def read(self, source: str) -> SourceFile:
        """Return the bytes of one source.

        Raises:
            SourceRefused: `unreadable`, `vanished` or `too_large`.
        """
        ...

    def covers(self, source: str) -> bool:
        """True where `source`, known from an earlier version, lies under a folder that could be listed.

        What is covered and no longer found was removed by its owner; what is not covered is only out of
        sight and must be kept.
        """
        ...
