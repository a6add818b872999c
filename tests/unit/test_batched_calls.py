"""Calls paid through batches: at half the price, each once, picked up again, the rest asked singly."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from corpus2skill.domain.job import BatchWaiting, ModelWaiting
from corpus2skill.domain.language import Language
from corpus2skill.domain.message import Usage
from corpus2skill.domain.model_call import TextReply
from corpus2skill.domain.money import Spending, unknown_price
from corpus2skill.errors import (
    BadReply,
    Corpus2SkillError,
    ModelUnavailable,
    ModelUnusable,
    SpendingCapReached,
    UnusableSettings,
    WorkspaceUnusable,
)
from corpus2skill.messages import error_message
from tests.fakes.batch_model import USAGE, FakeBatchModel, answered
from tests.fakes.clock import START
from tests.fakes.language_model import FakeLanguageModel
from tests.unit.batch_desk import BatchDesk, batch_price, price, subjects

LANGUAGES: tuple[Language, ...] = ("ja", "en")


class Interrupted(BaseException):
    """A process that ends."""


def overloaded() -> ModelUnavailable:
    return ModelUnavailable("model_overloaded", model="fake:model", endpoint="-", reason="busy", status=529)


def failing_at(door: str, *errors: BaseException | None) -> FakeBatchModel:
    """Batches that raise these errors, one each time the door is passed; None lets one pass."""
    left = list(errors)

    def step(at: str) -> None:
        if at == door and left and (error := left.pop(0)) is not None:
            raise error

    return FakeBatchModel(step=step)


def said(error: Corpus2SkillError) -> None:
    """Every error has its sentence in both languages."""
    for language in LANGUAGES:
        assert "{" not in error_message(language, error)


def test_summaries_are_paid_through_one_batch_at_its_price() -> None:
    """Issue 4, batch mode: half the price. One call goes ahead singly, so that refusals are learned from it."""
    desk = BatchDesk()
    assert desk.run(subjects(50)) == ["要約"] * 50
    assert desk.batches.sizes == [49]
    assert len(desk.single.calls) == 1
    (line,) = desk.ledger.spending
    assert line.dollars == pytest.approx(49 * batch_price(USAGE) + price(USAGE))
    assert replace(line, dollars=None) == Spending(
        purpose="summarize",
        model="fake:model",
        calls=50,
        reused=0,
        usage=Usage(input_tokens=5_000, output_tokens=1_000),
        dollars=None,
    )
    assert desk.log.noted == {}


def test_a_second_run_pays_nothing_and_hands_in_nothing() -> None:
    """design.md, section 6: a finished call is never made again."""
    desk = BatchDesk()
    desk.run(subjects(9))
    desk.run(subjects(9))
    (line,) = desk.ledger.spending
    assert (line.calls, line.reused) == (0, 9)
    assert desk.batches.sizes == [8]
    assert len(desk.single.calls) == 1


def test_a_batch_takes_as_many_calls_as_the_provider_lets_it() -> None:
    """The port: `most_calls`."""
    desk = BatchDesk(batches=FakeBatchModel(most_calls=20))
    desk.run(subjects(51))
    assert desk.batches.sizes == [20, 20, 10]
    desk.batches.finish()
    assert set(desk.batches.paid.values()) == {1}


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_call_or_two_are_not_worth_a_batch(count: int) -> None:
    """A batch may take a day."""
    desk = BatchDesk()
    assert desk.run(subjects(count)) == ["要約"] * count
    assert desk.batches.sizes == []


def test_what_is_waited_for_is_told_and_looked_at_less_and_less_often() -> None:
    """Issue 4, batch mode: progress is told."""
    desk = BatchDesk(batches=FakeBatchModel(looks=100))
    desk.run(subjects(5))
    waits = [event for event in desk.told if isinstance(event, BatchWaiting)]
    assert waits[0] == BatchWaiting(model="fake:model", batch_id="batch-1", calls=4, done=0)
    assert waits[-1] == BatchWaiting(model="fake:model", batch_id="batch-1", calls=4, done=4, is_ended=True)
    assert 3 * 3600 < desk.seconds < 4 * 3600


def test_a_batch_that_does_not_end_within_a_day_is_left_and_the_next_run_goes_on() -> None:
    """Issue 4, batch mode: bounded by the provider's 24 hours."""
    desk = BatchDesk(batches=FakeBatchModel(looks=1_000))
    with pytest.raises(ModelUnavailable) as overdue:
        desk.run(subjects(5))
    assert overdue.value.code == "batch_overdue"
    said(overdue.value)
    assert 25 * 3600 <= desk.seconds < 25.1 * 3600
    desk.batches.batches["batch-1"].looks_left = 0
    assert desk.run(subjects(5)) == ["要約"] * 5
    assert desk.batches.sizes == [4]


