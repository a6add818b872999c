"""What a model's window has no room for: history first, then the rest of a document, and both are said."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus2skill.adapters.offline.walk import read_walk
from corpus2skill.domain.message import ProgramMessage, Text, ToolResult
from corpus2skill.domain.tokens import upper_prompt_tokens
from corpus2skill.messages import message
from corpus2skill.navigator.first_part import first_part, json_tokens
from tests.fakes.navigation import Navigation, with_limits
from tests.fakes.navigator_model import ScriptedModel, says, wants
from tests.fakes.sample_version import ANNUAL_BODY, ANNUAL_LEAF, CORPUS, PRICING

pytestmark = pytest.mark.anyio

LONG = "年額プランの解約は、契約管理画面の「解約申請」から行うものとする。\n" * 4_000


class NarrowModel(ScriptedModel):
    """Has so small a window; refuses what does not fit, as a provider does."""

    def __init__(self, window: int, *steps: object) -> None:
        super().__init__(*steps)  # type: ignore[arg-type]
        self.window = window


def with_long_leaf(body: str = LONG) -> Navigation:
    navigation = Navigation()
    files = navigation.store.files(CORPUS, 1)
    leaf = files[f"tree/{CORPUS}/{ANNUAL_LEAF}"].decode("utf-8")
    files[f"tree/{CORPUS}/{ANNUAL_LEAF}"] = leaf.replace(ANNUAL_BODY, body).encode("utf-8")
    return navigation


@pytest.mark.requirement("N-45")
async def test_a_leaf_larger_than_the_window_is_shown_up_to_a_sentence_end_and_marked() -> None:
    """Issue, bad input: a leaf larger than the window."""
    navigation = with_long_leaf()
    model = NarrowModel(8_192, wants(ANNUAL_LEAF), says("末日まで使えます [doc_chunk_7]。"))
    record = await navigation.ask(model)
    shown = _last_result(model)
    assert shown["notice"] == message("ja", "tool.first_part")
    assert str(shown["content"]).endswith("行うものとする。")
    assert 500 < len(str(shown["content"])) < 8_192
    assert [visit.is_cut for visit in record.visits] == [False, True]
    assert (record.outcome, [source.doc_id for source in record.citations]) == ("answered", ["doc_chunk_7"])
    assert all(upper_prompt_tokens(*request.texts) + 400 <= 8_192 for request in model.requests)


@pytest.mark.requirement("N-45")
async def test_what_fits_is_shown_whole_and_says_nothing() -> None:
    """The article's five fields and no other."""
    model = ScriptedModel(wants(ANNUAL_LEAF), says("はい。"))
    record = await with_long_leaf().ask(model)
    assert set(_last_result(model)) == {"path", "content", "node_type", "children", "doc_id"}
    assert not any(visit.is_cut for visit in record.visits)


@pytest.mark.requirement("N-45")
async def test_when_nothing_more_fits_the_model_is_told_to_answer_and_nothing_counts_as_read() -> None:
    """Every path asked for is a fetch and a visit; evidence is what the model was shown."""
    navigation = with_long_leaf()
    model = NarrowModel(8_192, wants(ANNUAL_LEAF), wants(PRICING), says("末日まで使えます。"))
    record = await navigation.ask(model)
    assert _last_result(model)["message"] == message("ja", "tool.window_full")
    assert [(visit.node, visit.status) for visit in record.visits] == [
        ("root", "found"),
        ("doc_chunk_7", "found"),
        ("pricing", "too_large"),
    ]
    assert (record.fetches, len(record.evidence), record.outcome) == (2, 1, "answered")


@pytest.mark.requirement("N-45", "N-09")
async def test_a_leaf_that_has_no_room_is_a_visit_and_no_evidence_and_cannot_be_cited() -> None:
    """Every path asked for is a fetch and a visit."""
    model = NarrowModel(8_192, wants(ANNUAL_LEAF), wants("doc_chunk_5"), says("月末まで [doc_chunk_5]。"))
    record = await with_long_leaf().ask(model)
    (_, _, last) = record.visits
    assert (last.status, last.doc_id, last.has_reason) == ("too_large", "doc_chunk_5", False)
    assert ([source.doc_id for source in record.evidence], record.struck_citations) == (["doc_chunk_7"], 1)


