"""A summarizer that takes the first words of a chunk and remembers what it was asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from corpus2skill.domain.chunk import SUMMARY_LIMIT, TITLE_LIMIT, Chunk, ChunkSummary
from corpus2skill.domain.node_file import one_line
from corpus2skill.errors import ModelError


class FakeSummarizer:
    """Says the beginning of each chunk; with `failing_at` its call for that chunk fails for good."""

    identity = "fake-1"

    def __init__(self, *, failing_at: str | None = None) -> None:
        self.failing_at = failing_at
        self.asked: list[str] = []
        """Chunk ids, in the order asked for."""

    async def summarize(self, chunks: Sequence[Chunk]) -> AsyncIterator[ChunkSummary]:
        for chunk in chunks:
            self.asked.append(chunk.chunk_id)
            if chunk.chunk_id == self.failing_at:
                raise ModelError
            text = one_line(chunk.text) or "-"
            words = f"Only choices: {text}" if chunk.is_choices_only else text
            yield ChunkSummary(title=text[:TITLE_LIMIT].strip(), summary=words[:SUMMARY_LIMIT].strip())
