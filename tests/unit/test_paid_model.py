"""Calls through store, cap, rate and tries: paid once, kept whatever happens, given up with a reason."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus2skill.domain.job import CompileEvent, ModelWaiting
from corpus2skill.domain.language import Language
from corpus2skill.domain.message import ModelMessage, ProgramMessage, Reply, Text, TextDelta, Usage
from corpus2skill.domain.model_call import TextCall, TextReply
from corpus2skill.domain.money import Price, Spending, unknown_price
from corpus2skill.errors import (
    BadReply,
    ModelRefused,
    ModelUnavailable,
    ModelUnusable,
    SpendingCapReached,
    UnusableSettings,
    WorkspaceUnusable,
)
from corpus2skill.messages import error_message
from corpus2skill.paying.budget import Budget
from corpus2skill.paying.call_key import call_key
from corpus2skill.paying.ledger import Ledger
from corpus2skill.paying.paid_model import Account, PaidModel
from corpus2skill.paying.rate import KeyRate
from corpus2skill.ports.navigator_model import NavigatorRequest
from tests.fakes.language_model import Answer, FakeLanguageModel, Round
from tests.fakes.result_store import FakeResultStore
from tests.fakes.virtual_time import VirtualClock, run_in_virtual_time

USAGE = Usage(input_tokens=100, output_tokens=20)
JAPANESE: Language = "ja"


def price(usage: Usage) -> float:
    return (usage.input_tokens + 5 * usage.output_tokens) / 100_000


def call(text: str = "年額プランの解約は、契約管理画面から行う。", *, subject: str = "chunk") -> TextCall:
    return TextCall(
        purpose="summarize",
        prompt_version="summary-1",
        system="見出しと要約を書いてください。",
        messages=(ProgramMessage((Text(text),)),),
        schema='{"type":"object"}',
        max_output_tokens=300,
        subject=subject,
    )


@dataclass(kw_only=True)
class Desk:
    """A paid model with all that stands around it. Made within the loop that it is used in."""

    answers: tuple[Answer, ...] = ("要約",)
    rounds: tuple[Round, ...] = ()
    cap: float | None = None
    price: Price = price
    concurrency: int = 64
    window: int = 100_000
    thinking: int = 0
    store: FakeResultStore = field(default_factory=FakeResultStore)
    seconds: float = 0.0
    """That each call takes."""
    told: list[CompileEvent] = field(default_factory=list[CompileEvent])

    def __post_init__(self) -> None:
        self.clock = VirtualClock()
        self.ledger = Ledger()
        self.model = SlowModel(
            self.seconds,
            *self.answers,
            rounds=self.rounds,
            window=self.window,
            thinking_tokens=self.thinking,
            usage=USAGE,
        )
        self.rate = KeyRate(clock=self.clock, sleep=asyncio.sleep, concurrency=self.concurrency)
        self.account = Account(
            corpus="terms",
            store=self.store,
            budget=Budget(self.cap),
            ledger=self.ledger,
            clock=self.clock,
            sleep=asyncio.sleep,
            chance=lambda: 0.5,
            listener=self.told.append,
        )
        self.paid = PaidModel(self.model, self.account, rate=self.rate, price=self.price)

    @property
    def line(self) -> Spending:
        (line,) = self.ledger.spending
        return line


class SlowModel(FakeLanguageModel):
    """Counts the calls that it finished, in `answered`."""

    def __init__(
        self,
        seconds: float,
        *answers: Answer,
        rounds: tuple[Round, ...],
        window: int,
        thinking_tokens: int,
        usage: Usage,
    ) -> None:
        super().__init__(*answers, rounds=rounds, window=window, thinking_tokens=thinking_tokens, usage=usage)
        self._seconds = seconds
        self.answered = 0

    async def complete(self, call: TextCall) -> TextReply:
        reply = await super().complete(call)
        await asyncio.sleep(self._seconds)
        self.answered += 1
        return reply


def now() -> float:
    return asyncio.get_running_loop().time()


def storm(seconds: float, error: Callable[[], BaseException]) -> Answer:
    """Answer with an error until so much time has passed."""
    return lambda called: error() if now() < seconds else f"要約: {called.subject}"


def test_a_call_is_paid_once_and_answered_from_the_store_ever_after() -> None:
    """design.md, section 6; what a call is for, and about, does not matter."""

    async def main() -> None:
        desk = Desk()
        first = await desk.paid.complete(call())
        again = await desk.paid.complete(replace(call(subject="other"), purpose="describe"))
        assert first == again
        assert len(desk.model.calls) == 1
        summarize, describe = desk.ledger.spending
        assert summarize == Spending(
            purpose="summarize", model="fake:model", calls=1, usage=USAGE, dollars=price(USAGE)
        )
        assert describe == Spending(purpose="describe", model="fake:model", reused=1, saved=price(USAGE))
        later = Desk(store=desk.store)
        assert await later.paid.complete(call()) == first
        assert later.model.calls == []

    run_in_virtual_time(main())


def test_what_is_kept_says_all_that_is_known_of_the_call() -> None:
    """The estimate is corrected by it, and a deleted document's results are found by it."""

    async def main() -> None:
        desk = Desk()
        await desk.paid.complete(call())
        (kept,) = desk.store.results.values()
        assert (kept.key, kept.corpus, kept.model) == (
            call_key(desk.model.identity, call()),
            "terms",
            "fake:model",
        )
        assert (kept.purpose, kept.subject, kept.dollars) == ("summarize", "chunk", price(USAGE))
        assert kept.prompt_characters == len(call().system) + len(call().schema) + 21
        assert kept.paid_at == desk.clock.now()

    run_in_virtual_time(main())


