"""What holds for every run, whatever the model says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus2skill.domain.message import (
    ModelEvent,
    ModelPart,
    Reply,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from corpus2skill.domain.run import RunLimits, RunRecord
from corpus2skill.domain.session import Channel
from corpus2skill.errors import BadReply, ModelError, ModelRefused, ModelUnavailable
from corpus2skill.ports.navigator_model import NavigatorRequest
from tests.fakes.clock import FakeClock
from tests.fakes.navigation import Navigation
from tests.fakes.navigator_model import Script, ScriptedModel, Step, call, says, wants
from tests.fakes.sample_version import ALL_PATHS
from tests.fakes.virtual_time import VirtualClock


def _path_argument(path: str) -> object:
    return {"path": path}


PATHS = st.sampled_from(
    (*ALL_PATHS, "cancellation", "annual", "doc_chunk_7", "doc_chunk_9", "weekly", "../SKILL.md", "", "解約")
)
WORDS = st.sampled_from(
    (
        "",
        " ",
        "年額の枝を見ます",
        "末日まで使えます [doc_chunk_7]。",
        "[doc_chunk_9][doc_chunk_99]",
        "適合する情報が見つかりませんでした。",
        "No matching information was found.",
        "半\ud83d",
    )
)
ARGUMENTS: st.SearchStrategy[object] = PATHS.map(_path_argument) | st.sampled_from(
    ("", "{", "[]", '{"path": 1}')
)
CALLS = st.builds(
    call, ARGUMENTS, st.integers(1, 9), name=st.sampled_from(("get_document",) * 5 + ("search",))
)
PARTS: st.SearchStrategy[ModelPart] = (
    CALLS | WORDS.map(Text) | st.builds(Thinking, text=WORDS, signature=st.sampled_from((None, "signed")))
)
REPLIES = st.builds(
    Reply,
    parts=st.lists(PARTS, max_size=5).map(tuple),
    stop=st.sampled_from(("end", "tool_use", "tool_use", "max_tokens", "refusal")),
    usage=st.builds(Usage, input_tokens=st.integers(0, 9)),
)
ERRORS = st.sampled_from((ModelUnavailable(), BadReply(), ModelRefused(), ModelError()))
STEPS = st.lists(st.one_of(REPLIES, PATHS.map(wants), ERRORS), max_size=30)
LIMITS = st.builds(
    RunLimits,
    fetches=st.integers(0, 8),
    rounds=st.integers(1, 12),
    last_word=st.sampled_from(("stop", "answer")),
)


@pytest.mark.requirement("N-07", "N-13", "N-24", "N-29")
@settings(max_examples=300, deadline=None)
@given(steps=STEPS, limits=LIMITS, channel=st.sampled_from(("text", "voice")))
@example(steps=[wants("cancellation"), says("はい。")], limits=RunLimits(), channel="text")
def test_any_replies_end_in_one_sound_record(steps: list[Step], limits: RunLimits, channel: Channel) -> None:
    """The article: どの経路で終わっても、足跡と終了の種別が必ず記録に残ります; design.md, section 4."""
    navigation = Navigation(limits)
    model = ScriptedModel(*steps, says("終わります。"), is_repeating=True)
    record = asyncio.run(navigation.ask(SlowModel(model, navigation.clock), channel=channel))
    assert navigation.record == record
    _check_counts(record, limits)
    _check_trail(record)
    _check_citations(record)
    _check_history(model)
    assert record.answer.strip()
    record.answer.encode("utf-8")
    assert navigation.told().count(f"finished {record.outcome}") == 1


@pytest.mark.requirement("N-24", "N-25")
@settings(max_examples=60, deadline=None)
@given(steps=STEPS, moment=st.integers(0, 8))
def test_a_run_cancelled_at_any_moment_leaves_one_record(steps: list[Step], moment: int) -> None:
    """The article: 途中で止まったから何も残っていない、という状態を作らない."""
    navigation = Navigation()

    async def cancel_at_moment() -> None:
        model = ScriptedModel(*steps[:moment], Script(hangs=True))
        run = asyncio.create_task(navigation.ask(model))
        hangs = asyncio.create_task(model.hanging.wait())
        await asyncio.wait((run, hangs), return_when=asyncio.FIRST_COMPLETED)
        hangs.cancel()
        run.cancel()
        await asyncio.wait((run,))

    asyncio.run(cancel_at_moment())
    _check_trail(navigation.record)
    _check_citations(navigation.record)


class SlowModel:
    """Another model's replies, a second a round later."""

    def __init__(self, model: ScriptedModel, clock: FakeClock | VirtualClock) -> None:
        self.name, self.window, self.thinking_tokens = model.name, model.window, model.thinking_tokens
        self._model = model
        self._clock = clock

    async def close(self) -> None:
        """Nothing to give back."""

    async def reply(self, request: NavigatorRequest) -> AsyncIterator[ModelEvent]:
        self._clock.advance(1)
        async for event in self._model.reply(request):
            yield event


def _check_counts(record: RunRecord, limits: RunLimits) -> None:
    visited = sum(not visit.is_prefetched for visit in record.visits)
    assert record.fetches == visited <= limits.fetches <= 8
    assert record.rounds <= limits.rounds


def _check_trail(record: RunRecord) -> None:
    assert [visit.number for visit in record.visits] == list(range(1, len(record.visits) + 1))
    assert [visit.is_prefetched for visit in record.visits][:1] == [True]
    assert all(visit.reason.strip() for visit in record.visits)
    assert sum(visit.elapsed_ms for visit in record.visits) <= record.total_ms
    assert all(visit.model_ms + visit.fetch_ms <= visit.elapsed_ms for visit in record.visits)
    assert sum(visit.usage.input_tokens for visit in record.visits) <= record.usage.input_tokens


def _check_citations(record: RunRecord) -> None:
    read = {visit.doc_id for visit in record.visits if visit.doc_id is not None}
    assert {source.doc_id for source in record.evidence} == read
    assert set(record.citations) <= set(record.evidence)
    assert "doc_chunk_" not in record.answer


def _check_history(model: ScriptedModel) -> None:
    """Every call has its one result, right after it, and nothing empty is sent."""
    for request in model.requests:
        for message, following in zip(request.messages, request.messages[1:], strict=False):
            calls = [part.call_id for part in message.parts if isinstance(part, ToolCall)]
            results = [part.call_id for part in following.parts if isinstance(part, ToolResult)]
            assert calls == results
        assert all(message.parts for message in request.messages)
        texts = (
            part.text for message in request.messages for part in message.parts if isinstance(part, Text)
        )
        assert all(text.strip() for text in texts)
