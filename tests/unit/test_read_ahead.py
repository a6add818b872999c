"""Sources are read ahead and judged in order: several at once, bounded, as if one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus2skill.compiler.extract import extract_sources
from corpus2skill.domain.corpus import ExtractedText, SourceFile, SourceReport
from corpus2skill.errors import SourceRefused
from tests.fakes.sources import FakeSources

pytestmark = pytest.mark.anyio


class SlowExtractor:
    """Finishes in an order of its own: a text is done when it has been given way to `delays[...]` times."""

    identity = "slow"

    def __init__(self, delays: Sequence[int] = (0,)) -> None:
        self._delays = delays
        self.begun: list[str] = []
        self.now = 0
        self.most_at_once = 0

    async def extract(self, file: SourceFile) -> ExtractedText:
        delay = self._delays[len(self.begun) % len(self._delays)]
        self.begun.append(file.source)
        self.now += 1
        self.most_at_once = max(self.most_at_once, self.now)
        try:
            for _ in range(delay):
                await asyncio.sleep(0)
        finally:
            self.now -= 1
        if file.data.startswith(b"bad"):
            raise SourceRefused("corrupt")
        return ExtractedText(text=file.data.decode("utf-8"))

    async def members(self, file: SourceFile) -> AsyncGenerator[SourceFile | SourceReport]:
        if file.source.endswith(".zip"):
            for number, line in enumerate(file.data.splitlines()):
                yield SourceFile(source=f"{file.source}/{number}", data=line, sha256=line.hex())
            yield SourceReport(source=file.source, verdict="archive")


async def reports(texts: dict[str, str], extractor: SlowExtractor) -> list[tuple[str, str]]:
    sources = await extract_sources(FakeSources(texts), extractor, {}, lambda *_: None)
    return [(report.source, report.verdict) for report in sources.reports]


CONTENTS = st.sampled_from(["一", "二", "三", "bad", "bad 2", "一\n二", "bad\n三\n三"])
NAMES = st.sampled_from(["a.txt", "b.txt", "c.zip", "d.txt", "e.zip", "f.txt", "g.txt", "h.txt", "i.txt"])


@given(st.dictionaries(NAMES, CONTENTS), st.lists(st.integers(0, 9), min_size=1))
def test_the_reports_are_those_of_reading_one_after_the_other(
    texts: dict[str, str], delays: list[int]
) -> None:
    """However long each takes, and whichever are copies, refused, or within archives."""
    ahead = asyncio.run(reports(texts, SlowExtractor(delays)))
    assert ahead == asyncio.run(reports(texts, SlowExtractor()))


async def test_several_are_read_at_once_and_never_many() -> None:
    """Processes work side by side; what waits is bounded."""
    extractor = SlowExtractor([50, 1, 1, 1, 1])
    await reports({f"{number:03}.txt": f"{number}" for number in range(200)}, extractor)
    assert 2 <= extractor.most_at_once <= 9


async def test_large_sources_are_not_read_far_ahead() -> None:
    """Memory is bounded by bytes, not only by number."""
    extractor = SlowExtractor([20])
    await reports({f"{number}.txt": f"{number}" + "一" * 11_000_000 for number in range(5)}, extractor)
    assert extractor.most_at_once <= 2


async def test_a_copy_of_what_is_being_read_is_not_read_again() -> None:
    """A folder of 10,000 copies costs one reading."""
    extractor = SlowExtractor([9])
    found = await reports({f"{number}.txt": "一" for number in range(50)}, extractor)
    assert len(extractor.begun) == 1
    assert [verdict for _, verdict in found] == ["accepted"] + ["duplicate"] * 49


async def test_what_is_under_way_is_cancelled_with_the_compile() -> None:
    """Issue 3: nothing outlives its limit; Ctrl-C cancels."""
    extractor = SlowExtractor([10**9])
    work = asyncio.ensure_future(reports({f"{number}.txt": f"{number}" for number in range(20)}, extractor))
    while not extractor.now:  # noqa: ASYNC110 - until the first is begun
        await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert extractor.now == 0


async def test_a_fault_that_is_no_refusal_ends_the_compile_and_all_under_way() -> None:
    """A bug shows itself; it is not taken for a bad document."""

    class Broken(SlowExtractor):
        async def extract(self, file: SourceFile) -> ExtractedText:
            if file.data == b"3":
                raise LookupError
            return await super().extract(file)

    extractor = Broken([20])
    with pytest.raises(LookupError):
        await reports({f"{number}.txt": f"{number}" for number in range(20)}, extractor)
    assert extractor.now == 0
