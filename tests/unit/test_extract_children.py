"""Reading processes: bounded, replaced when they break a bound, gone when their owner is."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.adapters.extract.child_pool import ChildPool
from corpus2skill.adapters.extract.child_words import Reply, Text, receive, send
from corpus2skill.adapters.extract.extractors import Extractors, extract_document
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.domain.corpus import ExtractedText, Heading, Notice, Page, Region, SourceFile
from corpus2skill.errors import SourceRefused
from corpus2skill.messages import message
from tests.fakes.word_documents import paragraph, word_document

ROOT = Path(__file__).parent.parent.parent
SOON = 20.0
"""Seconds after which a process that should be gone is taken to live on."""
BAD = "tests.fakes.bad_readers"

TEXTS = st.text(st.characters(codec="utf-8"))

pytestmark = pytest.mark.anyio


def pool(*, seconds: float = 20, size: int = 2, grace: float = 20) -> ChildPool:
    limits = Limits(max_seconds=seconds, max_memory_bytes=150_000_000, max_output_bytes=1_000_000)
    return ChildPool(limits, size=size, extract=f"{BAD}:read", members=f"{BAD}:members", grace=grace)


def file(words: str | bytes, name: str = "a.pdf") -> SourceFile:
    data = words.encode() if isinstance(words, str) else words
    return SourceFile(source=name, data=data, sha256="")


async def outcome(children: ChildPool, words: str) -> str:
    """Return the text, or the refusal."""
    try:
        extracted = await children.extract(file(words))
    except SourceRefused as refusal:
        return f"{refusal}: {message('ja', refusal.code, **refusal.values)}"
    return extracted.text


def is_gone(process: int) -> bool:
    """Wait for a process, of ours or not, to end."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], SOON)[0])
    finally:
        os.close(handle)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("hang", "refused.too_large.time (limit=0.3)"),
        ("spin", "refused.too_large.time (limit=0.3)"),
        ("eat", "refused.too_large.memory (limit=150000000)"),
        ("flood", "refused.too_large.output (limit=1000000)"),
        ("babble", "refused.too_large.output (limit=1000000)"),
        ("crash", "refused.hostile.crash (reason='SIGSEGV')"),
        ("leave", "refused.hostile.crash (reason='exit 3')"),
        ("fail", "refused.corrupt.reader (error='KeyError bad_readers.py:"),
        ("refuse", "refused.too_large.pages (pages=6000, limit=5000)"),
        ("print", "print"),
        ("解約は30日前まで", "解約は30日前まで"),
    ],
)
async def test_a_document_that_breaks_a_bound_is_refused_and_the_others_go_on(words: str, said: str) -> None:
    """Issue 3: bounded in time, memory and output by killable children; the others go on."""
    children = pool(seconds=0.3 if "time" in said else 20)
    before, bad, after = await asyncio.gather(
        outcome(children, "前"), outcome(children, words), outcome(children, "後")
    )
    assert (before, bad[: len(said)], after) == ("前", said, "後")
    assert await outcome(children, "次") == "次"


async def test_a_process_that_ignores_its_clock_is_killed_by_its_owner() -> None:
    """Issue 3: nothing outlives its limit."""
    children = pool(seconds=0.2, grace=0.3)
    assert "制限の 0.2 秒" in await outcome(children, "hang without end")
    assert children.processes == ()


async def test_a_process_is_used_again_and_a_broken_one_is_replaced() -> None:
    """design.md, hostile files: reusable child processes, replaced after a kill."""
    children = pool(size=1)
    first = await outcome(children, "pid")
    assert await outcome(children, "refuse") != await outcome(children, "pid") == first
    await outcome(children, "crash")
    assert await outcome(children, "pid") != first
    assert is_gone(int(first))


async def test_a_process_that_died_while_idle_is_replaced() -> None:
    children = pool(size=1)
    first = int(await outcome(children, "pid"))
    os.kill(first, signal.SIGKILL)
    assert is_gone(first)
    assert await outcome(children, "次") == "次"


async def test_no_more_processes_are_begun_than_there_are_documents_or_places() -> None:
    """Each costs time to begin and memory to keep."""
    children = pool(size=2)
    assert children.processes == ()
    await outcome(children, "一")
    assert len(children.processes) == 1
    await asyncio.gather(*(outcome(children, str(number)) for number in range(20)))
    assert len(children.processes) == 2


async def test_a_cancelled_reading_ends_its_process_at_once() -> None:
    """Issue 3: nothing outlives its limit; Ctrl-C cancels."""
    children = pool()
    reading = asyncio.ensure_future(children.extract(file("hang")))
    await asyncio.sleep(0)
    (process,) = children.processes
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert children.processes == ()
    assert is_gone(process)


async def test_the_processes_end_with_the_pool() -> None:
    children = pool()
    process = int(await outcome(children, "pid"))
    del children
    assert is_gone(process)


