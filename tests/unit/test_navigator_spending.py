"""Spending limits of questions: no round is begun that could go over one."""

from __future__ import annotations

import asyncio

import pytest

from corpus2skill.domain.message import Usage
from corpus2skill.domain.money import flat_price, free, unknown_price
from corpus2skill.domain.run import RunLimits
from corpus2skill.errors import ModelUnavailable, UnusableSettings
from corpus2skill.messages import message
from corpus2skill.navigator.spending import require_price
from tests.fakes.navigation import Navigation, with_limits
from tests.fakes.navigator_model import Script, ScriptedModel, says, wants
from tests.fakes.sample_version import CANCELLATION, PRICING

pytestmark = pytest.mark.anyio

PRICE = flat_price(1.0, 5.0)
"""A first round of the little tree can cost 0.0053 dollars at most."""
ROUND = Usage(input_tokens=2_000, output_tokens=100)
"""0.0025 dollars."""


def priced(limits: RunLimits) -> Navigation:
    navigation = Navigation(limits)
    navigation.price = PRICE
    return navigation


@pytest.mark.requirement("N-46")
async def test_a_run_ends_before_the_round_that_could_go_over_its_limit() -> None:
    """Issue: reached limits end with a clear outcome and sentence."""
    navigation = priced(with_limits(run_dollars=0.02))
    usages = Usage(input_tokens=16_000, output_tokens=100)
    model = ScriptedModel(wants(PRICING, usage=usages), says("はい。"))
    record = await navigation.ask(model)
    assert (record.outcome, len(model.requests), len(record.visits)) == ("budget", 1, 2)
    assert record.answer == message("ja", "outcome.budget.text")
    assert record.error_class == "SpendingCapReached"
    assert "run_cap_reached" in (record.error_detail or "")
    assert record.usd == pytest.approx(0.0165)


@pytest.mark.requirement("N-46")
async def test_a_run_that_stays_within_its_limit_is_not_disturbed() -> None:
    """What the provider counted is not weighed again as if it were new."""
    navigation = priced(with_limits(run_dollars=0.04))
    steps = [wants(path, usage=ROUND) for path in (PRICING, CANCELLATION, "annual", "doc_chunk_7")]
    record = await navigation.ask(ScriptedModel(*steps, says("はい。")))
    assert record.outcome == "answered"
    assert record.usd is not None
    assert record.usd <= 0.04


@pytest.mark.requirement("N-46")
@pytest.mark.parametrize("channel", ["text", "voice"])
async def test_a_session_s_limit_counts_its_earlier_questions(channel: str) -> None:
    """Issue: per session."""
    navigation = priced(with_limits(session_dollars=0.017))
    model = ScriptedModel(says("はい。", usage=Usage(input_tokens=15_000)), is_repeating=True)
    first = await navigation.ask(model)
    second = await navigation.ask(model, channel="voice" if channel == "voice" else "text")
    other = await navigation.ask(model, session="session_2")
    assert [run.outcome for run in (first, second, other)] == ["answered", "budget", "answered"]
    assert second.answer == message("ja", f"outcome.budget.{channel}")
    assert "session_cap_reached" in (second.error_detail or "")


@pytest.mark.requirement("N-46")
async def test_a_tenant_s_limit_counts_the_last_24_hours() -> None:
    """Issue: per tenant and day."""
    navigation = priced(with_limits(day_dollars=0.02))
    model = ScriptedModel(says("はい。", usage=Usage(input_tokens=15_000)), is_repeating=True)
    outcomes: list[str] = []
    for session, pause in (("a", 3600), ("b", 24 * 3600), ("c", 0)):
        outcomes.append((await navigation.ask(model, session=session)).outcome)
        navigation.clock.advance(pause)
    assert outcomes == ["answered", "budget", "answered"]


@pytest.mark.requirement("N-46")
async def test_runs_at_the_same_time_share_what_is_left() -> None:
    """Each holds what its round can cost before it is sent."""
    navigation = priced(with_limits(day_dollars=0.009))
    waiting = ScriptedModel(Script(hangs=True))
    running = asyncio.create_task(navigation.ask(waiting, session="a"))
    await waiting.hanging.wait()
    refused = await navigation.ask(ScriptedModel(), session="b")
    running.cancel()
    await asyncio.wait((running,))
    answered = await navigation.ask(ScriptedModel(says("はい。")), session="c")
    assert (refused.outcome, answered.outcome) == ("budget", "answered")


@pytest.mark.requirement("N-46")
async def test_a_stream_that_broke_off_may_have_cost_all_that_was_held_for_it() -> None:
    """Nobody said what it used."""
    navigation = priced(with_limits(run_dollars=0.009))
    broken = Script(deltas=("年",), error=ModelUnavailable())
    record = await navigation.ask(ScriptedModel(broken, is_repeating=True))
    assert (record.outcome, record.retries) == ("budget", 1)


@pytest.mark.requirement("N-46")
async def test_the_embedded_engine_is_never_held_up() -> None:
    """What costs nothing goes over no limit, however much was spent before."""
    navigation = priced(with_limits(session_dollars=0.017))
    usage = Usage(input_tokens=15_000)
    outcomes = [(await navigation.ask(ScriptedModel(says("はい。", usage=usage)))).outcome for _ in range(2)]
    assert outcomes == ["answered", "budget"]
    navigation.price = free
    assert (await navigation.ask(ScriptedModel(says("はい。")))).outcome == "answered"


@pytest.mark.requirement("N-46")
@pytest.mark.parametrize("limit", ["run_dollars", "session_dollars", "day_dollars"])
def test_a_model_of_unknown_price_is_refused_under_a_limit(limit: str) -> None:
    """design.md, paying: a model of unknown price is refused under a cap."""
    with pytest.raises(UnusableSettings) as refusal:
        require_price("openai:x", unknown_price, with_limits(**{limit: 1.0}))
    assert refusal.value.code == "limit_without_price"
    require_price("openai:x", unknown_price, RunLimits())
    require_price("openai:x", PRICE, with_limits(**{limit: 1.0}))


async def test_without_a_limit_nothing_is_held_up() -> None:
    """Unknown prices are no matter then."""
    record = await Navigation().ask(ScriptedModel(says("はい。", usage=ROUND)))
    assert (record.outcome, record.usd) == ("answered", None)