@settings(max_examples=50)
@given(st.text(st.characters(exclude_categories=[]), max_size=30))
def test_a_key_changes_with_all_that_decides_the_reply(text: str) -> None:
    """Promised by the port of the result store."""
    base = call("解約")
    key = call_key("model", base)
    assert key == call_key("model", replace(base, subject=text, purpose="trial"))
    others = [
        call_key("model" + text, base) if text else "",
        call_key("model", replace(base, system=base.system + "。" + text)),
        call_key("model", replace(base, schema=base.schema + " " + text)),
        call_key("model", replace(base, prompt_version="summary-2")),
        call_key("model", replace(base, max_output_tokens=301)),
        call_key("model", replace(base, messages=(*base.messages, ModelMessage((Text(text),))))),
        call_key("model", replace(base, messages=(*base.messages, ProgramMessage((Text(text),))))),
        call_key("model", replace(base, messages=(ProgramMessage((Text("解"), Text("約"))),))),
    ]
    assert len({key, *others}) == len(others) + 1


def test_the_same_call_under_way_is_waited_for_and_not_paid_twice() -> None:
    """Equal chunks are summarized at the same time."""

    async def main() -> None:
        desk = Desk(seconds=1)
        replies = await asyncio.gather(*(desk.paid.complete(call()) for _ in range(5)))
        assert len({reply.text for reply in replies}) == 1
        assert len(desk.model.calls) == 1

    run_in_virtual_time(main())


@pytest.mark.parametrize("retry_after", [None, 1.0, 20.0])
@pytest.mark.parametrize("code", ["rate_limited", "model_overloaded"])
def test_a_storm_of_a_minute_ends_in_success_and_repeats_nothing(
    code: str, retry_after: float | None
) -> None:
    """Field report 5: a 60 s storm of 429 and 529 ends in success; no call repeated that had succeeded."""

    async def main() -> None:
        desk = Desk(
            answers=(storm(60, lambda: ModelUnavailable(code, retry_after=retry_after)),), seconds=0.1
        )
        calls = [call(f"{n}", subject=f"{n}") for n in range(200)]
        gate = asyncio.Semaphore(64)

        async def one(wanted: TextCall) -> TextReply:
            async with gate:
                return await desk.paid.complete(wanted)

        replies = await asyncio.gather(*map(one, calls))
        assert [reply.text for reply in replies] == [f"要約: {n}" for n in range(200)]
        assert desk.model.answered == 200
        assert (desk.line.calls, desk.line.reused) == (200, 0)
        assert desk.line.retries == len(desk.model.calls) - 200
        assert len(desk.model.calls) < 1_200
        assert now() < 140

    run_in_virtual_time(main())


def test_the_one_who_watches_is_told_of_a_wait() -> None:
    """Nobody is to look at a bar that stands still."""

    async def main() -> None:
        desk = Desk(answers=(ModelUnavailable("rate_limited", retry_after=10.0), "要約"))
        await desk.paid.complete(call())
        assert desk.told == [ModelWaiting(model="fake:model", seconds=10.5, tries=1, code="rate_limited")]
        assert now() == 10.5

    run_in_virtual_time(main())


def test_a_listener_that_fails_stops_nothing() -> None:
    """Promised by ports/events.py."""

    async def main() -> None:
        desk = Desk(answers=(ModelUnavailable("rate_limited"), "要約"))

        def fail(event: CompileEvent) -> None:
            raise OSError(f"nobody listens to {event}")

        paid = PaidModel(desk.model, replace(desk.account, listener=fail), rate=desk.rate, price=price)
        assert (await paid.complete(call())).text == "要約"

    run_in_virtual_time(main())