def test_calls_that_ran_out_of_time_are_handed_in_again_and_then_asked_singly() -> None:
    """Issue 4, batch mode: expired batches."""
    desk = BatchDesk(batches=FakeBatchModel(outcome=lambda _id: None))
    assert desk.run(subjects(6)) == ["要約"] * 6
    assert desk.batches.sizes == [5, 5]
    assert len(desk.single.calls) == 6
    assert not desk.batches.paid


def test_a_call_that_failed_or_is_unusable_is_asked_singly() -> None:
    """Issue 4, batch mode: only what failed is asked again."""
    desk = BatchDesk()
    failed, unreadable = desk.key("第1条"), desk.key("第2条")
    outcomes = {failed: overloaded(), unreadable: BadReply("unreadable_reply", model="m", reason="-")}
    desk.batches.outcome = lambda key: outcomes.get(key) or answered(key)
    assert desk.run(subjects(6)) == ["要約"] * 6
    assert desk.batches.sizes == [5]
    assert [call.subject for call in desk.single.calls] == ["第0条", "第1条", "第2条"]


def test_a_reply_that_was_paid_for_and_is_none_counts_as_much_as_it_may_have_cost() -> None:
    """Nobody said what it used."""
    desk = BatchDesk(cap=1.0)
    desk.batches.outcome = lambda _key: BadReply("unreadable_reply", model="m", reason="-")
    desk.run(subjects(3))
    (line,) = desk.ledger.spending
    assert line.calls == 2 + 3
    assert line.dollars is not None
    assert line.dollars > 2 * batch_price(Usage(input_tokens=600, output_tokens=300))


def test_a_batch_whose_every_call_failed_says_why_and_leaves_nothing() -> None:
    """Issue 4, batch mode: to ask all of them singly would cost twice what was agreed to."""
    desk = BatchDesk(batches=FakeBatchModel(outcome=lambda _id: overloaded()))
    with pytest.raises(ModelUnavailable) as failed:
        desk.run(subjects(6))
    assert failed.value.code == "model_overloaded"
    assert len(desk.single.calls) == 1
    assert desk.log.noted == {}
    desk.batches.outcome = answered
    assert desk.run(subjects(6)) == ["要約"] * 6
    assert desk.batches.sizes == [5, 4]


def test_a_batch_that_is_refused_as_a_whole_says_why_and_is_handed_in_anew() -> None:
    """OpenAI looks at a batch's file only after it was taken."""
    desk = BatchDesk(batches=failing_at("results", ModelUnusable("batch_refused", model="m", reason="limit")))
    with pytest.raises(ModelUnusable) as refused:
        desk.run(subjects(4))
    said(refused.value)
    assert desk.log.noted == {}
    assert desk.run(subjects(4)) == ["要約"] * 4


def test_an_endpoint_without_batches_says_so_before_anything_is_paid() -> None:
    """Issue 4, batch mode: `no_batches`."""
    missing = ModelUnusable("endpoint_not_api", model="m", endpoint="-", status=404, reason="-")
    desk = BatchDesk(batches=failing_at("find", missing))
    with pytest.raises(ModelUnusable) as refused:
        desk.run(subjects(4))
    assert refused.value.code == "no_batches"
    said(refused.value)
    assert desk.single.calls == []


def test_a_wrong_key_stops_before_a_batch() -> None:
    """House rule: refuse before the first paid call."""
    refused = ModelUnusable("key_refused", model="m", endpoint="-", status=401, reason="-")
    desk = BatchDesk(single=FakeLanguageModel(refused))
    with pytest.raises(ModelUnusable):
        desk.run(subjects(4))
    assert desk.batches.sizes == []


def test_a_refusal_of_the_batch_leaves_no_note() -> None:
    """Nothing was begun."""
    over = ModelUnusable("quota_used_up", model="m", endpoint="-", status=402, reason="-")
    desk = BatchDesk(batches=failing_at("before submit", over))
    with pytest.raises(ModelUnusable):
        desk.run(subjects(4))
    assert desk.log.noted == {}


