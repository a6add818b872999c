"""A model that is unavailable: tried again while the asker can wait, and no longer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from corpus2skill.domain.message import ModelEvent
from corpus2skill.domain.run import AnswerDelta, RoundDelayed, RunEvent
from corpus2skill.errors import ModelUnavailable, ModelUnusable
from corpus2skill.messages import error_message, message
from corpus2skill.navigator.tries import seconds_before_try
from corpus2skill.ports.navigator_model import NavigatorRequest
from tests.fakes.navigation import Navigation, with_limits
from tests.fakes.navigator_model import Script, ScriptedModel, says, streamed, wants
from tests.fakes.sample_version import PRICING
from tests.fakes.virtual_time import VirtualClock, run_in_virtual_time

BUSY = ModelUnavailable("model_overloaded", model="m", endpoint="e", reason="busy", status=529)


def asked_to_wait(seconds: float) -> ModelUnavailable:
    return ModelUnavailable("rate_limited", retry_after=seconds, model="m", endpoint="e", reason="slow down")


@pytest.mark.anyio
@pytest.mark.requirement("N-44")
async def test_an_overloaded_model_is_tried_again_with_growing_waits() -> None:
    """Issue: overload, each handled as design.md says."""
    navigation = Navigation()
    record = await navigation.ask(ScriptedModel(BUSY, BUSY, wants(PRICING), BUSY, says("はい。")))
    assert (record.outcome, record.rounds, record.retries) == ("answered", 2, 3)
    assert navigation.waits == [0.25, 0.5, 0.25]
    assert [line for line in navigation.told() if line.startswith("round")] == [
        "round 1",
        "round 1, try 2",
        "round 1, try 3",
        "round 2",
        "round 2, try 2",
    ]


@pytest.mark.anyio
@pytest.mark.requirement("N-44")
async def test_why_and_how_long_a_round_waits_is_told_before_it_does() -> None:
    """An address that nobody answers at would else be minutes of silence."""
    navigation = Navigation()
    waits_when_told: list[int] = []
    delays: list[RoundDelayed] = []

    def listen(event: RunEvent) -> None:
        if isinstance(event, RoundDelayed):
            delays.append(event)
            waits_when_told.append(len(navigation.waits))

    await navigation.ask(ScriptedModel(BUSY, BUSY, says("はい。")), listener=listen)
    assert [(delay.attempt, delay.seconds) for delay in delays] == [(2, 0.25), (3, 0.5)]
    assert waits_when_told == [0, 1]
    first = delays[0]
    assert message("ja", f"error.{first.error_code}", **first.error_values) == error_message("ja", BUSY)


@pytest.mark.anyio
@pytest.mark.requirement("N-51")
@pytest.mark.parametrize("language", ["ja", "en"])
async def test_a_record_has_what_the_sentence_of_its_error_is_made_of(language: str) -> None:
    """Whoever runs the program reads it in their own language, also later and elsewhere."""
    error = ModelUnusable("key_refused", model="m", reason="no")
    record = await Navigation().ask(ScriptedModel(error))
    assert record.error_code is not None
    told = message(language, f"error.{record.error_code}", **record.error_values)
    assert told == error_message(language, error)


@pytest.mark.anyio
@pytest.mark.requirement("N-44")
async def test_a_model_that_stays_away_is_given_up_after_so_many_tries() -> None:
    """House style 17: bounded in tries and time."""
    navigation = Navigation(with_limits(tries=3))
    record = await navigation.ask(ScriptedModel(BUSY, is_repeating=True))
    assert (record.outcome, record.rounds, record.retries) == ("model_failed", 1, 2)
    assert (record.error_class, record.answer) == (
        "ModelUnavailable",
        message("ja", "outcome.model_failed.text"),
    )


@pytest.mark.anyio
@pytest.mark.requirement("N-44")
async def test_the_provider_s_own_wait_is_kept_to() -> None:
    """Issue: Retry-After."""
    navigation = Navigation()
    await navigation.ask(ScriptedModel(asked_to_wait(7), says("はい。")))
    assert navigation.waits == [7.0]


@pytest.mark.anyio
@pytest.mark.requirement("N-44")
async def test_a_wait_beyond_the_run_s_time_is_not_begun() -> None:
    """Nobody is made to wait for what cannot come."""
    navigation = Navigation(with_limits(seconds=60))
    record = await navigation.ask(ScriptedModel(asked_to_wait(60)))
    assert (record.outcome, record.total_ms, navigation.waits) == ("model_failed", 0, [])


@pytest.mark.anyio
@pytest.mark.requirement("N-44")
@pytest.mark.parametrize("code", ["key_refused", "quota_used_up", "model_unknown"])
@pytest.mark.parametrize("channel", ["text", "voice"])
async def test_a_model_that_cannot_be_used_ends_the_run_at_once_with_plain_words(
    code: str, channel: str
) -> None:
    """Issue, bad input: the asker is not sent away to try again what cannot work."""
    navigation = Navigation()
    error = ModelUnusable(code, model="anthropic:x", endpoint="https://example.test", reason="no")
    record = await navigation.ask(ScriptedModel(error), channel="voice" if channel == "voice" else "text")
    assert (record.outcome, record.rounds, record.error_class) == ("model_failed", 1, "ModelUnusable")
    assert record.answer == message("ja", f"outcome.model_failed.lasting.{channel}")
    assert "管理者" in record.answer
    assert code not in record.answer


@pytest.mark.requirement("N-44", "N-26")
def test_a_stream_that_stalls_again_and_again_ends_with_the_run_s_time() -> None:
    """The time limit of the run holds over all tries."""

    async def stalls() -> None:
        navigation = Navigation(with_limits(seconds=50, round_seconds=30), clock=VirtualClock())
        record = await navigation.ask(StallingModel(12.5))
        assert record.outcome == "timed_out"
        assert record.total_ms == 50_000
        assert record.retries == 3

    run_in_virtual_time(stalls())


@pytest.mark.requirement("N-25", "N-44")
def test_a_run_is_cancelled_while_it_waits_for_its_next_try() -> None:
    """Issue: cancel at any moment."""

    async def cancelled() -> None:
        navigation = Navigation(clock=VirtualClock())
        model = ScriptedModel(Script(deltas=("年",), error=asked_to_wait(20)))
        run = asyncio.create_task(navigation.ask(model))
        await asyncio.sleep(5)
        navigation.cancellation.cancel("barge_in")
        record = await run
        assert (record.outcome, record.total_ms, len(model.requests)) == ("interrupted", 5000, 1)

    run_in_virtual_time(cancelled())


@pytest.mark.requirement("N-49", "N-23")
def test_a_listener_that_blocks_costs_the_run_none_of_its_time() -> None:
    """Issue, bad input: a listener that blocks; the outcome is the right one and the record is there."""

    async def blocked() -> None:
        clock = VirtualClock()
        navigation = Navigation(with_limits(seconds=20, round_seconds=10), clock=clock)

        def block(event: RunEvent) -> None:
            navigation.events.append(event)
            if isinstance(event, AnswerDelta):
                clock.block(30)

        model = ScriptedModel(
            streamed(("料金を見ます",), wants(PRICING)), streamed(("はい。",), says("はい。"))
        )
        record = await navigation.ask(model, listener=block)
        assert (record.outcome, navigation.record, record.total_ms) == ("answered", record, 60_000)

    run_in_virtual_time(blocked())


@pytest.mark.parametrize("failed", range(1, 30))
def test_a_wait_grows_to_a_limit_and_is_never_shorter_than_asked_for(failed: int) -> None:
    """Jittered: from half to all of the backoff."""
    shortest = seconds_before_try(BUSY, failed, lambda: 0.0)
    longest = seconds_before_try(BUSY, failed, lambda: 0.999)
    assert 0.25 <= shortest < longest <= 10
    assert seconds_before_try(asked_to_wait(20), failed, lambda: 0.0) == 20


class StallingModel(ScriptedModel):
    """Never answers; each try breaks off after so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(BUSY, is_repeating=True)
        self._seconds = seconds

    async def reply(self, request: NavigatorRequest) -> AsyncIterator[ModelEvent]:
        await asyncio.sleep(self._seconds)
        async for event in super().reply(request):
            yield event