def test_a_provider_that_stays_away_fails_the_call_with_its_own_reason() -> None:
    """Field report 6: nothing is made up for a transport failure."""

    async def main() -> None:
        desk = Desk(answers=(ModelUnavailable("model_overloaded", model="m", reason="busy"),))
        with pytest.raises(ModelUnavailable) as failed:
            await desk.paid.complete(call())
        assert failed.value.code == "model_overloaded"
        assert 240 <= now() <= 300
        assert desk.store.results == {}

    run_in_virtual_time(main())


def test_an_address_where_nobody_answers_fails_within_twenty_seconds() -> None:
    """Issue 4, bad input: no network, wrong base_url."""

    async def main() -> None:
        desk = Desk(answers=(ModelUnavailable("network_unreachable", is_unreachable=True),))
        ended = await asyncio.gather(
            *(desk.paid.complete(call(f"{n}")) for n in range(64)), return_exceptions=True
        )
        assert {type(error) for error in ended} == {ModelUnavailable}
        assert now() <= 20

    run_in_virtual_time(main())


@pytest.mark.parametrize("code", ["key_refused", "quota_used_up"])
def test_an_unusable_model_fails_at_once_and_stops_every_other_call(code: str) -> None:
    """Field report 5: quota-exhausted fails fast, also for those who wait for a slot or a pause."""

    async def main() -> None:
        failed = ModelUnusable(code, model="fake:model", reason="no", endpoint="e", status=401)
        desk = Desk(answers=(lambda _: failed if now() >= 1 else ModelUnavailable("rate_limited"),))
        ended = await asyncio.gather(
            *(desk.paid.complete(call(f"{n}")) for n in range(300)), return_exceptions=True
        )
        assert {type(error) for error in ended} == {ModelUnusable}
        assert {error.code for error in ended if isinstance(error, ModelUnusable)} == {code}
        assert now() < 5
        sent = len(desk.model.calls)
        with pytest.raises(ModelUnusable):
            await desk.paid.complete(call("later"))
        assert len(desk.model.calls) == sent

    run_in_virtual_time(main())


def test_a_prompt_that_does_not_fit_is_not_sent_and_says_what_is_needed() -> None:
    """Field report 18: every prompt is checked against the window before it is sent."""

    async def main() -> None:
        desk = Desk(window=4_096, thinking=1_000)
        assert desk.paid.window == 3_096
        await desk.paid.complete(call("解約。" * 300))
        with pytest.raises(ModelUnusable) as small:
            await desk.paid.complete(call("解約。" * 1_200))
        assert small.value.code == "window_too_small"
        assert "4096" in error_message("ja", small.value)
        assert "4096" in error_message("en", small.value)
        await desk.paid.complete(call("別の短い文。"))
        assert len(desk.model.calls) == 2

    run_in_virtual_time(main())


def test_the_cap_stops_before_the_call_that_could_pass_it_and_keeps_the_rest() -> None:
    """Field report 4: leaves a resumable state."""

    async def main() -> None:
        desk = Desk(cap=0.05, seconds=1)
        calls = [call(f"{n}") for n in range(100)]
        ended = await asyncio.gather(*map(desk.paid.complete, calls), return_exceptions=True)
        paid = [one for one in ended if isinstance(one, TextReply)]
        assert {type(one) for one in ended} == {TextReply, SpendingCapReached}
        assert len(paid) == len(desk.model.calls) == len(desk.store.results)
        assert desk.line.dollars is not None
        assert 0.02 < desk.line.dollars <= 0.05
        again = Desk(store=desk.store)
        await asyncio.gather(*map(again.paid.complete, calls))
        assert len(again.model.calls) == 100 - len(paid)
        assert again.line.reused == len(paid)

    run_in_virtual_time(main())


def test_an_unknown_price_is_refused_under_a_cap_before_anything_is_sent() -> None:
    """design.md, paying. Without a cap the money is unknown, never 0."""

    async def main() -> None:
        with pytest.raises(UnusableSettings):
            Desk(cap=1.0, price=unknown_price)
        desk = Desk(price=unknown_price)
        await desk.paid.complete(call())
        assert desk.line.dollars is None
        (kept,) = desk.store.results.values()
        assert kept.dollars is None

    run_in_virtual_time(main())


@pytest.mark.parametrize("error", [BadReply("unreadable_reply"), ModelRefused()])
def test_a_reply_without_an_account_of_its_cost_counts_as_the_most(error: Exception) -> None:
    """The cap is held and no spending is left out, even if the provider says nothing."""

    async def main() -> None:
        desk = Desk(answers=(error, "要約"))
        with pytest.raises(type(error)):
            await desk.paid.complete(call())
        assert desk.line.calls == 1
        assert desk.line.dollars is not None
        assert desk.line.dollars > price(USAGE)
        assert (await desk.paid.complete(call())).text == "要約"

    run_in_virtual_time(main())


