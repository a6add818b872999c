"""A cap is never gone over, and what was paid for below it is not paid for again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from corpus2skill.domain.message import Usage
from tests.e2e.command_line import Ran
from tests.e2e.paid import INPUT_PRICE, OUTPUT_PRICE, Shop, spent
from tests.fakes.providers import Script
from tests.fakes.providers.behaviour import edited
from tests.fakes.providers.prompt import Answer, Prompt

LOW, HIGH = "0.012", "5"


@pytest.mark.requirement("P-05")
def test_a_cap_stops_before_the_call_that_could_exceed_it_and_a_higher_one_goes_on(shop: Shop) -> None:
    """Issue, money: `--max-cost` reserves each call's upper bound and leaves a resumable state."""
    stopped = shop.compile("--max-cost", LOW, "--json")
    assert (stopped.code, stopped.json["error"]["code"]) == (11, "spending_cap_reached")
    before = len(shop.answered)
    assert before > 0
    assert 0 < _spent(stopped) <= float(LOW)
    assert _spent(stopped) == pytest.approx(_billed(shop), abs=0.0001)
    assert (shop.results(), shop.active()) == (before, None)
    again = shop.compile("--max-cost", HIGH, "--json")
    assert again.code == 0
    assert shop.server.calls.paid_twice == []
    assert spent(again)["summarize"]["reused"] == before
    assert len(shop.answered) == len({call.digest for call in shop.answered})


@pytest.mark.requirement("P-05")
def test_a_compile_that_stops_at_its_cap_says_what_was_paid_and_leaves_the_live_version(
    one_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue, money: real usage and money on the screen however it ends."""
    assert one_shop.cli("compile", one_shop.documents).code == 0
    for language, total, advice in (
        ("en", "Paid: $0.0", "higher cap"),
        ("ja", "支払い合計: $0.0", "上限を上げて"),
    ):
        monkeypatch.setenv("CORPUS2SKILL_LANG", language)
        ran = one_shop.elsewhere(language).compile("--max-cost", LOW)
        assert ran.code == 11
        assert total in ran.err, ran.err
        assert advice in ran.err
        assert ran.out == ""
    ran = one_shop.compile("--max-cost", LOW)
    assert (ran.code, one_shop.active()) == (11, 1)
    assert one_shop.is_sound()


@pytest.mark.requirement("P-05")
def test_caps_raised_step_by_step_come_to_the_tree_of_one_run_and_to_its_bill(one_shop: Shop) -> None:
    """The same in every stage: each run stays under its cap, and none repeats what another paid for."""
    cap, runs = 0.004, 0
    ran = one_shop.compile("--max-cost", str(cap), "--json")
    while ran.code == 11:
        assert _spent(ran) <= cap
        cap, runs = cap * 1.5, runs + 1
        ran = one_shop.compile("--max-cost", str(cap), "--json")
    assert (ran.code, runs > 3) == (0, True)
    assert sum(line["dollars"] for line in ran.json["spending"]) <= cap
    assert one_shop.server.calls.paid_twice == []
    paid = len(one_shop.answered)
    whole = one_shop.elsewhere("whole")
    one_shop.server.calls.clear()
    assert whole.paid().code == 0
    assert (len(one_shop.answered), whole.files()) == (paid, one_shop.files())


@pytest.mark.requirement("P-05")
def test_a_cap_below_the_first_call_makes_none(one_shop: Shop) -> None:
    """A dollar's fraction that no call fits into: refused, not gone over by one."""
    ran = one_shop.compile("--max-cost", "0.000001", "--json")
    assert (ran.code, ran.json["error"]["code"], one_shop.calls) == (11, "spending_cap_reached", [])


@pytest.mark.requirement("P-06")
def test_what_was_paid_stands_in_the_answer_and_in_the_manifest_by_purpose(shop: Shop) -> None:
    """Issue, money: real usage and money per stage afterwards, in the manifest and on the screen."""
    ran = shop.paid("--json")
    manifest = json.loads((shop.tree_folder() / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["spending"] == ran.json["spending"] == ran.json["manifest"]["spending"]
    assert {name: line["calls"] for name, line in spent(ran).items()} == shop.purposes()
    assert sum(line["dollars"] for line in ran.json["spending"]) == pytest.approx(_billed(shop))


def _spent(ran: Ran) -> float:
    return float(ran.json["error"]["values"]["spent"])


@pytest.fixture(autouse=True)
def metered(request: pytest.FixtureRequest) -> None:
    """Every reply tells the same usage."""
    name = "shop" if "shop" in request.fixturenames else "one_shop"
    request.getfixturevalue(name).server.script = Script().always(edited(_measured))


def _measured(answer: Answer, _prompt: Prompt) -> Answer:
    return replace(answer, usage=Usage(input_tokens=1000, output_tokens=100))


def _billed(shop: Shop) -> float:
    """What the server's replies so far came to, at the shop's prices."""
    return len(shop.answered) * (1000 * INPUT_PRICE + 100 * OUTPUT_PRICE) / 1_000_000