@pytest.mark.requirement("N-45", "N-09")
async def test_asking_a_third_time_for_what_has_no_room_ends_the_run() -> None:
    """As a wrong path does: each of them is a paid round, and the window has no room for many."""
    model = NarrowModel(8_192, wants(ANNUAL_LEAF), *(wants(PRICING) for _ in range(8)))
    record = await with_long_leaf().ask(model)
    assert (record.outcome, record.fetches, len(record.visits)) == ("tool_misuse", 4, 5)


@pytest.mark.requirement("N-45")
async def test_a_list_that_has_no_room_names_the_children_that_can_be_fetched_instead() -> None:
    """The model is told what to do."""
    navigation = Navigation()
    files = navigation.store.files(CORPUS, 1)
    root = files[f"tree/{CORPUS}/SKILL.md"].decode("utf-8")
    files[f"tree/{CORPUS}/SKILL.md"] = root.replace("サンプルの利用規約。", LONG.replace("\n", "")).encode(
        "utf-8"
    )
    model = NarrowModel(3_250, says("わかりません。"))
    record = await navigation.ask(model)
    told = _last_result(model)
    assert (told["error"], told["children"]) == ("node_too_large", ["cancellation", "pricing"])
    assert [(visit.status, visit.is_prefetched) for visit in record.visits] == [("too_large", True)]


@pytest.mark.requirement("N-45")
async def test_a_window_too_small_for_the_instructions_ends_the_run_before_anything_is_asked() -> None:
    """Issue 4, bad input: a window too small."""
    model = NarrowModel(1_000, says("はい。"))
    record = await Navigation().ask(model)
    assert (record.outcome, record.error_class, model.requests) == ("model_failed", "ModelUnusable", [])
    assert "window_too_small" in (record.error_detail or "")


@pytest.mark.requirement("N-45", "N-21")
async def test_the_history_gives_way_before_documents_do() -> None:
    """Issue: history is cut first."""
    navigation = Navigation()
    for number in range(12):
        await navigation.ask(ScriptedModel(says("長い答えです。" * 30)), f"{number}番目の質問です。")
    model = NarrowModel(8_192, wants(ANNUAL_LEAF), says("はい。"))
    record = await navigation.ask(model)
    assert 0 < record.left_out_turns < 12
    assert not any(visit.is_cut for visit in record.visits)
    (notice, _question) = (part for part in model.requests[0].messages[0].parts if isinstance(part, Text))
    assert notice.text == message("ja", "history.left_out", turns=record.left_out_turns)


@pytest.mark.requirement("N-21", "N-45")
async def test_what_the_program_says_in_front_of_a_question_is_no_question_for_the_embedded_engine() -> None:
    """It reads the conversation from the same messages as any model."""
    navigation = Navigation()
    model = ScriptedModel(says("はい。"), is_repeating=True)
    await navigation.ask(model, "年額の解約は？")
    first = read_walk(model.requests[-1].messages)
    navigation.limits = with_limits(history_tokens=1)
    await navigation.ask(model, "月額は？")
    bare = read_walk(model.requests[-1].messages)
    navigation.limits = with_limits(history_tokens=30)
    await navigation.ask(model, "従量は？")
    third = read_walk(model.requests[-1].messages)
    assert (first.question, first.earlier_question, first.fetched) == ("年額の解約は？", "", {"SKILL.md"})
    assert bare.question == "月額は？"
    assert (third.question, third.earlier_question) == ("従量は？", "月額は？")


@pytest.mark.requirement("N-45")
@settings(max_examples=200, deadline=None)
@given(st.text(max_size=400), st.integers(0, 300))
@example("第12条。解約は「申請」から行う。返金はしない。", 20)
@example("改行\n" * 100, 50)
@example('"' * 100, 40)
def test_a_first_part_is_a_beginning_that_fits(text: str, tokens: int) -> None:
    """Whatever the text."""
    part = first_part(text, tokens)
    assert text.startswith(part)
    assert part == text or json_tokens(part) <= max(tokens, json_tokens(""))


def _last_result(model: ScriptedModel) -> dict[str, object]:
    last = model.requests[-1].messages[-1]
    assert isinstance(last, ProgramMessage)
    (result,) = (part for part in last.parts if isinstance(part, ToolResult))
    return json.loads(result.content)
