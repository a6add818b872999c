"""Texts that were read out of documents, kept so that nothing is read twice."""

from __future__ import annotations

from typing import Protocol

from corpus2skill.domain.corpus import ExtractedText, SourceFile
from corpus2skill.errors import SourceRefused


class TextStore(Protocol):
    """One tenant's texts. A document is known by its bytes and by what its name says it is."""

    def find(self, file: SourceFile, extractor: str) -> ExtractedText | SourceRefused | None:
        """What this extractor made of these bytes: the text, or why there is none; None: nobody knows yet."""
        ...

    def find_by(self, source: str, sha256: str, extractor: str) -> ExtractedText | SourceRefused | None:
        """As `find`, without the bytes."""
        ...

    def keep(self, file: SourceFile, extractor: str, found: ExtractedText | SourceRefused) -> None:
        """Keep what came out; that it cannot be kept harms nobody."""
        ...

    def forget(self, sha256: str) -> None:
        """Remove whatever came out of these bytes."""
        ...
