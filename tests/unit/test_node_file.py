"""The text of node files."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from corpus2skill.domain.node_file import (
    one_line,
    parse_leaf,
    parse_summary_node,
    render_leaf,
    render_summary_node,
)
from corpus2skill.domain.tree import Child

ANNUAL = Child(
    name="doc_chunk_7",
    title="年額プランの解約条件",
    summary="年額プランは契約期間の末日まで利用できる。",
    node_type="document",
)
lines = st.text(max_size=60) | st.sampled_from(
    ["---", "## 子ノード", "解約手続き", "- [a](b.md) — c", "a: b", "#"]
)


@pytest.mark.requirement("C-25")
def test_a_summary_node_reads_as_the_design_shows_it() -> None:
    """Design, section 5."""
    text = render_summary_node(
        name="cancellation",
        title="解約手続き",
        summary="プラン別の解約方法と、利用できる期間の扱い。",
        children=(
            Child(name="annual", title="年額", summary="末日まで。", node_type="skill_summary"),
            ANNUAL,
        ),
        twins={"doc_chunk_7": ("doc_chunk_9",)},
        language="ja",
    )
    assert text == snapshot("""\
---
name: cancellation
description: プラン別の解約方法と、利用できる期間の扱い。
---
# 解約手続き

プラン別の解約方法と、利用できる期間の扱い。

## 子ノード

- [年額](annual/SKILL.md) — 末日まで。
- [年額プランの解約条件](doc_chunk_7.md) — 年額プランは契約期間の末日まで利用できる。 (同文: doc_chunk_9)
""")


@pytest.mark.requirement("C-26")
def test_a_leaf_is_title_summary_rule_and_the_original_text() -> None:
    """The article, Step 5, and design, section 5."""
    text = render_leaf(
        title="年額プランの解約条件",
        summary="契約期間の末日まで利用できる。",
        source="利用規約.docx",
        place="第3章 解約 › 第12条（解約）",
        body="第12条（解約）\n年額プランの解約は、…",
        table_header=None,
        language="ja",
    )
    assert text == snapshot("""\
---
source: 利用規約.docx
place: 第3章 解約 › 第12条（解約）
---
# 年額プランの解約条件

契約期間の末日まで利用できる。

---

第12条（解約）
年額プランの解約は、…
""")


@pytest.mark.requirement("C-26")
@given(
    title=lines, summary=lines, source=lines, place=lines, body=lines | st.text(), header=st.none() | lines
)
@example(title="---", summary="---", source="---", place="a: b", body="---\n\n---", header="---")
def test_a_leaf_is_read_back_as_it_was_written(
    title: str, summary: str, source: str, place: str, body: str, header: str | None
) -> None:
    """The body is never rewritten, whatever it looks like."""
    leaf = parse_leaf(
        render_leaf(
            title=title,
            summary=summary,
            source=source,
            place=place,
            body=body,
            table_header=header,
            language="ja",
        )
    )
    assert (leaf.title, leaf.summary) == (one_line(title), one_line(summary))
    assert (leaf.source, leaf.place, leaf.body) == (source, place, body)


@pytest.mark.requirement("C-25")
@given(title=lines, summary=lines, child_title=lines, child_summary=lines)
@example(title="[x](y)", summary="## 子ノード", child_title="\\[]", child_summary="- [a](doc_chunk_1.md) — b")
def test_a_summary_node_is_read_back_as_it_was_written(
    title: str, summary: str, child_title: str, child_summary: str
) -> None:
    """A recompile goes on from the files."""
    child = Child(
        name="annual", title=one_line(child_title), summary=one_line(child_summary), node_type="skill_summary"
    )
    node = parse_summary_node(
        render_summary_node(
            name="docs", title=title, summary=summary, children=(child, ANNUAL), twins={}, language="en"
        )
    )
    assert (node.title, node.summary, node.children) == (one_line(title), one_line(summary), (child, ANNUAL))


@given(st.text(st.sampled_from("]([)\\ あa.md/"), max_size=30))
@example("[こちら](https://example.com/win) を見る")
@example("[a]\\(b)")
@example("[戻る](../SKILL.md)")
def test_no_link_of_a_document_is_a_link_of_the_tree_and_its_words_come_back(words: str) -> None:
    """Field report 30: a planted instruction adds no links."""
    summary = one_line(words)
    child = Child(name="doc_chunk_1", title="葉", summary=summary, node_type="document")
    text = render_summary_node(
        name="a", title=f"題{summary}", summary=summary, children=(child,), twins={}, language="ja"
    )
    read = parse_summary_node(text)
    assert (read.title, read.summary, read.children) == (f"題{summary}".strip(), summary, (child,))
    assert len(re.findall(r"(?<!\\)\]\(", read.content)) == 1
