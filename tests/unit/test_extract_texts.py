"""Step 1 for plain text, Markdown and tables of values."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus2skill.adapters.extract.extractors import extract_document
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.domain.corpus import ExtractedText
from corpus2skill.errors import SourceRefused


def extracted(name: str, text: str, limits: Limits | None = None) -> ExtractedText:
    return extract_document(name, text.encode(), limits or Limits())


def outline(text: ExtractedText) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in text.headings]


def is_sound(text: ExtractedText) -> bool:
    """What `ExtractedText` promises of offsets and order."""
    ends = 0
    for region in text.regions:
        assert ends <= region.start <= region.header_end <= region.end <= len(text.text)
        ends = region.end
    starts = [heading.start for heading in text.headings]
    assert starts == sorted(starts)
    for heading in text.headings:
        assert heading.title
        assert text.text[heading.start : heading.end].strip()
    assert not any(character < " " and character not in "\n\t" for character in text.text)
    return True


def test_line_ends_form_feeds_and_controls_take_one_shape() -> None:
    """ports/extractor.py: lines end in \\n and there is no control character but tab."""
    assert (
        extracted("a.txt", "一  \r\n二\r三\f四\x08\x1b[31m五\x1b[0m\t六　\n\n\n").text
        == "一\n二\n三\n\n四五\t六"
    )


def test_indents_of_plain_text_stay() -> None:
    """The body is the original and never rewritten: an ideographic indent is part of it."""
    assert extracted("a.txt", "　第一の段落。\n　第二の段落。").text == "　第一の段落。\n　第二の段落。"


def test_plain_text_finds_the_headings_that_name_themselves() -> None:
    """design.md, chunks: a chunk remembers its headings."""
    text = extracted(
        "規約.txt",
        "利用規約\n\n第１章　総則\n\n第1条（目的）\n第2条は、次のとおり。\n\n第12条（解約）\n年額は末日まで。\n\n■お問い合わせ\n\n第3条に定める場合を除き、返金しない。",
    )
    assert outline(text) == [
        (1, "第１章 総則"),
        (2, "第1条（目的）"),
        (2, "第12条（解約）"),
        (3, "■お問い合わせ"),
    ]
    assert is_sound(text)


def test_markdown_stays_as_it_is_and_its_shape_is_noted() -> None:
    """Step 1: ATX and setext headings, fences and pipe tables."""
    source = "# 規約\n\n本文\n\n料金\n----\n\n| 項目 | 額 |\n|---|--:|\n| 年額 | 98,000円 |\n\n```sh\n# not a heading\n\n| no | table |\n```\n\n### **解約** `申請` ###\n\n- a\n---\n"
    text = extracted("a.md", source)
    assert text.text == source.strip("\n")
    assert outline(text) == [(1, "規約"), (2, "料金"), (3, "解約 申請")]
    assert text.title == "規約"
    assert [
        (region.kind, text.text[region.start : region.end].split("\n")[0], region.header_end - region.start)
        for region in text.regions
    ] == [("table", "| 項目 | 額 |", 20), ("code", "```sh", 0)]
    assert is_sound(text)


def test_front_matter_gives_the_title_and_is_dropped() -> None:
    """Step 1: YAML front matter."""
    text = extracted("a.md", '---\ntitle: "よくある質問"\ntags: [a]\n---\n# 解約\n\n本文')
    assert (text.title, text.text) == ("よくある質問", "# 解約\n\n本文")


def test_an_open_fence_runs_to_the_end() -> None:
    text = extracted("a.md", "a\n\n~~~\nb\n# c")
    assert text.headings == ()
    assert [(region.start, region.end) for region in text.regions] == [(3, 12)]


@settings(deadline=None)
@given(st.text(st.sampled_from("#=-|`~ \n\tあ解a1.*>[]()"), max_size=300))
def test_any_markdown_has_a_sound_shape(source: str) -> None:
    """ports/extractor.py: offsets lie inside the text, regions are ordered and disjoint."""
    assert is_sound(extracted("a.md", source + "\n解約"))


@settings(deadline=None)
@given(st.text(st.sampled_from("第12章条節（）目的。 　\n■【】附則あ"), max_size=200))
def test_any_plain_text_has_a_sound_shape(source: str) -> None:
    """ports/extractor.py: offsets lie inside the text."""
    assert is_sound(extracted("a.txt", source + "\n解約"))


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("a.csv", '項目,額\r\n"年額, 一括","98,000\n円"\r\n月額,9800\r\n'),
        ("a.csv", '項目;額\n"年額, 一括";"98,000\n円"\n月額;9800\n'),
        ("a.tsv", '項目\t額\n"年額, 一括"\t"98,000\n円"\n月額\t9800\n'),
    ],
)
def test_tables_of_values_become_rows_with_their_header(name: str, source: str) -> None:
    """Step 1: CSV and TSV rows readable as text, quoting understood, delimiter found."""
    text = extracted(name, source)
    assert text.text == "| 項目 | 額 |\n| --- | --- |\n| 年額, 一括 | 98,000 円 |\n| 月額 | 9800 |"
    (region,) = text.regions
    assert (region.start, region.end, region.kind) == (0, len(text.text), "table")
    assert text.text[: region.header_end] == "| 項目 | 額 |\n| --- | --- |"


def test_empty_rows_and_columns_are_left_out() -> None:
    """A spreadsheet writes out its widest row."""
    assert extracted("a.csv", "a,,b,,\n,,,,\n1,,2,,\n").text == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_one_column_is_no_table() -> None:
    text = extracted("a.csv", "質問\n解約できますか\n")
    assert (text.text, text.regions) == ("質問\n\n解約できますか", ())


@settings(deadline=None)
@given(
    st.lists(
        st.lists(
            st.text(st.sampled_from('あ解約98, |"\t\n\\　。ab'), max_size=8),
            min_size=2,
            max_size=4,
        ),
        min_size=1,
        max_size=8,
    )
)
def test_any_table_keeps_one_row_a_line(rows: list[list[str]]) -> None:
    """ports/extractor.py: a region's rows are one a line."""
    written = [["項目", "額"], *rows]
    source = "\n".join("\t".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in written)
    text = extracted("a.tsv", source)
    assert is_sound(text)
    assert len(text.regions) == 1
    assert all(line.startswith("| ") for line in text.text.split("\n"))


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv", "a.html"])
def test_a_text_over_the_limit_is_refused_and_never_cut(name: str) -> None:
    """design.md, limits: beyond them `too_large`, never cut."""
    with pytest.raises(SourceRefused) as refusal:
        extracted(name, "解約" * 600, Limits(max_characters=1000))
    assert (refusal.value.verdict, refusal.value.detail) == ("too_large", "characters")


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
@pytest.mark.parametrize(
    ("last", "cells"),
    [("解約,98", 2), ("解約,9800,", None), ('解約,"98', 2), ("解約,98\n", None), ("", None)],
)
def test_a_last_row_that_was_cut_off_is_said(name: str, last: str, cells: int | None) -> None:
    """Issue 3: truncated; everything said about a file names the place."""
    table = f"項目,月額,年額\n標準,980,9800\n{last}"
    found = extracted(name, table if name == "a.csv" else table.replace(",", "\t"))
    notices = [(notice.code, dict(notice.values)) for notice in found.notices]
    assert notices == ([("last_row_cut", {"row": 3, "cells": cells, "usual": 3})] if cells else [])


@pytest.mark.parametrize("text", ["a,b\n1", "a,b,c\n1,2,3\n1,2\n1", "a,b,c", "表題\na,b,c\n1,2"])
def test_where_rows_are_uneven_or_few_none_is_called_cut(text: str) -> None:
    """A warning that is often wrong is not read."""
    assert extracted("a.csv", text).notices == ()
