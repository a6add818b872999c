"""What every `Summarizer` promises, asked of the offline engine, of a language model and of the fake."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from corpus2skill.adapters.offline.summarizer import OfflineSummarizer
from corpus2skill.compiler.model_summarizer import ModelSummarizer
from corpus2skill.domain.chunk import Chunk, ChunkSummary, Place
from corpus2skill.domain.node_file import one_line
from corpus2skill.ports.summarizer import Summarizer
from tests.fakes.language_model import FakeLanguageModel
from tests.fakes.summarizer import FakeSummarizer
from tests.fakes.summarizing_model import first_words

pytestmark = pytest.mark.anyio

ARTICLE_12 = (
    "第12条（解約）\n"
    "年額プランの解約は、契約管理画面の「解約申請」から行うものとし、"
    "契約期間の末日までサービスを利用できる。日割りによる返金は行わない。"
)


def able_model() -> Summarizer:
    return ModelSummarizer(FakeLanguageModel(first_words), OfflineSummarizer())


def babbling_model() -> Summarizer:
    return ModelSummarizer(FakeLanguageModel("{" * 50), OfflineSummarizer())


@pytest.fixture(
    params=[OfflineSummarizer, FakeSummarizer, able_model, babbling_model],
    ids=["offline", "fake", "model", "babbling"],
)
def summarizer(request: pytest.FixtureRequest) -> Summarizer:
    return request.param()


def chunk(text: str, *headings: str, table_header: str | None = None, choices: bool = False) -> Chunk:
    return Chunk(
        chunk_id="chunk_7",
        source="利用規約.docx",
        start=0,
        end=len(text),
        text=text,
        place=Place(headings=headings),
        table_header=table_header,
        is_choices_only=choices,
    )


async def summarized(summarizer: Summarizer, *chunks: Chunk) -> list[ChunkSummary]:
    return [summary async for summary in summarizer.summarize(chunks)]


@pytest.mark.requirement("C-18")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.text(min_size=1, max_size=2000),
    st.lists(st.text(min_size=1, max_size=80), max_size=3),
    st.none() | st.text(max_size=60),
    st.booleans(),
)
@example(ARTICLE_12, ["第3章 解約"], None, False)
@example("年額プランの解約" * 200, [], None, False)
@example("word" * 500, ["見出し" * 30], None, False)
@example("| プラン | 料金 |\n|---|---|\n| 年額 | 9,800円 |", [], "| プラン | 料金 |", False)
@example("ア 年額\nイ 月額\nウ 従量課金", [], None, True)
@example("مرحبا بالعالم. هذا نص عربي.", [], None, False)
@example("。。。\u200b\ufeff", [], None, False)
@example("```\ncode only\n```", [], None, False)
@example("\ud800 alone", [], None, False)
async def test_titles_and_summaries_keep_their_lengths_for_any_text(
    summarizer: Summarizer, text: str, headings: list[str], header: str | None, choices: bool
) -> None:
    """C-18, and the port: one line, never empty, 40 and 160 characters at most."""
    (said,) = await summarized(summarizer, chunk(text, *headings, table_header=header, choices=choices))
    assert 1 <= len(said.title) <= 40
    assert 1 <= len(said.summary) <= 160
    assert one_line(said.title) == said.title
    assert one_line(said.summary) == said.summary


async def test_there_is_one_summary_for_each_chunk_in_their_order(summarizer: Summarizer) -> None:
    """Promised by the port."""
    chunks = [chunk(f"プラン{number}の料金は{number}00円です。") for number in range(1, 6)]
    together = await summarized(summarizer, *chunks)
    alone = [(await summarized(summarizer, one))[0] for one in chunks]
    assert together == alone
    assert len({said.summary for said in together}) == len(chunks)
    assert await summarized(summarizer) == []


@pytest.mark.requirement("C-17")
async def test_a_summary_depends_on_nothing_but_text_headings_and_table_header(
    summarizer: Summarizer,
) -> None:
    """C-17: where a file lies or what it is called changes no summary."""
    here = chunk(ARTICLE_12, "第3章 解約")
    there = replace(
        here,
        chunk_id="chunk_99",
        source="旧/規約.md",
        start=10,
        end=10 + len(ARTICLE_12),
        document_title="別の題",
        place=replace(here.place, pages=("4", "5"), page_kind="page"),
    )
    assert await summarized(summarizer, here) == await summarized(summarizer, there)


@pytest.mark.requirement("C-14")
async def test_the_summary_of_bare_choices_says_so(summarizer: Summarizer) -> None:
    """C-14: such a leaf would lead a navigator astray."""
    text = "ア 年額プラン\nイ 月額プラン"
    bare, told = await summarized(summarizer, chunk(text, choices=True), chunk(text))
    assert bare.summary != told.summary
    assert "年額プラン" in bare.summary
