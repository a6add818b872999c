"""Tables fit into the screen they are shown on, in Japanese as in English."""

from __future__ import annotations

import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.domain.message import Usage
from corpus2skill.domain.money import EstimatedSpending, Span, Spending
from corpus2skill.entrypoints.cli.money import estimate_lines, spending_lines
from corpus2skill.entrypoints.cli.output import Output, width_of
from corpus2skill.entrypoints.cli.table import table, width_of_table

MODELS = ("anthropic:claude-haiku-5-5", "anthropic:claude-sonnet-5-5", "openai:some-model-of-a-long-name")
PURPOSES = ("summarize", "place", "describe")


def test_words_stand_to_the_left_and_figures_to_the_right() -> None:
    """Figures are compared by their last places."""
    rows = [("用途", "件数"), ("要約", "2,000"), ("grouping", "5")]
    assert table(rows, {1}) == [["用途       件数"], ["要約      2,000"], ["grouping      5"]]


def test_a_cell_that_is_too_wide_goes_on_in_the_next_line() -> None:
    """At a mark, or where katakana begin or end: never within a word."""
    rows = [("グループへの配置", "2,393,400～5,307,100"), ("要約", "1～2")]
    assert table(rows, {1}, 22) == [
        ["グループ  2,393,400～", "への配置    5,307,100"],
        ["要約             1～2"],
    ]


@given(
    rows=st.lists(
        st.tuples(*[st.text("解約グループ入力 ab,1:-/～–", max_size=12)] * 3), min_size=1, max_size=4
    ),
    room=st.integers(0, 60),
)
@example(rows=[("入力トークン", "anthropic:claude-haiku-5-5", "1～2")], room=20)
def test_folding_loses_nothing_and_widens_nothing(rows: list[tuple[str, str, str]], room: int) -> None:
    """What a narrow terminal shows is what a wide one does."""
    folded, whole = table(rows, {2}, room), table(rows, {2})
    assert width_of_table(folded) <= max(width_of_table(whole), room)
    for row, lines in zip(rows, folded, strict=True):
        assert sorted("".join("".join(lines).split())) == sorted("".join("".join(row).split()))


@pytest.mark.parametrize("language", ["ja", "en"])
@pytest.mark.parametrize("room", [80, 100, 120])
def test_what_a_large_corpus_costs_fits_into_a_terminal(language: str, room: int) -> None:
    """Estimate and report of 2,000 chunks; a sentence below the table may go on in the next line."""
    out = Output(language, is_json=False, out=io.StringIO(), err=io.StringIO())
    tables = (list(estimate_lines(out, _estimate(), room)), list(spending_lines(out, _spending(), room)))
    for lines in tables:
        assert max(width_of(line) for line in lines if line.startswith("  ")) <= room, "\n".join(lines)
        assert all(sum(model in line for line in lines) == 1 for model in MODELS)


def test_what_was_paid_for_before_is_named_with_what_it_saved() -> None:
    """The calls of a compile that was killed are in no report of its own."""
    out = Output("en", is_json=False, out=io.StringIO(), err=io.StringIO())
    last = list(spending_lines(out, _spending()))[-1]
    assert last == (
        "Answered from results paid for before, by earlier or interrupted runs: 9 calls (saved now: $0.1500)"
    )


def _estimate() -> list[EstimatedSpending]:
    return [
        EstimatedSpending(
            purpose=purpose,
            model=model,
            calls=Span(2_000, 2_200),
            input_tokens=Span(2_393_400, 5_307_100),
            output_tokens=Span(144_000, 475_200),
            dollars=Span(31.1, 76.9),
        )
        for purpose, model in zip(PURPOSES, MODELS, strict=True)
    ]


def _spending() -> list[Spending]:
    return [
        Spending(
            purpose=purpose,
            model=model,
            calls=2_000,
            reused=3,
            saved=0.05,
            usage=Usage(input_tokens=2_393_400, output_tokens=144_000),
            dollars=31.1,
        )
        for purpose, model in zip(PURPOSES, MODELS, strict=True)
    ]
