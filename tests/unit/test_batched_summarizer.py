"""A summarizer whose calls are paid ahead: the pipeline notices nothing but the time it takes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from corpus2skill.compiler.batched_summarizer import Ahead, BatchedSummarizer
from corpus2skill.domain.chunk import Chunk, Place
from corpus2skill.errors import ModelUnavailable
from tests.fakes.summarizer import FakeSummarizer

pytestmark = pytest.mark.anyio


def chunk(number: int) -> Chunk:
    text = f"第{number}条 年額プランの解約は、契約管理画面から行う。"
    return Chunk(
        chunk_id=f"chunk_{number}", source="規約.md", start=0, end=len(text), text=text, place=Place()
    )


class Paying:
    """What is called ahead; it notes what the summarizer within had been asked by then."""

    def __init__(self, within: FakeSummarizer, failure: Exception | None = None) -> None:
        self._within = within
        self._failure = failure
        self.paid: list[str] = []
        self.asked_before: list[str] = []

    async def __call__(self, chunks: Sequence[Chunk], /) -> None:
        self.asked_before += self._within.asked
        self.paid += [one.chunk_id for one in chunks]
        if self._failure is not None:
            raise self._failure


def batched(within: FakeSummarizer, ahead: Ahead) -> BatchedSummarizer:
    return BatchedSummarizer(within, ahead)


async def test_all_calls_are_paid_before_the_first_chunk_is_summarised() -> None:
    """Issue 4, batch mode: the usual summarizer finds the replies in the result store."""
    within = FakeSummarizer()
    paying = Paying(within)
    chunks = [chunk(number) for number in range(5)]
    said = [summary async for summary in batched(within, paying).summarize(chunks)]
    assert [summary.title[:3] for summary in said] == [f"第{number}条" for number in range(5)]
    assert paying.paid == within.asked == [one.chunk_id for one in chunks]
    assert paying.asked_before == []


async def test_nothing_is_summarised_where_paying_failed() -> None:
    """The port: a failure goes up; nothing is made up for it."""
    within = FakeSummarizer()
    failing = Paying(within, ModelUnavailable("batch_overdue", batch="b", model="m", hours=25))
    with pytest.raises(ModelUnavailable):
        _ = [summary async for summary in batched(within, failing).summarize([chunk(1)])]
    assert within.asked == []


async def test_no_chunk_is_no_batch_and_the_identity_is_that_within() -> None:
    """A batch says the same as single calls: its summaries are reused without `--batch`, and the other way."""
    within = FakeSummarizer()
    paying = Paying(within)
    summarizer = batched(within, paying)
    assert [summary async for summary in summarizer.summarize(())] == []
    assert paying.paid == []
    assert summarizer.identity == within.identity
