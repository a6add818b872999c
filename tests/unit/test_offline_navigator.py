"""The model that walks by the index of words and answers with quotations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from corpus2skill.adapters.offline.lexical_index import OfflineLexicalIndex
from corpus2skill.adapters.offline.mapped_index import MappedIndex
from corpus2skill.adapters.offline.navigator import OfflineNavigator
from corpus2skill.domain.language import Language
from corpus2skill.domain.message import (
    Message,
    ModelMessage,
    ProgramMessage,
    Reply,
    Text,
    TextDelta,
    ToolCall,
    ToolResult,
)
from corpus2skill.domain.session import Channel
from corpus2skill.ports.lexical_index import IndexedLeaf
from corpus2skill.ports.navigator_model import NavigatorRequest, ToolSpec

pytestmark = pytest.mark.anyio

TOOL = ToolSpec(name="get_document", description="", schema="{}")

BODIES = {
    "cancellation/annual/doc_chunk_7.md": (
        "年額プランの解約",
        "第12条（年額プランの解約）\n年額プランの解約は、契約管理画面の「解約申請」から行うものとし、契約期間の末日までサービスを利用できる。日割りによる返金は行わない。",
    ),
    "cancellation/monthly/doc_chunk_5.md": (
        "月額プランの解約",
        "第11条（月額プランの解約）\n月額プランの解約は、申請した月の末日で終了する。当月分の料金は返金しない。",
    ),
    "pricing/doc_chunk_9.md": (
        "従量課金の超過",
        "上限を超えた分は超過レートで加算する。超過レートは1件3円とする。",
    ),
    "pricing/doc_chunk_12.md": ("固定料金の内訳", "基本料金は月980円です。年払いは9,800円です。"),
}
NODES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "SKILL.md": ("利用規約ツリー", ("cancellation", "pricing")),
    "cancellation/SKILL.md": ("解約手続き", ("annual", "monthly")),
    "cancellation/annual/SKILL.md": ("年額", ("doc_chunk_7",)),
    "cancellation/monthly/SKILL.md": ("月額", ("doc_chunk_5",)),
    "pricing/SKILL.md": ("料金体系", ("doc_chunk_9", "doc_chunk_12")),
}
TITLES = {"cancellation": "解約手続き", "pricing": "料金体系", "annual": "年額", "monthly": "月額"}


@pytest.fixture
def navigator(tmp_path: Path) -> OfflineNavigator:
    leaves = [
        IndexedLeaf(path=path, title=title, headings=(), source=f"{title}.md", text=body)
        for path, (title, body) in BODIES.items()
    ]
    for name, data in OfflineLexicalIndex().write(leaves):
        (tmp_path / name).write_bytes(data)
    return OfflineNavigator(MappedIndex(tmp_path))


def node(path: str) -> str:
    """What `get_document` answers, as JSON."""
    if path in BODIES:
        title, body = BODIES[path]
        content = f"# {title}\n\n要約。\n\n---\n\n{body}\n"
        doc_id = path.rpartition("/")[2].removesuffix(".md")
        fields = {"path": path, "content": content, "node_type": "document", "children": [], "doc_id": doc_id}
    else:
        title, children = NODES[path]
        lines = "\n".join(_line(child) for child in children)
        content = f"# {title}\n\n要約。\n\n## 子ノード\n\n{lines}\n"
        fields = {
            "path": path,
            "content": content,
            "node_type": "skill_summary",
            "children": list(children),
            "doc_id": None,
        }
    return json.dumps(fields, ensure_ascii=False)


def _line(child: str) -> str:
    if child in TITLES:
        return f"- [{TITLES[child]}]({child}/SKILL.md) — 要約。"
    title = next(title for path, (title, _) in BODIES.items() if path.endswith(f"{child}.md"))
    return f"- [{title}]({child}.md) — 要約。"


def first_turn(question: str) -> tuple[Message, ...]:
    """The question with the root that the program has read already."""
    call = ToolCall(call_id="prefetch", name="get_document", arguments='{"path": "SKILL.md"}')
    return (
        ProgramMessage((Text(question),)),
        ModelMessage((call,)),
        ProgramMessage((ToolResult(call_id="prefetch", content=node("SKILL.md")),)),
    )


async def one_round(
    navigator: OfflineNavigator,
    messages: tuple[Message, ...],
    *,
    channel: Channel = "text",
    language: Language = "ja",
    has_tool: bool = True,
) -> tuple[Reply, str]:
    request = NavigatorRequest(
        system="",
        messages=messages,
        tools=(TOOL,) if has_tool else (),
        max_output_tokens=400,
        language=language,
        channel=channel,
    )
    events = [event async for event in navigator.reply(request)]
    assert isinstance(events[-1], Reply)
    return events[-1], "".join(event.text for event in events[:-1] if isinstance(event, TextDelta))


async def walked(
    navigator: OfflineNavigator,
    messages: tuple[Message, ...],
    *,
    channel: Channel = "text",
    language: Language = "ja",
    broken: frozenset[str] = frozenset(),
) -> tuple[list[tuple[str, str]], Reply]:
    """Run the loop; return each `(path, reason)` and the last reply."""
    trail: list[tuple[str, str]] = []
    while True:
        reply, _ = await one_round(navigator, messages, channel=channel, language=language)
        if not reply.tool_calls:
            return trail, reply
        (call,) = reply.tool_calls
        path = json.loads(call.arguments)["path"]
        trail.append((path, reply.text))
        assert len(trail) <= 8
        is_error = path in broken
        content = json.dumps({"error": "no such node", "children": []}) if is_error else node(path)
        result = ToolResult(call_id=call.call_id, content=content, is_error=is_error)
        messages = (*messages, ModelMessage(reply.parts), ProgramMessage((result,)))


async def test_the_articles_question_walks_down_to_the_annual_leaf_and_quotes_it(
    navigator: OfflineNavigator,
) -> None:
    """The example of the article: annual and monthly are not mixed."""
    trail, answer = await walked(navigator, first_turn("年額プランを解約したら返金されますか？"))
    assert [path for path, _ in trail][:3] == [
        "cancellation/SKILL.md",
        "cancellation/annual/SKILL.md",
        "cancellation/annual/doc_chunk_7.md",
    ]
    assert "日割りによる返金は行わない。」[doc_chunk_7]" in answer.text
    assert "申請した月の末日" not in answer.text
    assert answer.confidence == "strong"


async def test_reasons_name_the_words_and_the_branch_that_they_went_by(navigator: OfflineNavigator) -> None:
    """N-11: one short true sentence before each fetch."""
    trail, _ = await walked(navigator, first_turn("年額プランの解約について"))
    assert (
        trail[0][1]
        == "「年額プラン」「解約」を含む本文が最もよく合うのは「解約手続き」の下なので、そこへ降ります。"
    )
    assert trail[2][1] == "「年額プラン」「解約」を含む「年額プランの解約」の本文を読みます。"
    english, _ = await walked(navigator, first_turn("年額プランの解約について"), language="en")
    assert (
        english[0][1]
        == "The text that fits “年額プラン”, “解約” best lies under “解約手続き”, so I go down there."
    )


async def test_words_are_streamed_as_they_stand_in_the_reply(navigator: OfflineNavigator) -> None:
    """N-22: text deltas before the reply, the same words."""
    reply, streamed = await one_round(navigator, first_turn("年額プランの解約について"))
    assert streamed == reply.text
    assert reply.stop == "tool_use"


async def test_what_is_not_in_the_documents_is_declared_with_where_was_looked(
    navigator: OfflineNavigator,
) -> None:
    """N-15: the fixed phrase at the head."""
    _, answer = await walked(navigator, first_turn("海外配送の送料と関税を知りたい"))
    assert answer.text.startswith("適合する情報が見つかりませんでした")
    assert answer.confidence is None
    _, english = await walked(navigator, first_turn("Do you ship to Brazil by airmail?"), language="en")
    assert english.text.startswith("No matching information was found")


async def test_small_talk_is_answered_without_a_fetch(navigator: OfflineNavigator) -> None:
    """N-16: thanks need no tree."""
    for words, language in (
        ("ありがとう", "ja"),
        ("ありがとうございます。助かりました！", "ja"),
        ("Hello!", "en"),
        ("thanks, bye", "en"),
    ):
        reply, _ = await one_round(navigator, (ProgramMessage((Text(words),)),), language=language)
        assert not reply.tool_calls
        assert reply.confidence == "strong"
        assert "見つかりません" not in reply.text


async def test_a_greeting_before_a_question_is_no_small_talk(navigator: OfflineNavigator) -> None:
    """「こんにちは、年額プランは…」 is a question."""
    trail, _ = await walked(navigator, first_turn("こんにちは。年額プランの解約について教えてください"))
    assert trail


async def test_on_a_later_turn_the_root_is_fetched_first_and_counts(navigator: OfflineNavigator) -> None:
    """N-18: nothing was read before; the first fetch is the root."""
    history = (
        ProgramMessage((Text("年額プランの解約方法は？"),)),
        ModelMessage((Text("「…」"),)),
        ProgramMessage((Text("それは返金されますか？"),)),
    )
    trail, answer = await walked(navigator, history)
    assert trail[0][0] == "SKILL.md"
    assert "cancellation/annual/doc_chunk_7.md" in [path for path, _ in trail]
    assert "[doc_chunk_7]" in answer.text


async def test_a_way_that_ends_in_an_error_is_closed_and_another_is_taken(
    navigator: OfflineNavigator,
) -> None:
    """N-04: it is told so and turns to what there is."""
    trail, answer = await walked(
        navigator,
        first_turn("年額プランの解約について"),
        broken=frozenset({"cancellation/annual/SKILL.md"}),
    )
    paths = [path for path, _ in trail]
    assert paths.count("cancellation/annual/SKILL.md") == 1
    assert "doc_chunk_7" not in answer.text


async def test_without_the_tool_it_answers_from_what_it_has_read(navigator: OfflineNavigator) -> None:
    """N-08: one last word."""
    reply, _ = await one_round(navigator, first_turn("年額プランの解約について"), has_tool=False)
    assert not reply.tool_calls
    assert reply.text


async def test_the_fetch_limit_is_never_passed(navigator: OfflineNavigator, tmp_path: Path) -> None:
    """N-07: a run of this engine never ends as fetch_limit."""
    narrow = OfflineNavigator(MappedIndex(tmp_path), fetch_limit=2)
    trail, _ = await walked(narrow, first_turn("料金 解約 超過 返金 プラン"))
    assert len(trail) <= 2


async def test_voice_gets_fewer_words(navigator: OfflineNavigator) -> None:
    """N-31: one passage, no list of what was looked at."""
    question = first_turn("海外配送の送料と関税を知りたい")
    _, text = await walked(navigator, question)
    _, voice = await walked(navigator, question, channel="voice")
    assert len(voice.text) < len(text.text)


async def test_a_question_of_signs_alone_is_not_found(navigator: OfflineNavigator) -> None:
    """Nothing to look for is nothing found, not a failure."""
    _, answer = await walked(navigator, first_turn("？？？"))
    assert answer.text.startswith("適合する情報が見つかりませんでした")


async def test_how_much_is_answered_with_a_figure(navigator: OfflineNavigator) -> None:
    """A question for an amount prefers the sentence that has one."""
    _, answer = await walked(navigator, first_turn("超過レートはいくらですか？"))
    assert "1件3円" in answer.text
