"""Summaries in steps of so many, behind each of which the work is known to be done."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence

from corpus2skill.domain.chunk import Chunk, ChunkSummary
from corpus2skill.ports.steps import Steps
from corpus2skill.ports.summarizer import Summarizer

STEP = 50
"""Summaries: a step for each of them would cost more than the summary's own bookkeeping (design, section 6)."""


class StepwiseSummarizer:
    """The `Summarizer` within, drawn on in steps. Between two steps its calls go on: no step waits for a slot.

    A step that failed is done again from its first chunk; what was paid for is answered from the result store.
    """

    def __init__(self, within: Summarizer, steps: Steps, size: int = STEP) -> None:
        self._within = within
        self._steps = steps
        self._size = size

    @property
    def identity(self) -> str:
        return self._within.identity

    async def summarize(self, chunks: Sequence[Chunk]) -> AsyncGenerator[ChunkSummary, None]:
        """Yield one summary for each chunk, in the order of `chunks`.

        Raises:
            as the one within.
        """
        source = _Source(self._within, chunks)
        done = 0
        try:
            while done < len(chunks):
                first = done
                some = await self._steps.run(
                    "summarize", lambda first=first: source.take(first, self._size), len
                )
                for summary in some:
                    yield summary
                done += len(some)
                if not some:
                    return
        finally:
            await source.close()


class _Source:
    """Where the summaries come from; begun anew at the chunk asked for after it broke."""

    def __init__(self, within: Summarizer, chunks: Sequence[Chunk]) -> None:
        self._within = within
        self._chunks = chunks
        self._stream: AsyncIterator[ChunkSummary] | None = None
        self._taken = 0

    async def take(self, first: int, size: int) -> list[ChunkSummary]:
        """The next `size` summaries from chunk `first` on; fewer only at the end."""
        if self._stream is None or self._taken != first:
            await self.close()
            self._stream = self._within.summarize(self._chunks[first:])
            self._taken = first
        stream, some = self._stream, list[ChunkSummary]()
        try:
            while len(some) < size:
                some.append(await anext(stream))
        except StopAsyncIteration:
            pass
        except BaseException:
            self._stream = None
            raise
        self._taken = first + len(some)
        return some

    async def close(self) -> None:
        stream, self._stream = self._stream, None
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()
