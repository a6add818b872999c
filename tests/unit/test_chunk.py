"""Step 2: spans of text, and the numbers they keep."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.compiler.chunk import chunk_texts, cut
from corpus2skill.domain.chunk import Chunk, ChunkSizes
from corpus2skill.domain.corpus import ExtractedText, Heading, Page, Region, SourceText
from corpus2skill.domain.version import ChunkRow

SIZES = ChunkSizes()
ARTICLE = "第12条(解約)\n年額プランの解約は、契約管理画面の「解約申請」から行うものとする。"

texts = st.text(alphabet=st.sampled_from("あ解約年額。！？.!? \n\n\n\t　、,ab|-1"), max_size=4000) | st.text(
    max_size=300
)


def bodies(text: str, sizes: ChunkSizes = SIZES) -> list[str]:
    return [text[start:end] for start, end in cut(ExtractedText(text=text), sizes)]


def paragraph(length: int, letter: str = "あ") -> str:
    return letter * (length - 1) + "。"


def source(text: str, name: str = "a.txt", **shape: object) -> SourceText:
    return SourceText(
        source=name,
        sha256=name,
        extractor="x",
        extracted=ExtractedText(text=text, **shape),  # type: ignore[arg-type]
    )


def row_of(chunk: Chunk) -> ChunkRow:
    return ChunkRow(
        chunk_id=chunk.chunk_id,
        path="",
        title="",
        summary="",
        source=chunk.source,
        start=chunk.start,
        end=chunk.end,
        headings=(),
        pages=None,
        page_kind=None,
        fingerprint=chunk.fingerprint,
    )


@pytest.mark.requirement("C-07")
@given(text=texts, limit=st.integers(50, 400), minimum=st.integers(0, 49))
@example(text="第１条\n\n\n\n年額。", limit=50, minimum=40)
@example(text="   \n \n", limit=50, minimum=40)
def test_chunks_are_ordered_spans_with_only_white_space_between_them(
    text: str, limit: int, minimum: int
) -> None:
    """The article, Step 2: nothing is lost and nothing is told twice."""
    spans = cut(ExtractedText(text=text), ChunkSizes(limit=limit, minimum=minimum))
    at = 0
    for start, end in spans:
        assert at <= start < end <= len(text)
        assert not text[at:start].strip()
        assert text[start:end].strip() == text[start:end]
        at = end
    assert not text[at:].strip()


@pytest.mark.requirement("C-08")
@given(lengths=st.lists(st.integers(1, 1500), min_size=1, max_size=30))
def test_paragraphs_without_headings_are_packed_exactly_as_the_article_packs_them(lengths: list[int]) -> None:
    """The article's pseudo-code, with the tail rule of the design behind it."""
    paragraphs = [paragraph(length) for length in lengths]
    expected: list[str] = []
    current = ""
    for piece in paragraphs:
        candidate = f"{current}\n\n{piece}" if current else piece
        if len(candidate) > 1500 and len(current) >= 40:
            expected.append(current)
            current = piece
        else:
            current = candidate
    expected.append(current)
    if len(expected) > 1 and len(expected[-1]) < 40:
        tail = expected.pop()
        expected[-1] += f"\n\n{tail}"
    assert bodies("\n\n".join(paragraphs)) == expected


@pytest.mark.requirement("C-09")
def test_a_short_text_without_a_blank_line_is_one_chunk() -> None:
    """The article, Step 2: no text falls through."""
    assert bodies(ARTICLE) == [ARTICLE]


@pytest.mark.requirement("C-10")
def test_a_paragraph_over_the_limit_is_cut_behind_its_last_sentence_before_it() -> None:
    """The article: never in the middle of a sentence; design, chunks."""
    text = paragraph(900) + paragraph(500, "い") + paragraph(400, "う")
    assert bodies(text) == [paragraph(900) + paragraph(500, "い"), paragraph(400, "う")]


