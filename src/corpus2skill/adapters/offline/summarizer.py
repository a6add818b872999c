"""Extractive titles and summaries: sentences of the chunk itself, nothing made up."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from corpus2skill.adapters.offline.excerpt import summary_of
from corpus2skill.adapters.offline.headline import title_of
from corpus2skill.adapters.offline.sentences import sentences
from corpus2skill.domain.chunk import Chunk, ChunkSummary


class OfflineSummarizer:
    """A `Summarizer` that needs no language model."""

    @property
    def identity(self) -> str:
        return "offline-1"

    async def summarize(self, chunks: Sequence[Chunk]) -> AsyncIterator[ChunkSummary]:
        """Yield one summary for each chunk, in the order of `chunks`."""
        for chunk in chunks:
            pieces = list(sentences(chunk.text, chunk.place.headings))
            yield ChunkSummary(title=title_of(chunk, pieces), summary=summary_of(chunk, pieces))