@pytest.mark.parametrize("words", ["hang", "spin", "print"])
def test_no_process_outlives_an_owner_that_is_killed(words: str) -> None:
    """Issue 3: nothing outlives its parent, busy or idle."""
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, words], stdout=subprocess.PIPE, encoding="utf-8", cwd=ROOT
    )
    assert owner.stdout
    process = int(owner.stdout.readline())
    owner.kill()
    owner.wait()
    owner.stdout.close()
    assert is_gone(process)


OWNER = """
import asyncio, sys
sys.path.insert(0, "")
from tests.unit.test_extract_children import file, outcome, pool
async def own():
    children = pool(seconds=60)
    print(await outcome(children, "pid"), flush=True)
    await outcome(children, sys.argv[1])
    await asyncio.Event().wait()
asyncio.run(own())
"""


async def test_the_documents_of_a_container_come_one_at_a_time_while_others_are_read() -> None:
    """ports/extractor.py: members are yielded; memory stays bounded by one of them."""
    children = pool(size=1)
    texts: list[str] = []
    async with aclosing(children.members(file("一\n二\n三", "a.zip"))) as members:
        async for member in members:
            assert isinstance(member, SourceFile)
            texts.append((await children.extract(member)).text)
    assert texts == ["一", "二", "三"]


@pytest.mark.parametrize("words", ["一\ncrash\n二", "一\nhang\n二", "一\nrefuse\n二"])
async def test_a_container_that_breaks_a_bound_is_refused_after_what_it_gave(words: str) -> None:
    children = pool(seconds=0.5)
    names: list[str] = []

    async def note_names() -> None:
        async with aclosing(children.members(file(words, "a.zip"))) as members:
            async for member in members:
                names.append(member.source)  # noqa: PERF401 - what came before the refusal counts

    with pytest.raises(SourceRefused):
        await note_names()
    assert names == ["a.zip/0"]
    assert await outcome(children, "次") == "次"


async def test_the_time_of_a_container_is_its_own_and_not_its_readers() -> None:
    """A slow reading of what came out of an archive must not refuse the archive."""
    children = pool(seconds=0.3, size=1)
    seen = 0
    async with aclosing(children.members(file("一\n二\n三", "a.zip"))) as members:
        async for _ in members:
            seen += 1
            assert "制限の 0.3 秒" in await outcome(children, "hang")
    assert seen == 3


async def test_leaving_a_container_early_ends_its_process() -> None:
    children = pool(size=1)
    async with aclosing(children.members(file("一\n二", "a.zip"))) as members:
        async for _ in members:
            break
    assert children.processes == ()


async def test_plain_texts_and_what_is_refused_at_sight_need_no_process() -> None:
    """design.md, hostile files: plain text in-process."""
    children = ChildPool(Limits())
    extractors = Extractors(Limits(), children)
    for name in ("a.md", "a.txt", "a.csv", "a.tsv", "a"):
        await extractors.extract(file("解約,月額\n1,2", name))
    for name, data in (
        ("a.exe", b"MZ"),
        ("a.png", b"\x89PNG\r\n\x1a\n"),
        ("a.pdf", b""),
        ("a.docx", b"text"),
    ):
        with pytest.raises(SourceRefused):
            await extractors.extract(file(data, name))
    assert [member async for member in extractors.members(file("解約", "a.md"))] == []
    assert children.processes == ()


async def test_a_process_gives_what_reading_here_gives() -> None:
    data = word_document(paragraph("解約は30日前までに。") + paragraph("Ｂ案 𠮷野家"))
    extractors = Extractors(Limits(), ChildPool(Limits()))
    assert await extractors.extract(file(data, "a.docx")) == extract_document("a.docx", data, Limits())
    with pytest.raises(SourceRefused) as refusal:
        await extractors.extract(file(b"%PDF-1.4 cut", "a.pdf"))
    assert refusal.value.code == "refused.corrupt"


@given(TEXTS, st.lists(TEXTS | st.integers(-(2**31), 2**31) | st.floats(allow_nan=False)))
@example("解約は30日前まで\n𠮷", ["第1条", 3, 0.5])
def test_a_text_comes_back_over_a_pipe_as_it_was(words: str, values: list[str | int | float]) -> None:
    """Whatever a document says crosses unchanged with its shape."""
    extracted = ExtractedText(
        text=words,
        title=words or None,
        headings=(Heading(start=0, end=len(words), level=1, title=words),),
        regions=(Region(start=0, end=1, kind="table", header_end=0),),
        pages=(Page(start=0, kind="sheet", label=words),),
        notices=(Notice(code="a", values=tuple(("名", value) for value in values)),),
    )
    assert _sent(Text(extracted, is_spent=False)) == Text(extracted, is_spent=False)


def _sent(word: Text) -> object:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as reader, os.fdopen(writing, "wb", buffering=0) as writer:
        send(writer, word)  # shorter than what a pipe holds
        return msgspec.msgpack.decode(receive(reader), type=Reply)
