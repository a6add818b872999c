"""From bytes to text."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from corpus2skill.domain.corpus import ExtractedText, SourceFile, SourceReport


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

    def members(self, file: SourceFile) -> AsyncIterator[SourceFile | SourceReport]:
        """Yield the documents within an archive or a mail, those of archives in it too; nothing for other files.

        Each is named `<source>/<member>`; none of the names leads out of its container. A report stands for a
        member that cannot be taken and, under an archive's own name with the verdict `archive`, for the
        archive once all of it was read: unlike a mail it has no text of its own. Depth, count and bytes
        are bounded for the container as a whole.

        Raises:
            SourceRefused: the container as a whole is `corrupt` or `too_large`; what was not yielded is unknown.
        """
        ...
