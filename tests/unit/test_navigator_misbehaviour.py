"""Models, listeners and trees that misbehave: one test or more for each row of design.md's table."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict

import anyio
import pytest

from corpus2skill.domain.message import ModelMessage, Reply, Text, Thinking, ToolCall, ToolResult
from corpus2skill.domain.run import RunEvent, RunIds, RunRecord
from corpus2skill.errors import (
    BadReply,
    InvalidQuestion,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    WorkspaceUnusable,
)
from corpus2skill.messages import message
from corpus2skill.navigator.outcome import CancelReason
from tests.fakes.navigation import Navigation, with_limits
from tests.fakes.navigator_model import Script, ScriptedModel, call, of, says, streamed, wants
from tests.fakes.record_store import FakeRecordStore
from tests.fakes.sample_version import ANNUAL_LEAF, CANCELLATION, CORPUS, PRICING, ROOT

pytestmark = pytest.mark.anyio


class FullRecordStore(FakeRecordStore):
    """Has no room for another run."""

    def open_run(self, ids: RunIds, opening: RunRecord, lease_seconds: float) -> int:
        raise WorkspaceUnusable("disk_full")


UNKNOWN = of(call({"query": "解約"}, name="search"))


@pytest.mark.requirement("N-22")
async def test_a_run_is_told_of_as_it_happens() -> None:
    """The article, 探索の途中経過を、その場で流す."""
    navigation = Navigation()
    model = ScriptedModel(
        streamed(("料金を", "見ます"), wants(PRICING, why="料金を見ます")),
        streamed(("加算します。",), says("加算します。")),
    )
    await navigation.ask(model)
    assert navigation.told() == [
        "started",
        "visit root",
        "round 1",
        "text 料金を",
        "text 見ます",
        "navigate",
        "visit pricing",
        "round 2",
        "text 加算します。",
        "answer",
        "finished answered",
    ]


@pytest.mark.requirement("N-23")
async def test_a_listener_that_fails_is_told_nothing_more_and_the_run_goes_on() -> None:
    """The article: 表示は落ちてもよいが、記録は落としてはいけない; field report 22."""
    navigation = Navigation()
    told: list[RunEvent] = []

    def leave(event: RunEvent) -> None:
        told.append(event)
        if len(told) == 3:
            raise ConnectionResetError

    record = await navigation.ask(ScriptedModel(wants(PRICING), says("はい。")), listener=leave)
    assert (record.outcome, navigation.record, len(told)) == ("answered", record, 3)


@pytest.mark.requirement("N-28")
async def test_an_unknown_tool_is_answered_with_what_there_is() -> None:
    """The article, 知らない道具を要求されると会話が壊れる; field report 19."""
    model = ScriptedModel(UNKNOWN, wants(PRICING), UNKNOWN, says("はい。"))
    record = await Navigation().ask(model)
    result = _results(model, 1)[0]
    assert result.is_error
    assert json.loads(result.content)["tools"] == ["get_document"]
    assert (record.outcome, record.fetches) == ("answered", 1)


@pytest.mark.requirement("N-28", "N-09")
async def test_the_second_unknown_tool_in_a_row_ends_the_run() -> None:
    """design.md, unknown tool."""
    record = await Navigation().ask(ScriptedModel(UNKNOWN, UNKNOWN))
    assert (record.outcome, record.fetches, record.rounds) == ("tool_misuse", 0, 2)


@pytest.mark.requirement("N-29")
@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "{",
        "null",
        "[]",
        '"SKILL.md"',
        "{}",
        '{"path": 7}',
        '{"path": null}',
        "[" * 5000,
        '{"path": "a"} x',
    ],
)
async def test_malformed_arguments_are_answered_and_go_back_as_an_object(arguments: str) -> None:
    """design.md: rounds with malformed calls are bounded too; every tool call has its result."""
    model = ScriptedModel(of(call(arguments)), says("はい。"))
    record = await Navigation().ask(model)
    assert (record.outcome, record.fetches) == ("answered", 0)
    assert json.loads(_results(model, 1)[0].content)["error"] == "malformed_call"
    asked = model.requests[1].messages[-2].parts[0]
    assert isinstance(asked, ToolCall)
    assert isinstance(json.loads(asked.arguments), dict)


@pytest.mark.requirement("N-29")
async def test_the_third_round_in_a_row_without_a_path_ends_the_run() -> None:
    """design.md: rounds with malformed calls are bounded too; each of them is paid."""
    record = await Navigation().ask(ScriptedModel(of(call("{")), is_repeating=True))
    assert (record.outcome, record.rounds) == ("tool_misuse", 3)


@pytest.mark.requirement("N-29")
async def test_malformed_calls_and_unknown_tools_in_turn_are_bounded_together() -> None:
    """Neither the second unknown tool in a row nor the third malformed call ever comes."""
    model = ScriptedModel(of(call("{")), UNKNOWN, of(call("{")), UNKNOWN)
    record = await Navigation().ask(model)
    assert (record.outcome, record.rounds) == ("tool_misuse", 3)


@pytest.mark.requirement("N-29")
async def test_a_round_that_asks_for_a_path_lets_malformed_calls_begin_anew() -> None:
    """A model that gets on is left to get on."""
    bad, mixed = of(call("{")), of(call("{", 1), call({"path": PRICING}, 2))
    record = await Navigation().ask(ScriptedModel(bad, bad, mixed, bad, bad, says("はい。")))
    assert (record.outcome, record.rounds, record.fetches) == ("answered", 6, 1)


@pytest.mark.requirement("N-29")
async def test_calls_of_one_id_go_back_under_different_ones_each_with_its_result() -> None:
    """A provider refuses a history in which two calls have one id."""
    same = of(call({"path": PRICING}, 1), call({"path": "doc_chunk_7"}, 1))
    unnamed = of(ToolCall(call_id="", name="get_document", arguments='{"path": "doc_chunk_5"}'))
    made_up = of(ToolCall(call_id="prefetch_root", name="get_document", arguments='{"path": "cancellation"}'))
    model = ScriptedModel(same, same, unnamed, made_up, says("はい。"))
    record = await Navigation().ask(model)
    parts = [part for message in model.requests[-1].messages[3:] for part in message.parts]
    asked = [part.call_id for part in parts if isinstance(part, ToolCall)]
    assert asked == [part.call_id for part in parts if isinstance(part, ToolResult)]
    assert len(set(asked)) == len(asked) == 6
    assert "prefetch_root" not in asked
    assert (asked[0], record.fetches) == ("call_1", 6)


@pytest.mark.requirement("N-29")
async def test_every_call_of_a_mixed_reply_has_its_result_in_order() -> None:
    """Field report 20."""
    reply = of(
        call({"path": PRICING}, 1),
        call("{", 2),
        call({}, 3, name="search"),
        call({"path": "x"}, 4),
        Text("理由"),
    )
    model = ScriptedModel(reply, says("はい。"))
    await Navigation().ask(model)
    results = _results(model, 1)
    assert [(result.call_id, result.is_error) for result in results] == [
        ("call_1", False),
        ("call_2", True),
        ("call_3", True),
        ("call_4", True),
    ]


@pytest.mark.requirement("N-30")
@pytest.mark.parametrize(
    ("second", "third"),
    [
        ("weekly", "weekly"),
        ("/weekly", "./weekly/"),
        ("weekly/SKILL.md", "weekly.md"),
        ("Weekly", "ｗｅｅｋｌｙ"),
        (" weekly ", "weekly//SKILL.md"),
    ],
)
async def test_the_third_same_wrong_path_ends_the_run(second: str, third: str) -> None:
    """design.md; field report 16: repeats of the same wrong path end the turn, however each is spelled."""
    model = ScriptedModel(wants("weekly"), wants(second), wants(PRICING), wants(third))
    record = await Navigation().ask(model)
    assert (record.outcome, record.fetches) == ("tool_misuse", 4)
    assert [visit.status for visit in record.visits].count("not_found") == 3


@pytest.mark.requirement("N-32")
@pytest.mark.parametrize(
    "empty",
    [
        Reply(parts=(), stop="end"),
        says(" \n\u3000"),
        of(Thinking(text="考え中", signature="s"), stop="end"),
        says("[doc_chunk_7]"),
        Reply(parts=(), stop="max_tokens"),
    ],
)
async def test_an_empty_reply_is_asked_once_more_and_not_sent_back(empty: Reply) -> None:
    """design.md, empty reply."""
    model = ScriptedModel(empty, says("はい。"))
    record = await Navigation().ask(model)
    assert (record.outcome, record.answer, record.rounds) == ("answered", "はい。", 2)
    assert all(message.parts for message in model.requests[1].messages)
    assert "[doc_chunk_7]" not in str(model.requests[1].messages)


@pytest.mark.requirement("N-32")
async def test_the_second_empty_reply_ends_the_run() -> None:
    """design.md: then model_failed."""
    record = await Navigation().ask(ScriptedModel(says(""), says("")))
    assert (record.outcome, record.error_class, record.rounds) == ("model_failed", "BadReply", 2)


@pytest.mark.requirement("N-27")
async def test_empty_blocks_are_dropped_and_signed_thinking_goes_back_untouched() -> None:
    """The article, 空の思考ブロックで通信が拒否される; field report 20."""
    signed, signed_empty = Thinking(text=" 考え ", signature="s1"), Thinking(text="", signature="s2")
    asked = call({"path": PRICING})
    reply = of(signed, Thinking(text=""), signed_empty, Text(" \n"), Text("料金を見ます"), asked)
    model = ScriptedModel(reply, says("はい。"))
    await Navigation().ask(model)
    assert model.requests[1].messages[-2] == ModelMessage((signed, signed_empty, Text("料金を見ます"), asked))


@pytest.mark.requirement("N-33")
async def test_calls_of_a_cut_reply_are_not_carried_out_and_asked_again() -> None:
    """design.md, cut output; field report 21."""
    cut = of(call({"path": PRICING}, 1), call('{"path": "canc', 2), stop="max_tokens")
    model = ScriptedModel(cut, wants(CANCELLATION), says("はい。"))
    record = await Navigation().ask(model)
    assert [json.loads(result.content)["error"] for result in _results(model, 1)] == ["cut_call", "cut_call"]
    assert (record.outcome, [visit.path for visit in record.visits]) == ("answered", [ROOT, CANCELLATION])


@pytest.mark.requirement("N-33")
async def test_replies_cut_again_and_again_end_the_run() -> None:
    """design.md: to be retried, bounded."""
    cut = of(call('{"path": "', 1), stop="max_tokens")
    record = await Navigation().ask(ScriptedModel(cut, is_repeating=True))
    assert (record.outcome, record.rounds) == ("model_failed", 2)


@pytest.mark.requirement("N-33")
async def test_a_cut_answer_is_kept_and_marked() -> None:
    """design.md: in an answer truncated in the record."""
    record = await Navigation().ask(ScriptedModel(says("年額プランは契約期間の", stop="max_tokens")))
    assert (record.outcome, record.is_truncated) == ("answered", True)


@pytest.mark.requirement("N-34")
@pytest.mark.parametrize("refusal", [says("I can't", stop="refusal"), ModelRefused("model_refused")])
async def test_a_refusal_ends_the_run_with_a_fixed_sentence(refusal: Reply | ModelRefused) -> None:
    """design.md, outcomes: refused."""
    navigation = Navigation()
    record = await navigation.ask(ScriptedModel(refusal))
    assert record.outcome == "refused"
    assert "控えました" in record.answer
    assert navigation.told()[-2:] == ["refused", "finished refused"]


@pytest.mark.requirement("N-35")
async def test_a_stream_that_breaks_is_begun_again_with_the_draft_dropped() -> None:
    """The article, ターン開始: 書きかけの文を捨ててよい合図."""
    navigation = Navigation()
    broken = Script(deltas=("年額プラ",), error=ModelUnavailable())
    record = await navigation.ask(ScriptedModel(broken, streamed(("年額は末日",), says("年額は末日。"))))
    assert navigation.told()[2:7] == [
        "round 1",
        "text 年額プラ",
        "delayed 1 by model_unavailable",
        "round 1, try 2",
        "text 年額は末日",
    ]
    assert (record.outcome, record.answer) == ("answered", "年額は末日。")
    assert (record.rounds, record.retries) == (1, 1)


@pytest.mark.requirement("N-35")
async def test_a_model_whose_replies_cannot_be_read_twice_in_a_row_ends_the_run() -> None:
    """design.md, outcomes: model_failed."""
    error = BadReply("bad_reply")
    record = await Navigation().ask(ScriptedModel(error, error))
    assert (record.outcome, record.error_class, record.error_detail) == (
        "model_failed",
        "BadReply",
        "bad_reply",
    )


@pytest.mark.requirement("N-35")
async def test_a_failure_now_and_then_does_not_add_up() -> None:
    """Bounded in a row: a long walk may meet several bad moments."""
    model = ScriptedModel(BadReply(), wants(PRICING), BadReply(), says("はい。"))
    assert (await Navigation().ask(model)).outcome == "answered"


@pytest.mark.requirement("N-35")
async def test_another_failure_of_the_model_is_not_tried_again() -> None:
    """house style 17: retry by class. A missing key stays missing."""
    record = await Navigation().ask(ScriptedModel(ModelError("key_missing")))
    assert (record.outcome, record.rounds, record.error_detail) == ("model_failed", 1, "key_missing")


@pytest.mark.parametrize("replies", [(), (says("一"), says("二"))])
async def test_a_stream_without_exactly_one_reply_is_a_failed_round(replies: tuple[Reply, ...]) -> None:
    """ports/navigator_model.py: then exactly one Reply."""
    record = await Navigation().ask(ScriptedModel(Script(events=replies), says("はい。")))
    assert (record.answer, record.rounds) == ("はい。", 2)


@pytest.mark.requirement("N-26")
async def test_a_round_that_takes_too_long_ends_the_run() -> None:
    """design.md, outcomes: timed_out."""
    navigation = Navigation(with_limits(round_seconds=0.01))
    record = await navigation.ask(ScriptedModel(wants(PRICING), Script(deltas=("年",), hangs=True)))
    assert (record.outcome, len(record.visits)) == ("timed_out", 2)
    assert navigation.record == record


@pytest.mark.requirement("N-26")
@pytest.mark.parametrize(
    "late", [Script(hangs=True), Script(hangs=True, ignores_cancellation=True, events=(says("遅い"),))]
)
async def test_a_run_that_takes_too_long_ends_though_its_model_hides_it(late: Script) -> None:
    """The article, 途中でやめるとき: 時間がかかりすぎた場合."""
    navigation = Navigation(with_limits(seconds=0.01))
    assert (await navigation.ask(ScriptedModel(late))).outcome == "timed_out"


@pytest.mark.requirement("N-26")
async def test_a_model_that_turns_the_time_limit_into_its_own_error_is_not_asked_again() -> None:
    """A client library may turn a cancellation into a failed connection."""
    late = Script(hangs=True, ignores_cancellation=True, error=ModelUnavailable())
    record = await Navigation(with_limits(round_seconds=0.01)).ask(ScriptedModel(late))
    assert (record.outcome, record.rounds) == ("timed_out", 1)


@pytest.mark.requirement("N-25", "N-24")
@pytest.mark.parametrize(
    ("reason", "outcome"), [("barge_in", "interrupted"), ("stop", "cancelled"), ("shutdown", "stopped")]
)
async def test_a_run_that_somebody_ends_returns_its_record_with_the_trail_so_far(
    reason: CancelReason, outcome: str
) -> None:
    """design.md, outcomes; interfaces.md: cancel always ends in a written outcome."""
    navigation = Navigation()
    model = ScriptedModel(wants(PRICING), Script(hangs=True))
    run = asyncio.create_task(navigation.ask(model))
    await model.hanging.wait()
    navigation.cancellation.cancel(reason)
    record = await run
    assert (record.outcome, record.visits[-1].node) == (outcome, "pricing")
    assert (navigation.record, len(model.requests)) == (record, 2)
    assert not run.cancelled()


@pytest.mark.requirement("N-25")
async def test_ending_a_run_leaves_the_task_that_asked_uncancelled() -> None:
    """A voice door goes on in the same task after a barge-in."""
    navigation = Navigation()
    model = ScriptedModel(Script(hangs=True))

    async def ask_and_go_on() -> int:
        await navigation.ask(model)
        await asyncio.sleep(0)
        task = asyncio.current_task()
        assert task is not None
        return task.cancelling()

    going_on = asyncio.create_task(ask_and_go_on())
    await model.hanging.wait()
    navigation.cancellation.cancel("barge_in")
    assert await going_on == 0


@pytest.mark.requirement("N-24")
async def test_a_run_whose_process_dies_can_be_closed_with_its_trail_once_its_lease_has_lapsed() -> None:
    """design.md, section 5: its owner holds a lease, so that another process closes it."""
    navigation = Navigation(with_limits(seconds=100))
    model = ScriptedModel(wants(PRICING), Script(hangs=True))
    run = asyncio.create_task(navigation.ask(model))
    await model.hanging.wait()
    navigation.clock.advance(100)
    assert navigation.records.close_dead() == 0
    navigation.clock.advance(100)
    assert navigation.records.close_dead() == 1
    record = navigation.record
    assert (record.outcome, record.answer, [visit.node for visit in record.visits]) == (
        "stopped",
        message("ja", "outcome.stopped.text"),
        ["root", "pricing"],
    )
    run.cancel()
    await asyncio.wait((run,))
    assert navigation.record == record


@pytest.mark.requirement("N-25")
async def test_a_run_ended_before_it_begins_asks_no_model() -> None:
    """interfaces.md, barge-in: no new provider call."""
    navigation = Navigation()
    navigation.cancellation.cancel("barge_in")
    model = ScriptedModel()
    assert ((await navigation.ask(model)).outcome, model.requests) == ("interrupted", [])


@pytest.mark.requirement("N-25")
async def test_a_run_can_be_ended_by_its_own_listener() -> None:
    """A door learns from an event that the asker has gone."""
    navigation = Navigation()

    def end(_event: RunEvent) -> None:
        navigation.cancellation.cancel("stop")

    record = await navigation.ask(ScriptedModel(), listener=end)
    await asyncio.sleep(0)
    assert record.outcome == "cancelled"


@pytest.mark.requirement("N-25")
@pytest.mark.parametrize("error", [None, ModelUnavailable()])
async def test_a_model_that_hides_the_cancellation_is_not_asked_again(error: ModelUnavailable | None) -> None:
    """interfaces.md, barge-in: no new provider call."""
    navigation = Navigation()
    deaf = Script(hangs=True, ignores_cancellation=True, error=error, events=(wants(PRICING),))
    model = ScriptedModel(deaf)
    run = asyncio.create_task(navigation.ask(model))
    await model.hanging.wait()
    navigation.cancellation.cancel("barge_in")
    assert ((await run).outcome, len(model.requests)) == ("interrupted", 1)


@pytest.mark.requirement("N-25", "N-24")
@pytest.mark.parametrize("is_deaf", [False, True])
async def test_a_cancelled_task_is_recorded_and_then_cancelled(is_deaf: bool) -> None:
    """The article: 記録の書き出しはループの外側の後始末処理に一本化."""
    navigation = Navigation()
    model = ScriptedModel(Script(hangs=True, ignores_cancellation=is_deaf, events=(wants(PRICING),)))
    run = asyncio.create_task(navigation.ask(model))
    await model.hanging.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert (navigation.record.outcome, navigation.told()[-1]) == ("cancelled", "finished cancelled")


@pytest.mark.requirement("N-25", "N-24")
async def test_a_cancelled_scope_is_recorded_and_then_left() -> None:
    """The same through anyio, which servers cancel by."""
    navigation = Navigation()
    model = ScriptedModel(Script(hangs=True))
    async with anyio.create_task_group() as group:
        group.start_soon(navigation.ask, model)
        await model.hanging.wait()
        group.cancel_scope.cancel()
    assert navigation.record.outcome == "cancelled"


@pytest.mark.requirement("N-36")
@pytest.mark.parametrize("path", [ROOT, PRICING, ANNUAL_LEAF])
@pytest.mark.parametrize("data", [b"", b"---\nname: x\n", b"\xff\xfe", "# 見出しだけ\n".encode()])
async def test_a_damaged_node_ends_the_run(path: str, data: bytes) -> None:
    """design.md, outcomes: tree_unavailable."""
    navigation = Navigation()
    navigation.store.files(CORPUS, 1)[f"tree/{CORPUS}/{path}"] = data
    record = await navigation.ask(ScriptedModel(wants(path)))
    assert (record.outcome, record.error_class) == ("tree_unavailable", "Damaged")
    assert "文書を読み出せなかった" in record.answer


@pytest.mark.requirement("N-36")
async def test_a_version_without_a_root_or_no_version_at_all_ends_the_run() -> None:
    """The article: ツリーが読めなかった場合."""
    rootless, gone = Navigation(), Navigation()
    del rootless.store.files(CORPUS, 1)[f"tree/{CORPUS}/{ROOT}"]
    gone.version = 9
    assert (await rootless.ask(ScriptedModel())).outcome == "tree_unavailable"
    assert (await gone.ask(ScriptedModel())).error_class == "VersionNotFound"


@pytest.mark.requirement("N-36")
async def test_a_leaf_that_is_known_and_gone_ends_the_run() -> None:
    """A doc id whose file was deleted by hand is damage, not a wrong path."""
    navigation = Navigation()
    del navigation.store.files(CORPUS, 1)[f"tree/{CORPUS}/{ANNUAL_LEAF}"]
    record = await navigation.ask(ScriptedModel(wants("doc_chunk_7")))
    assert (record.outcome, record.error_class) == ("tree_unavailable", "Damaged")


@pytest.mark.requirement("N-37", "N-24")
@pytest.mark.parametrize("error", [ZeroDivisionError(), TimeoutError(), KeyboardInterrupt()])
async def test_the_unexpected_is_recorded_and_raised(error: BaseException) -> None:
    """house style 18 and 25."""
    navigation = Navigation()

    def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        await navigation.ask(ScriptedModel(wants(PRICING), Script(effect=fail)))
    record = navigation.record
    assert (record.outcome, record.error_class, len(record.visits)) == ("stopped", type(error).__name__, 2)
    assert record.error_detail is None


async def test_a_store_that_cannot_note_the_beginning_lets_no_run_begin() -> None:
    """A lost record may not happen: no model is asked for a run that nobody could find again."""
    navigation = Navigation()
    navigation.records = FullRecordStore(navigation.clock)
    model = ScriptedModel()
    with pytest.raises(WorkspaceUnusable):
        await navigation.ask(model)
    assert model.requests == []


@pytest.mark.requirement("N-38")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty_question"),
        (" \n\t\u3000\u200b\u00a0", "empty_question"),
        ("解" * 10_001, "question_too_long"),
        ("あ" * 100_000, "question_too_long"),
        ("解約\udce3", "question_undecodable"),
    ],
)
async def test_a_question_that_cannot_be_asked_is_refused_before_anything_begins(
    text: str, code: str
) -> None:
    """Issue: an empty question, one of 100,000 characters."""
    navigation = Navigation()
    with pytest.raises(InvalidQuestion) as refusal:
        await navigation.ask(ScriptedModel(), text)
    assert refusal.value.code == code
    assert (navigation.events, navigation.records.closed, navigation.records.open_runs) == ([], [], ())


async def test_lone_surrogates_of_a_model_never_reach_asker_or_record() -> None:
    """A cut stream may halve a character outside the basic plane."""
    navigation = Navigation()
    model = ScriptedModel(wants(PRICING, why="料金\ud83d"), streamed(("は\ude00い",), says("は\ude00い。")))
    record = await navigation.ask(model)
    assert (record.answer, record.visits[1].reason) == ("は?い。", "料金?")
    told = json.dumps([asdict(event) for event in navigation.events], ensure_ascii=False)
    assert told == told.encode("utf-8", "replace").decode("utf-8")


def _results(model: ScriptedModel, request: int) -> list[ToolResult]:
    parts = model.requests[request].messages[-1].parts
    return [part for part in parts if isinstance(part, ToolResult)]