def test_calls_that_were_sent_are_kept_though_everybody_is_cancelled() -> None:
    """Issue 4: any interruption survived. A sibling's failure cancels all that wait."""

    async def main() -> None:
        desk = Desk(seconds=10, concurrency=4)
        waiting = asyncio.gather(*(desk.paid.complete(call(f"{n}")) for n in range(12)))
        await asyncio.sleep(5)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert now() == 5
        assert desk.store.results == {}
        await desk.paid.close()
        assert now() == 10
        assert desk.model.is_closed
        assert len(desk.store.results) == len(desk.model.calls) == desk.line.calls == 4

    run_in_virtual_time(main())


def test_a_call_that_nobody_waits_for_is_not_tried_again() -> None:
    """Cancelled is cancelled: what failed costs no second try."""

    async def main() -> None:
        def fail_later(_: TextCall) -> BaseException:
            return ModelUnavailable("rate_limited")

        desk = Desk(answers=(fail_later,))
        waiting = asyncio.create_task(desk.paid.complete(call()))
        await asyncio.sleep(0.1)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await desk.paid.close()
        assert now() < 1
        assert len(desk.model.calls) == 1

    run_in_virtual_time(main())


def test_who_asks_again_for_what_was_cancelled_begins_anew() -> None:
    """The cancelled call of another is nobody's fault but his."""

    async def main() -> None:
        desk = Desk(seconds=1, concurrency=1)
        busy = asyncio.create_task(desk.paid.complete(call("busy")))
        waiting = asyncio.create_task(desk.paid.complete(call()))
        await asyncio.sleep(0.5)
        waiting.cancel()
        await asyncio.sleep(0)
        again = asyncio.create_task(desk.paid.complete(call()))
        assert (await again).text == "要約"
        await busy
        assert len(desk.model.calls) == 2

    run_in_virtual_time(main())


def test_one_of_two_who_wait_may_leave() -> None:
    async def main() -> None:
        desk = Desk(seconds=1)
        one, other = (asyncio.create_task(desk.paid.complete(call())) for _ in range(2))
        await asyncio.sleep(0)
        one.cancel()
        assert (await other).text == "要約"
        assert len(desk.model.calls) == 1

    run_in_virtual_time(main())


def test_a_full_disk_stops_further_paying() -> None:
    """Issue 4, bad input: what could not be kept is not paid for."""

    async def main() -> None:
        desk = Desk(seconds=1, concurrency=4)
        desk.store.refusal = WorkspaceUnusable("disk_full", path="results.db", reason="full")
        ended = await asyncio.gather(
            *(desk.paid.complete(call(f"{n}")) for n in range(40)), return_exceptions=True
        )
        assert {type(error) for error in ended} == {WorkspaceUnusable}
        assert len(desk.model.calls) <= 8
        assert desk.line.calls == len(desk.model.calls)

    run_in_virtual_time(main())


def test_a_clock_that_jumps_fails_no_call() -> None:
    """Issue 4, bad input: a clock that jumps, either way."""

    async def main() -> None:
        desk = Desk()

        def jump(called: TextCall) -> str | BaseException:
            desk.clock.jump(-3_600 if len(desk.model.calls) % 2 else 7_200)
            return "要約" if len(desk.model.calls) > 3 else ModelUnavailable("rate_limited")

        desk.model.answer_with(jump)
        paid = [await desk.paid.complete(call(f"{n}")) for n in range(5)]
        assert len(paid) == 5

    run_in_virtual_time(main())


def request() -> NavigatorRequest:
    return NavigatorRequest(
        system="s", messages=(), tools=(), max_output_tokens=400, language=JAPANESE, channel="text"
    )


def test_a_round_passes_through_unchanged_and_waits_for_the_key_s_rate() -> None:
    """Navigation tries again by itself: once here, at the rate of the key."""

    async def main() -> None:
        desk = Desk(rounds=("答え", ModelUnavailable("rate_limited", retry_after=7.0), "次"))
        assert [event async for event in desk.paid.reply(request())] == [
            TextDelta("答え"),
            Reply(parts=(Text("答え"),), stop="end", usage=USAGE),
        ]
        with pytest.raises(ModelUnavailable):
            _ = [event async for event in desk.paid.reply(request())]
        assert now() == 0
        assert len([event async for event in desk.paid.reply(request())]) == 2
        assert now() == 7
        assert len(desk.model.requests) == 3
        assert desk.store.results == {}

    run_in_virtual_time(main())


def test_a_paid_model_is_named_as_the_one_within() -> None:
    """Records, manifests and keys name the model, not how it is paid for."""

    async def main() -> None:
        desk = Desk()
        assert (desk.paid.name, desk.paid.identity, desk.paid.window) == (
            desk.model.name,
            desk.model.identity,
            desk.model.window,
        )

    run_in_virtual_time(main())
