"""Step 3: a title and a summary for every chunk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from corpus2skill.domain.chunk import SUMMARY_LIMIT, TITLE_LIMIT, Chunk, ChunkSummary, SummarizedChunk
from corpus2skill.errors import BadReply
from corpus2skill.ports.summarizer import Summarizer


async def summarize_chunks(
    chunks: Sequence[Chunk],
    summarizer: Summarizer,
    known: Mapping[str, ChunkSummary],
    progress: Callable[[int, int], None],
) -> tuple[SummarizedChunk, ...]:
    """Return each chunk with its summary, in order.

    `known` maps fingerprints to summaries that the same summarizer made before: they are not made again,
    and chunks of one fingerprint share one.

    Raises:
        ModelError: the summarizer failed for good, or broke its promise (`BadReply`).
    """
    summaries = dict(known)
    fingerprints = [chunk.fingerprint for chunk in chunks]  # worked out anew each time it is asked for
    first_of_its_kind = dict(zip(reversed(fingerprints), reversed(chunks), strict=True))
    waiting = {
        fingerprint: chunk
        for fingerprint, chunk in zip(fingerprints, chunks, strict=True)
        if fingerprint not in summaries and first_of_its_kind[fingerprint] is chunk
    }
    progress(0, len(waiting))
    left = iter(waiting.items())
    done = 0
    async for summary in summarizer.summarize(tuple(waiting.values())):
        if done == len(waiting):
            raise BadReply("summaries_missing", wanted=len(waiting), came=done + 1)
        fingerprint, chunk = next(left)
        summaries[fingerprint] = _checked(summary, chunk)
        done += 1
        progress(done, len(waiting))
    if done != len(waiting):
        raise BadReply("summaries_missing", wanted=len(waiting), came=done)
    return tuple(
        SummarizedChunk(chunk=chunk, summary=summaries[fingerprint])
        for fingerprint, chunk in zip(fingerprints, chunks, strict=True)
    )


def _checked(summary: ChunkSummary, chunk: Chunk) -> ChunkSummary:
    for text, limit in ((summary.title, TITLE_LIMIT), (summary.summary, SUMMARY_LIMIT)):
        if not text.strip() or len(text) > limit or "\n" in text:
            raise BadReply("summary_out_of_form", chunk=chunk.chunk_id, text=text, limit=limit)
    return summary
