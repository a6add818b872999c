"""Titles and summaries of chunks (the article, Step 3)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from corpus2skill.domain.chunk import Chunk, ChunkSummary


class Summarizer(Protocol):
    """Says in a title and a summary what a chunk holds, in the chunk's language."""

    @property
    def identity(self) -> str:
        """Engine, model and prompt version; summaries of another identity are not reused."""
        ...

    def summarize(self, chunks: Sequence[Chunk]) -> AsyncIterator[ChunkSummary]:
        """Yield one summary for each chunk, in the order of `chunks`, as they are ready.

        Titles have at most 40 and summaries at most 160 characters, both are one line and not empty. They
        depend on the chunk's text, headings and table header alone.

        Raises:
            ModelError: a call failed for good; nothing is made up for it.
        """
        ...