@pytest.mark.requirement("C-10")
def test_a_closing_bracket_stays_with_the_sentence_it_closes() -> None:
    """Design, chunks: a sentence ends behind its brackets."""
    text = "「" + "あ" * 90 + "。」" + "い" * 30 + "。"
    assert bodies(text, ChunkSizes(limit=100, minimum=10))[0].endswith("。」")


@pytest.mark.requirement("C-10")
def test_a_decimal_point_is_no_sentence_end() -> None:
    """Design, chunks: `.` ends a sentence only before white space."""
    text = "Fee. " + "x" * 80 + " 3.14" + "y" * 40
    assert bodies(text, ChunkSizes(limit=90, minimum=3)) == ["Fee. " + "x" * 80, "3.14" + "y" * 40]


@pytest.mark.requirement("C-11")
def test_a_table_row_is_never_cut_and_later_pieces_keep_the_header_row_beside_them() -> None:
    """Design, chunks."""
    header = "| プラン | 料金 |\n|---|---|\n"
    rows = [f"| プラン{number} | {number * 1000}円。毎月。 |" for number in range(200)]
    text = header + "\n".join(rows)
    table = Region(start=0, end=len(text), kind="table", header_end=len(header))
    chunks, _ = chunk_texts([source(text, regions=(table,))], SIZES, (), 1)
    assert len(chunks) > 3
    assert [line for chunk in chunks for line in chunk.text.split("\n")] == text.split("\n")
    assert [chunk.table_header for chunk in chunks] == [None] + ["| プラン | 料金 |"] * (len(chunks) - 1)


@pytest.mark.requirement("C-11")
def test_a_row_longer_than_the_limit_stays_whole() -> None:
    """Design, chunks: a row is never cut."""
    rows = ["| " + "長い。" * 700 + " |", "| " + "短い。" * 20 + " |"]
    text = "\n".join(rows)
    table = Region(start=0, end=len(text), kind="table", header_end=0)
    spans = cut(ExtractedText(text=text, regions=(table,)), SIZES)
    assert [text[start:end] for start, end in spans] == rows


@pytest.mark.requirement("C-12")
def test_a_tail_under_the_minimum_joins_the_chunk_before_it() -> None:
    """Design, chunks."""
    assert bodies(paragraph(1490) + "\n\n" + "以上。") == [paragraph(1490) + "\n\n以上。"]
    assert len(bodies(paragraph(1490) + "\n\n" + paragraph(40))) == 2


@pytest.mark.requirement("C-13")
def test_a_heading_goes_with_what_follows_it() -> None:
    """The article, Step 2: a bare heading as a chunk of its own makes no sense."""
    first, heading, second = paragraph(1400), "第12条(解約)", paragraph(300)
    text = f"{first}\n\n{heading}\n\n{second}"
    at = text.index(heading)
    mark = Heading(start=at, end=at + len(heading), level=2, title=heading)
    spans = cut(ExtractedText(text=text, headings=(mark,)), SIZES)
    assert [text[start:end] for start, end in spans] == [first, f"{heading}\n\n{second}"]


@pytest.mark.requirement("C-13")
def test_a_new_section_begins_a_new_chunk_unless_the_one_before_is_under_the_minimum() -> None:
    """The article's own example: 年額 and 月額 are two chunks, so that they can be two branches."""
    sections = [
        "第1条(目的)\n\nこの規約。",
        f"第12条(年額)\n\n{paragraph(200)}",
        f"第13条(月額)\n\n{paragraph(200)}",
    ]
    text = "\n\n".join(sections)
    starts = [text.index(section) for section in sections]
    headings = tuple(
        Heading(start=at, end=text.index("\n", at), level=2, title=text[at : text.index("\n", at)])
        for at in starts
    )
    spans = cut(ExtractedText(text=text, headings=headings), SIZES)
    assert [text[start:end] for start, end in spans] == [f"{sections[0]}\n\n{sections[1]}", sections[2]]