@pytest.mark.parametrize("door", ["before submit", "after submit", "status", "results", "result"])
def test_an_overload_at_any_request_is_waited_out(door: str) -> None:
    """Issue 4, rates: 429 on polling. A lost answer to handing in leads to no second batch."""
    limited = ModelUnavailable("rate_limited", retry_after=60.0, model="m", endpoint="-", reason="-")
    desk = BatchDesk(batches=failing_at(door, limited, limited))
    assert desk.run(subjects(5)) == ["要約"] * 5
    assert desk.batches.sizes == [4]
    desk.batches.finish()
    assert set(desk.batches.paid.values()) == {1}
    assert next(event.code for event in desk.told if isinstance(event, ModelWaiting)) == "rate_limited"
    (line,) = desk.ledger.spending
    assert line.calls == 5


def test_an_outage_of_half_an_hour_does_not_end_the_waiting() -> None:
    """The batch goes on at the provider meanwhile."""
    desk = BatchDesk(batches=failing_at("status", None, *([overloaded()] * 60)))
    assert desk.run(subjects(5)) == ["要約"] * 5
    assert desk.batches.sizes == [4]


def test_a_batch_that_goes_over_the_cap_is_not_handed_in() -> None:
    """Issue 4, money: the upper bound of the whole batch is set aside before."""
    desk = BatchDesk(cap=0.05)
    with pytest.raises(SpendingCapReached):
        desk.run(subjects(100))
    assert desk.batches.sizes == []
    assert desk.log.noted == {}


def test_a_cap_below_the_upper_bound_of_all_cuts_batches_that_fit() -> None:
    """Issue 4, money: real replies cost far less than is set aside, so the next batch fits after the first."""
    desk = BatchDesk(cap=0.6)
    assert desk.run(subjects(200)) == ["要約"] * 200
    assert len(desk.batches.sizes) > 1
    assert min(desk.batches.sizes[:-1]) >= 20
    assert sum(desk.batches.sizes) == 199


def test_a_cap_reached_half_way_keeps_what_was_paid_for() -> None:
    """Issue 4, money: `--max-cost` leaves a resumable state."""
    desk = BatchDesk(cap=0.25)
    with pytest.raises(SpendingCapReached):
        desk.run(subjects(400))
    kept = len(desk.store.results)
    assert kept > 20
    desk.cap = None
    assert desk.run(subjects(400)) == ["要約"] * 400
    desk.batches.finish()
    assert set(desk.batches.paid.values()) == {1}
    assert sum(desk.batches.sizes) + len(desk.single.calls) == 400


def test_a_cap_needs_a_price() -> None:
    """As for single calls."""
    with pytest.raises(UnusableSettings):
        BatchDesk(cap=1.0, price=unknown_price).run(subjects(3))
    assert BatchDesk(price=unknown_price).run(subjects(3)) == ["要約"] * 3


@pytest.mark.parametrize("keeps_tokens", [True, False])
@pytest.mark.parametrize("door", ["before submit", "after submit", "status", "results", "result"])
def test_a_process_that_ends_at_any_step_leaves_a_batch_that_is_picked_up(
    door: str, keeps_tokens: bool
) -> None:
    """Issue 4, batch mode: a restart picks the batch up again; nothing is paid twice."""
    desk = BatchDesk(batches=failing_at(door, Interrupted()))
    desk.batches.keeps_tokens = keeps_tokens
    with pytest.raises(Interrupted):
        desk.run(subjects(8))
    assert desk.run(subjects(8)) == ["要約"] * 8
    desk.batches.finish()
    assert set(desk.batches.paid.values()) == {1}
    assert len(desk.batches.paid) + len(desk.single.calls) == 8
    assert desk.log.noted == {}


def test_a_batch_is_read_and_kept_though_its_calls_are_no_longer_wanted() -> None:
    """Issue 4, batch mode: it was paid for; an edit may be taken back."""
    desk = BatchDesk(batches=failing_at("status", Interrupted()))
    with pytest.raises(Interrupted):
        desk.run(subjects(6))
    assert desk.run(["別の条"]) == ["要約"]
    assert len(desk.store.results) == 7
    kept = desk.store.results[desk.key("第3条")]
    assert (kept.subject, kept.corpus, kept.purpose) == ("第3条", "terms", "summarize")
    assert kept.prompt_characters > 30
    assert kept.dollars == batch_price(USAGE)


def test_new_calls_go_into_a_batch_of_their_own_beside_the_one_picked_up() -> None:
    """Issue 4: an edit while a batch is under way costs its own calls only."""
    desk = BatchDesk(batches=failing_at("status", Interrupted()))
    with pytest.raises(Interrupted):
        desk.run(subjects(6))
    assert desk.run(subjects(10)) == ["要約"] * 10
    assert desk.batches.sizes == [5, 3]
    desk.batches.finish()
    assert set(desk.batches.paid.values()) == {1}


