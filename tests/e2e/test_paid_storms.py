"""Storms, cuts and silence: the compile waits them out and pays for nothing twice."""

from __future__ import annotations

import pytest

from tests.e2e.paid import Shop
from tests.fakes.providers import Script
from tests.fakes.providers.behaviour import (
    Behaviour,
    cut_before,
    cut_within,
    fails,
    gateway_page,
    malformed_body,
    overloaded,
    rate_limited,
    stalled,
)


def _weathered(shop: Shop, script: Script) -> None:
    """Compile through the script: success, no call repeated that had succeeded, the tree of a calm day."""
    calm = shop.elsewhere("calm")
    assert calm.paid().code == 0
    shop.server.script = script
    shop.server.calls.clear()
    ran = shop.paid("--json")
    assert ran.code == 0, ran.err
    assert shop.server.calls.paid_twice == []
    assert len(shop.answered) == len({call.digest for call in shop.answered})
    assert shop.files() == calm.files()


@pytest.mark.requirement("P-07")
def test_a_storm_of_refusals_ends_in_success_and_no_call_is_paid_twice(shop: Shop) -> None:
    """Issue, rates: a storm of 429 and 529."""
    _weathered(shop, Script().for_seconds(1.0, rate_limited(retry_after_ms=200), overloaded()))


@pytest.mark.soak
@pytest.mark.requirement("P-07")
def test_a_storm_of_a_minute_ends_in_success_and_no_call_is_paid_twice(shop: Shop) -> None:
    """Issue, rates: a 60 s storm of 429 and 529 ends in success with no call repeated that had succeeded."""
    _weathered(shop, Script().for_seconds(60.0, rate_limited(2), overloaded(), rate_limited(), overloaded()))


@pytest.mark.requirement("P-07")
def test_a_storm_in_the_middle_is_waited_out_and_said_once(one_shop: Shop) -> None:
    """Whoever watches sees what is waited for, and for how long; not once for each call."""
    one_shop.server.script = Script().for_calls(10, 30, overloaded())
    ran = one_shop.paid()
    assert ran.code == 0
    waits = [
        line for line in ran.err.splitlines() if line.startswith("Waiting for anthropic:claude-haiku-5-5")
    ]
    assert len(waits) == 1, ran.err


@pytest.mark.requirement("P-08")
def test_no_call_of_the_key_comes_before_the_time_that_the_provider_asked_for(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue, rates: Retry-After obeyed, also by the calls that were not refused themselves."""
    monkeypatch.setenv("CORPUS2SKILL_CONCURRENCY", "2")
    shop.server.script = Script().on_call(8, rate_limited(1))
    assert shop.paid().code == 0
    refused = next(call for call in shop.calls if call.status == 429)
    assert refused.finished_at is not None
    too_early = [
        call for call in shop.calls if refused.finished_at < call.started_at < refused.finished_at + 1.0
    ]
    assert len(too_early) <= 1, "only the call that was under way beside it"


@pytest.mark.requirement("P-07")
@pytest.mark.parametrize(
    "fault",
    [cut_before(), cut_within(40), gateway_page(502), malformed_body(), fails("server_error")],
    ids=["cut", "cut_within", "html", "half_json", "500"],
)
def test_a_connection_that_breaks_costs_one_more_try_of_that_call(one_shop: Shop, fault: Behaviour) -> None:
    """field report 18: transport failures are retried and never enter the tree."""
    _weathered(one_shop, Script().when(lambda prompt: "規程7\n" in prompt.text, fault, times=1))
    assert len(one_shop.calls) == len(one_shop.answered) + 1


@pytest.mark.requirement("P-07")
def test_a_reply_that_never_comes_is_given_up_after_the_set_time(
    one_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bad input: a provider that goes silent must not hold a compile for ever."""
    monkeypatch.setenv("CORPUS2SKILL_REPLY_SECONDS", "2")
    _weathered(one_shop, Script().when(lambda prompt: "規程7\n" in prompt.text, stalled(), times=1))


@pytest.mark.requirement("P-09")
def test_a_failure_that_stays_fails_the_compile_and_the_same_command_goes_on_later(
    one_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """design.md: a transport failure that stays leaves a failed, resumable state and publishes nothing."""
    monkeypatch.setenv("CORPUS2SKILL_PATIENCE_SECONDS", "1")
    one_shop.server.script = Script().add(lambda asked: overloaded() if asked.call.number > 10 else None)
    failed = one_shop.paid("--json")
    assert (failed.code, failed.json["error"]["code"]) == (4, "model_overloaded")
    assert "Paid: $" in failed.err
    kept = len(one_shop.answered)
    assert (one_shop.results(), one_shop.active()) == (kept, None)
    one_shop.server.script = Script()
    assert one_shop.paid().code == 0
    assert one_shop.server.calls.paid_twice == []
