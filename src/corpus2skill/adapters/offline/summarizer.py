"""Extractive titles and summaries: sentences of the chunk itself, nothing made up."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from corpus2skill.adapters.offline.shortening import one_line, shortened
from corpus2skill.domain.chunk import SUMMARY_LIMIT, TITLE_LIMIT, Chunk, ChunkSummary


class OfflineSummarizer:
    """A `Summarizer` that needs no language model."""

    @property
    def identity(self) -> str:
        return "offline-1"

    async def summarize(self, chunks: Sequence[Chunk]) -> AsyncIterator[ChunkSummary]:
        """Yield one summary for each chunk, in the order of `chunks`."""
        for chunk in chunks:
            text = one_line(chunk.text) or chunk.chunk_id
            yield ChunkSummary(title=shortened(one_line((chunk.place.headings or (text,))[-1]), TITLE_LIMIT), summary=shortened(text, SUMMARY_LIMIT))