def test_another_program_s_batch_of_the_same_size_is_not_taken_for_ours() -> None:
    """Anthropic keeps no token: a batch under way is known by its size alone, an ended one by its ids."""
    desk = BatchDesk(batches=failing_at("after submit", Interrupted()))
    desk.batches.keeps_tokens = False
    with pytest.raises(Interrupted):
        desk.run(subjects(6))
    desk.batches.add_foreign(5)
    assert desk.run(subjects(6)) == ["要約"] * 6
    assert desk.batches.sizes == [5, 5]
    assert [desk.batches.paid[desk.key(subject)] for subject in subjects(6)[1:]] == [1] * 5


def test_an_earlier_batch_of_ours_is_not_taken_for_one_that_was_never_handed_in() -> None:
    """Two batches of one size, killed between noting and handing in the second."""
    left = ["before submit", "after submit", "before submit"]

    def step(door: str) -> None:
        if left and door == left[0]:
            left.pop(0)
            if not left:
                raise Interrupted

    desk = BatchDesk(batches=FakeBatchModel(most_calls=5, keeps_tokens=False, step=step))
    with pytest.raises(Interrupted):
        desk.run(subjects(11))
    assert len(desk.log.noted) == 2
    assert desk.run(subjects(11)) == ["要約"] * 11
    desk.batches.finish()
    assert set(desk.batches.paid.values()) == {1}


def noted_long_ago(desk: BatchDesk, age: timedelta) -> None:
    """A batch of this run's calls that the provider does not know."""
    with pytest.raises(Interrupted):
        desk.run(subjects(4))
    for token, batch in desk.log.noted.items():
        desk.log.noted[token] = replace(batch, noted_at=START - age)
    desk.batches.batches.clear()


def test_a_batch_that_this_key_cannot_see_is_not_paid_for_anew() -> None:
    """Another key's batch: what to do is said, and nothing is sent."""
    desk = BatchDesk(batches=failing_at("status", Interrupted()))
    noted_long_ago(desk, timedelta(days=1))
    with pytest.raises(ModelUnusable) as lost:
        desk.run(subjects(4))
    assert lost.value.code == "batch_not_found"
    said(lost.value)
    assert len(desk.log.noted) == 1


def test_a_batch_whose_results_the_provider_has_deleted_is_given_up() -> None:
    """After a week nobody has them any more."""
    desk = BatchDesk(batches=failing_at("status", Interrupted()))
    noted_long_ago(desk, timedelta(days=8))
    assert desk.run(subjects(4)) == ["要約"] * 4
    assert desk.batches.sizes == [3]


def test_the_same_text_in_two_places_is_handed_in_once() -> None:
    """One paid call, one key."""
    desk = BatchDesk()
    assert desk.run([*subjects(4), *subjects(4)]) == ["要約"] * 8
    assert desk.batches.sizes == [3]


def test_a_listener_that_fails_stops_nothing() -> None:
    """ports.events: a listener may fail or go away."""
    desk = BatchDesk()

    class Deaf(list[object]):
        def append(self, _event: object, /) -> None:
            raise RuntimeError

    desk.told = Deaf()  # type: ignore[assignment]
    assert desk.run(subjects(4)) == ["要約"] * 4


def test_a_store_that_refuses_ends_the_run_and_the_batch_is_read_again() -> None:
    """Issue 4, bad input: a full disk while storing a result loses nothing."""
    desk = BatchDesk(batches=failing_at("status", Interrupted()))
    with pytest.raises(Interrupted):
        desk.run(subjects(6))
    desk.store.refusal = WorkspaceUnusable("disk_full", path="-", reason="-")
    with pytest.raises(WorkspaceUnusable):
        desk.run(subjects(6))
    assert len(desk.log.noted) == 1
    desk.store.refusal = None
    assert desk.run(subjects(6)) == ["要約"] * 6
    desk.batches.finish()
    assert set(desk.batches.paid.values()) == {1}


def test_replies_are_kept_as_the_provider_gave_them() -> None:
    """The key is the one that a single call has: `PaidModel` finds what a batch answered."""
    desk = BatchDesk()
    desk.batches.outcome = lambda key: TextReply(text=f"返答 {key[:6]}", stop="max_tokens", usage=USAGE)
    texts = desk.run(subjects(3))
    assert texts == ["要約", *(f"返答 {desk.key(subject)[:6]}" for subject in subjects(3)[1:])]
    assert desk.store.results[desk.key("第1条")].reply.stop == "max_tokens"
