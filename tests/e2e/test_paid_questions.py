"""Questions to a paid model, from the command line: what they cost, what limits them, what cannot be asked."""

from __future__ import annotations

import pytest

from tests.e2e.command_line import Ran
from tests.e2e.paid import PRICE_VARIABLES, Shop, bytes_below
from tests.fakes.providers import KEY, Script
from tests.fakes.providers.behaviour import ErrorKind, fails, overloaded, stalled

QUESTION = "出張の申請はいつまでですか？"


def ask(shop: Shop, *more: str, json: bool = True) -> Ran:
    return shop.cli("ask", QUESTION, "--model", shop.provider, *(("--json",) if json else ()), *more)


@pytest.fixture(autouse=True)
def _compiled(request: pytest.FixtureRequest) -> None:
    """The documents are compiled by the offline engine: only questions cost something here."""
    shop: Shop = request.getfixturevalue("shop" if "shop" in request.fixturenames else "one_shop")
    assert shop.cli("compile", shop.documents).code == 0
    assert shop.calls == []


@pytest.mark.requirement("N-47", "N-44")
def test_a_question_is_answered_paid_for_and_recorded(shop: Shop) -> None:
    """design.md, a run record: tokens in, out and cached, money."""
    shop.server.script = Script().when(lambda prompt: bool(prompt.tools), overloaded(), times=1)
    ran = ask(shop)
    record = ran.json
    assert (ran.code, record["outcome"], record["retries"]) == (0, "answered", 1)
    used = record["usage"]
    assert record["usd"] == pytest.approx((used["input_tokens"] + 5 * used["output_tokens"]) / 1_000_000)
    assert record["rounds"] == len(shop.answered)


@pytest.mark.requirement("N-46")
@pytest.mark.parametrize("limit", ["question_cost", "session_cost", "day_cost"])
def test_a_limit_that_one_round_could_go_over_lets_nothing_be_asked(one_shop: Shop, limit: str) -> None:
    """Issue: spending limits per run, per session, per tenant and day."""
    assert one_shop.cli("config", "set", limit, "0.0001").code == 0
    ran = ask(one_shop)
    assert (ran.json["outcome"], ran.json["error_class"], one_shop.calls) == (
        "budget",
        "SpendingCapReached",
        [],
    )
    assert ran.code != 0


@pytest.mark.requirement("N-46")
def test_what_a_conversation_spent_counts_in_the_next_process(one_shop: Shop) -> None:
    """The sums come from the records."""
    first = ask(one_shop).json
    assert one_shop.cli("config", "set", "session_cost", str(first["usd"] + 0.001)).code == 0
    again = ask(one_shop, "--session", first["ids"]["session"]).json
    other = one_shop.cli("config", "set", "session_cost", "1")
    assert (again["outcome"], other.code) == ("budget", 0)
    assert ask(one_shop, "--session", first["ids"]["session"]).json["outcome"] == "answered"


@pytest.mark.requirement("N-46")
def test_a_model_of_unknown_price_is_refused_under_a_limit_with_what_to_do(
    one_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """design.md, paying."""
    for name in PRICE_VARIABLES:
        monkeypatch.delenv(name)
    assert ask(one_shop).json["usd"] is None
    one_shop.server.calls.clear()
    one_shop.cli("config", "set", "day_cost", "5")
    ran = ask(one_shop, json=False)
    assert (ran.code, one_shop.calls) == (2, [])
    assert "input_price" in ran.err


@pytest.mark.requirement("N-44")
@pytest.mark.parametrize("kind", ["authentication", "billing", "permission"])
def test_a_key_that_is_refused_ends_a_question_at_once_and_is_shown_nowhere(
    one_shop: Shop, kind: ErrorKind
) -> None:
    """Issue: never in a log, error, record, tree or trace."""
    one_shop.server.script = Script().always(fails(kind, echoes_key=True))
    ran = ask(one_shop, json=False)
    assert len(one_shop.calls) == 1
    assert "管理者" in ran.out
    assert KEY not in ran.out + ran.err
    assert KEY.encode() not in bytes_below(one_shop.cli.workspace)


@pytest.mark.requirement("N-44")
def test_why_a_question_failed_is_said_in_the_reader_s_words_and_again_by_its_record(one_shop: Shop) -> None:
    """The asker is told to turn to the administrator, who reads what is to be set right."""
    one_shop.server.script = Script().always(fails("authentication"))
    asked = ask(one_shop, json=False)
    run = next(word for word in asked.err.split() if word.startswith("run_"))
    shown = one_shop.cli("records", "show", run)
    for text in (asked.err, shown.out):
        assert "The key for" in text
        assert "was refused" in text
        assert "key_refused" not in text


@pytest.mark.requirement("N-47", "N-44")
def test_the_last_line_says_what_it_cost_who_answered_and_what_was_tried_again(
    one_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the question's end and in its record."""
    one_shop.server.script = Script().when(lambda prompt: bool(prompt.tools), overloaded(), times=1)
    asked = ask(one_shop, json=False)
    last = asked.err.splitlines()[-1]
    run = next(word for word in last.split() if word.startswith("run_"))
    assert "  retries 1  " in last
    assert "  $0." in last
    assert f"  {one_shop.provider}:" in last
    assert last in one_shop.cli("records", "show", run).out
    for name in PRICE_VARIABLES:
        monkeypatch.delenv(name)
    assert "price unknown" in ask(one_shop, json=False).err.splitlines()[-1]


@pytest.mark.requirement("N-44")
def test_that_it_waits_and_why_is_said_on_standard_error(
    one_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address that nobody answers at is not silence."""
    monkeypatch.setenv("CORPUS2SKILL_RUN_SECONDS", "1")
    ran = one_shop.cli("ask", QUESTION, "--model", "openai:qwen3", "--base-url", "http://127.0.0.1:9/v1")
    waiting = [line for line in ran.err.splitlines() if "(try 2)" in line]
    assert len(waiting) == 1
    assert "http://127.0.0.1:9" in waiting[0]


@pytest.mark.requirement("N-44")
def test_a_stream_that_stalls_is_begun_again_after_the_time_that_was_set(
    one_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: stalled streams."""
    monkeypatch.setenv("CORPUS2SKILL_SILENCE_SECONDS", "0.2")
    one_shop.server.script = Script().on_call(1, stalled(2))
    record = ask(one_shop).json
    assert (record["outcome"], record["retries"]) == ("answered", 1)
