"""Summaries whose calls are paid for ahead, through batches."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

from corpus2skill.domain.chunk import Chunk, ChunkSummary
from corpus2skill.ports.summarizer import Summarizer

Ahead = Callable[[Sequence[Chunk]], Awaitable[None]]
"""Sees that the first calls of chunks are answered in the result store, as far as that can be done together."""


class BatchedSummarizer:
    """The `Summarizer` within, begun once its first calls are answered.

    It then finds its replies in the result store, and asks singly for what is missing or cannot be used. Its
    identity is that of the one within: the same model says the same, whatever way it is paid.
    """

    def __init__(self, within: Summarizer, ahead: Ahead) -> None:
        self._within = within
        self._ahead = ahead

    @property
    def identity(self) -> str:
        return self._within.identity

    async def summarize(self, chunks: Sequence[Chunk]) -> AsyncGenerator[ChunkSummary, None]:
        """Yield one summary for each chunk, in the order of `chunks`.

        Raises:
            ModelError, SpendingCapReached: no summary was yielded yet; batches under way stay with the provider.
        """
        if chunks:
            await self._ahead(chunks)
        summaries = self._within.summarize(chunks)
        try:
            async for summary in summaries:
                yield summary
        finally:
            if isinstance(summaries, AsyncGenerator):
                await summaries.aclose()
