"""From bytes to text."""

from __future__ import annotations

from typing import Protocol

from corpus2skill.domain.corpus import ExtractedText, SourceFile


class Extractor(Protocol):
    """Reads every format that we read."""

    @property
    def identity(self) -> str:
        """Name and version; the same identity gives the same text for the same bytes."""
        ...

    async def extract(self, file: SourceFile) -> ExtractedText:
        """Return the text of `file`; never an empty one.

        Raises:
            SourceRefused: with any refusing verdict of `domain.corpus`.
        """
        ...