@pytest.mark.requirement("C-14")
def test_a_list_of_choices_joins_what_follows_and_says_so_where_nothing_does() -> None:
    """Design, chunks: such leaves led navigators astray."""
    choices = "\n".join(f"- プラン{number}を選ぶ" for number in range(6))
    explained = f"{choices}\n\n{paragraph(1490)}"
    assert bodies(explained) == [explained]
    chunks, _ = chunk_texts([source(f"{paragraph(1490)}\n\n{choices}")], SIZES, (), 1)
    assert [chunk.is_choices_only for chunk in chunks] == [False, True]


@pytest.mark.requirement("C-15")
def test_a_chunk_remembers_headings_and_pages() -> None:
    """Design: a citation must open the place in the original."""
    text = f"第3章 解約\n\n{paragraph(1400)}\n\n第12条\n\n{paragraph(1400)}"
    second = text.index("第12条")
    headings = (
        Heading(start=0, end=6, level=1, title="第3章 解約"),
        Heading(start=second, end=second + 4, level=2, title="第12条"),
    )
    pages = (Page(start=0, kind="page", label="4"), Page(start=second + 10, kind="page", label="5"))
    chunks, _ = chunk_texts([source(text, headings=headings, pages=pages)], SIZES, (), 1)
    assert [str(chunk.place) for chunk in chunks] == ["第3章 解約, p. 4", "第3章 解約 › 第12条, p. 4-5"]


@pytest.mark.requirement("C-15")
def test_headings_that_stand_together_are_all_in_the_place() -> None:
    """A chapter's first clause is found under the chapter and the clause."""
    text = f"第3章 解約\n\n第12条(年額)\n\n{paragraph(100)}"
    clause = text.index("第12条")
    headings = (
        Heading(start=0, end=6, level=1, title="第3章 解約"),
        Heading(start=clause, end=clause + 9, level=2, title="第12条(年額)"),
    )
    chunks, _ = chunk_texts([source(text, headings=headings)], SIZES, (), 1)
    assert [str(chunk.place) for chunk in chunks] == ["第3章 解約 › 第12条(年額)"]


@pytest.mark.requirement("C-16")
@given(
    old=st.lists(st.sampled_from(["甲", "乙", "丙", "丁"]), min_size=1, max_size=8),
    new=st.lists(st.sampled_from(["甲", "乙", "丙", "戊"]), min_size=1, max_size=8),
)
def test_an_unchanged_chunk_keeps_its_number_and_no_number_comes_back(old: list[str], new: list[str]) -> None:
    """Design, chunk ids."""

    def chunks_of(
        letters: list[str], known: tuple[ChunkRow, ...], number: int
    ) -> tuple[tuple[Chunk, ...], int]:
        text = "\n\n".join(letter * 100 for letter in letters)
        return chunk_texts([source(text)], ChunkSizes(limit=100, minimum=40), known, number)

    before, next_number = chunks_of(old, (), 1)
    after, last = chunks_of(new, tuple(map(row_of, before)), next_number)
    assert len({chunk.chunk_id for chunk in after}) == len(after)
    for letter in set(old) & set(new):
        kept = [chunk.chunk_id for chunk in before if chunk.text[0] == letter]
        now = [chunk.chunk_id for chunk in after if chunk.text[0] == letter]
        assert now[: len(kept)] == kept[: len(now)]
    fresh = {chunk.chunk_id for chunk in after} - {chunk.chunk_id for chunk in before}
    assert all(next_number <= int(name.removeprefix("chunk_")) < last for name in fresh)


@pytest.mark.requirement("C-17")
def test_a_renamed_file_keeps_its_chunks_and_their_fingerprints() -> None:
    """Design: a renamed file costs nothing."""
    before, next_number = chunk_texts([source(ARTICLE, "old.md")], SIZES, (), 1)
    after, _ = chunk_texts([source(ARTICLE, "新.md")], SIZES, tuple(map(row_of, before)), next_number)
    assert after == tuple(replace(chunk, source="新.md") for chunk in before)
    assert [chunk.fingerprint for chunk in after] == [chunk.fingerprint for chunk in before]
