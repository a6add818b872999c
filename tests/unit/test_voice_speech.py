"""A question answered aloud: what is said, when, and what becomes of it when somebody speaks over it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

import pytest

from corpus2skill.application.speak import HangUp
from corpus2skill.domain.message import Text
from corpus2skill.domain.run import Heard
from corpus2skill.errors import InvalidQuestion, ModelUnavailable
from corpus2skill.messages import message
from corpus2skill.navigator.voice.backchannel import is_backchannel
from tests.fakes.navigator_model import says, wants
from tests.fakes.opened_models import opened
from tests.fakes.providers import anthropic_server
from tests.fakes.spoken import SpokenNavigation, Timed, TimedModel
from tests.fakes.virtual_time import run_in_virtual_time

WHY = "解約の枝に降りて、年額の条件を確かめます。"
ANSWER = "年額プランは、契約期間の末日までお使いいただけます。日割りの返金はありません[doc_chunk_7]。"
PIECES = ["年額プランは、契約期間の末日までお使いいただけます。", "日割りの返金はありません。"]
START, WAIT = "はい、お調べします。", "もう少々お待ちください。"
LEAF = "cancellation/annual/doc_chunk_7.md"


def spoken(
    *rounds: Timed, hang_up: HangUp = "cancel", offer: str | None = None, seconds_a_character: float = 0.0
) -> SpokenNavigation:
    return SpokenNavigation(
        TimedModel(*rounds), hang_up=hang_up, offer=offer, seconds_a_character=seconds_a_character
    )


def in_time(main: Coroutine[object, object, None]) -> None:
    run_in_virtual_time(main)


@pytest.mark.requirement("N-57")
def test_reasons_are_never_spoken_and_the_answer_is_spoken_in_pieces() -> None:
    """Issue 5: deltas held back until the round is known to be an answer; a round that navigates writes reasons."""

    async def main() -> None:
        caller = spoken(Timed(reply=wants(LEAF, why=WHY)), Timed(reply=says(ANSWER)))
        record = await caller.ask()
        assert caller.words == PIECES
        assert record.visits[-1].reason == WHY
        assert record.answer == "".join(PIECES)
        assert [source.doc_id for source in record.citations] == ["doc_chunk_7"]

    in_time(main())


@pytest.mark.requirement("N-57")
def test_a_draft_whose_stream_broke_is_never_spoken() -> None:
    """design.md, events: round.started drops the draft."""

    async def main() -> None:
        broken = Timed(
            reply=says("返金は全額です。すぐに"), error=ModelUnavailable("overloaded", model="fake")
        )
        caller = spoken(broken, Timed(reply=says("返金はありません。")))
        await caller.ask()
        assert caller.words == ["返金はありません。"]

    in_time(main())


@pytest.mark.requirement("N-57")
def test_waiting_for_certainty_costs_the_time_in_which_the_rest_is_written() -> None:
    """The price of never speaking a reason: docs, explanation/voice.md."""

    async def main() -> None:
        caller = spoken(Timed(reply=says("".join(PIECES)), wait=0.3, pace=0.03))
        await caller.ask()
        first_sentence, whole = (0.3 + 0.03 * len(text) for text in (PIECES[0], "".join(PIECES)))
        assert caller.ended[0].answer_ms == round(whole * 1000)
        assert whole - first_sentence < 0.5

    in_time(main())


@pytest.mark.requirement("N-58")
def test_fillers_come_at_their_times_and_name_where_the_run_is() -> None:
    """Issue 5: true fillers after 0.8, 4, 9 and 20 s; interfaces.md, fillers."""

    async def main() -> None:
        caller = spoken(
            Timed(reply=wants("cancellation", why=WHY), wait=2),
            Timed(reply=says(ANSWER), wait=23),
            offer="担当者にもおつなぎできます。",
        )
        record = await caller.ask()
        assert caller.said[:-2] == [
            (0.8, START),
            (4.0, "解約手続きのところを見ています。"),
            (9.0, WAIT),
            (20.0, "お待たせしております。引き続きお調べしています。 担当者にもおつなぎできます。"),
        ]
        assert caller.words[-2:] == PIECES
        assert caller.ended[0].answer_ms == 25_000
        assert START not in record.answer

    in_time(main())


@pytest.mark.requirement("N-58")
def test_where_nothing_was_read_yet_no_place_is_named() -> None:
    """Issue 5: true fillers."""

    async def main() -> None:
        caller = spoken(Timed(reply=says("Yes, until the last day."), wait=5))
        await caller.ask("How long can I use it?")
        assert caller.said == [
            (0.8, "Let me look that up."),
            (4.0, "I am still looking."),
            (5.0, "Yes, until the last day."),
        ]

    in_time(main())


@pytest.mark.requirement("N-58")
def test_fillers_missed_while_one_is_spoken_are_not_caught_up_on() -> None:
    """interfaces.md, fillers: not during speech, and not one upon the other."""

    async def main() -> None:
        caller = spoken(Timed(reply=says("はい。"), wait=12), seconds_a_character=0.9)
        await caller.ask()
        assert caller.said == [(0.8, START), (9.8, WAIT), (20.6, "はい。")]

    in_time(main())


@pytest.mark.requirement("N-58")
def test_the_question_is_greeted_first_however_late_its_run_begins() -> None:
    """A model that is slow to open is no reason to begin with an apology."""

    async def main() -> None:
        caller = spoken(Timed(reply=says("はい。"), wait=5))
        caller.opening = 5.0
        await caller.ask()
        assert caller.said == [(5.0, START), (9.0, WAIT), (10.0, "はい。")]

    in_time(main())


@pytest.mark.requirement("N-58")
def test_fillers_are_no_part_of_the_history() -> None:
    """Issue 5: never in the history."""

    async def main() -> None:
        caller = spoken(Timed(reply=says("末日までです。"), wait=5), Timed(reply=says("はい。")))
        await caller.ask()
        await caller.ask("返金は？")
        assert _history(caller)[-1] == "末日までです。"
        assert not any(START in words for words in _history(caller))

    in_time(main())


@pytest.mark.requirement("N-41")
def test_the_fixed_sentence_is_spoken_where_the_model_gave_none() -> None:
    """design.md, outcomes."""

    async def main() -> None:
        caller = spoken(Timed(reply=says("", stop="refusal")))
        assert (await caller.ask()).outcome == "refused"
        assert "".join(caller.words) == message("ja", "outcome.refused.voice")

    in_time(main())


@pytest.mark.requirement("N-56")
def test_an_answer_without_anything_to_say_aloud_is_said_to_be_so() -> None:
    """Silence would be taken for a broken line."""

    async def main() -> None:
        caller = spoken(Timed(reply=says("https://a.example/b")))
        record = await caller.ask()
        assert record.answer == message("ja", "voice.not_speakable") == "".join(caller.words)

    in_time(main())


@pytest.mark.requirement("N-59")
def test_speaking_over_the_search_ends_the_run_with_the_visits_so_far() -> None:
    """Field report 25 of the second list: no new provider call; interrupted, with the text really heard."""

    async def main() -> None:
        caller = spoken(Timed(reply=wants("cancellation", why=WHY)), Timed(reply=says(ANSWER), wait=60))
        async with caller.conversation.ask("年額は？") as speaking:
            listening = asyncio.ensure_future(caller.listen(speaking))
            await asyncio.sleep(6)
            speaking.interrupt()
            await listening
        record = speaking.record
        assert record is not None
        assert (record.outcome, record.heard) == ("interrupted", "")
        assert [visit.node for visit in record.visits] == ["root", "cancellation"]
        assert len(_model(caller).requests) == 2
        assert len(caller.words) == 2, "only the fillers: whoever speaks over it is told nothing"
        assert caller.ended[0].answer_ms is None

    in_time(main())


@pytest.mark.requirement("N-59")
def test_after_an_interrupted_search_the_history_has_the_question_without_an_answer() -> None:
    """design.md: interruption keeps the record with what was heard."""

    async def main() -> None:
        caller = spoken(Timed(reply=says(ANSWER), wait=60), Timed(reply=says("はい。")))
        async with caller.conversation.ask("年額は？") as speaking:
            await asyncio.sleep(1)
            assert speaking.record is None
            await caller.ask("月額は？")
        first, second = caller.navigation.records.closed
        assert (first.outcome, second.outcome) == ("interrupted", "answered")
        assert _history(caller)[:2] == ["年額は？", message("ja", "history.no_answer")]

    in_time(main())


@pytest.mark.requirement("N-59")
@pytest.mark.parametrize(("pieces", "heard"), [(0, ""), (1, PIECES[0])])
def test_speaking_over_the_answer_keeps_what_was_heard_of_it(pieces: int, heard: str) -> None:
    """interfaces.md, barge-in: the run is complete; later turns go on from what was heard."""

    async def main() -> None:
        caller = spoken(Timed(reply=says(ANSWER)), Timed(reply=says("はい。")), Timed(reply=says("はい。")))
        async with caller.conversation.ask("年額は？") as speaking:
            if pieces:
                await caller.listen(speaking, pieces)
            else:
                await asyncio.sleep(1)
            speaking.interrupt()
        await caller.ask("月額は？")
        first, second = caller.navigation.records.closed
        assert (first.outcome, first.answer, first.heard) == ("answered", "".join(PIECES), None)
        assert second.heard_before == Heard(run=first.ids.run, characters=len(heard))
        assert _history(caller)[:2] == ["年額は？", heard or message("ja", "history.no_answer")]
        await caller.ask("従量は？")
        assert _history(caller)[:2] == ["年額は？", heard or message("ja", "history.no_answer")]
        assert caller.navigation.records.closed[2].heard_before is None

    in_time(main())


@pytest.mark.requirement("N-59")
def test_an_answer_heard_to_its_end_stays_whole() -> None:
    """Speaking over the silence after it takes nothing away."""

    async def main() -> None:
        caller = spoken(Timed(reply=says(ANSWER)), Timed(reply=says("はい。")))
        async with caller.conversation.ask("年額は？") as speaking:
            await caller.listen(speaking)
            speaking.interrupt()
        await caller.ask("月額は？")
        assert caller.navigation.records.closed[1].heard_before is None
        assert _history(caller)[1] == "".join(PIECES)

    in_time(main())


@pytest.mark.requirement("N-59")
def test_what_was_heard_of_a_run_of_another_session_is_not_believed() -> None:
    """The article: history comes from our records, never from the asker."""

    async def main() -> None:
        caller = spoken(Timed(reply=says("はい。")), Timed(reply=says("はい。")))
        navigation = caller.navigation
        theirs = await navigation.ask(caller.model, session="session_2", channel="voice")
        heard = Heard(run=theirs.ids.run, characters=1)
        mine = await navigation.ask(caller.model, session="session_1", channel="voice", heard_before=heard)
        assert mine.heard_before is None

    in_time(main())


@pytest.mark.requirement("N-59")
@pytest.mark.parametrize(("hang_up", "outcome"), [("cancel", "cancelled"), ("go_on", "answered")])
def test_a_caller_who_hangs_up_ends_the_run_or_lets_it_finish(hang_up: HangUp, outcome: str) -> None:
    """design.md, listeners: a caller who hangs up cancels (settable)."""

    async def main() -> None:
        caller = spoken(Timed(reply=says(ANSWER), wait=30), hang_up=hang_up)
        async with caller.conversation.ask("年額は？") as speaking:
            async for _ in speaking:
                break
        assert caller.navigation.record.outcome == outcome

    in_time(main())


def test_a_question_that_is_refused_is_refused_before_anything_is_said() -> None:
    """N-38."""

    async def main() -> None:
        caller = spoken()
        with pytest.raises(InvalidQuestion):
            await caller.ask(" ")
        assert caller.said == []

    in_time(main())


@pytest.mark.requirement("N-57", "N-58")
@pytest.mark.anyio
async def test_over_a_real_adapter_with_a_slow_provider() -> None:
    """Issue 5: with real providers."""
    server = anthropic_server(latency=0.35)
    async with server, opened(server) as model:
        caller = SpokenNavigation(model)
        record = await caller.ask()
    assert record.outcome == "answered"
    assert caller.words[0] == START
    assert "".join("".join(caller.words[1:]).split()) == "".join(record.answer.split())
    reasons = {visit.reason for visit in record.visits}
    assert not reasons & set(caller.words)


@pytest.mark.parametrize(
    "heard", ["はい", "うん、うん。", "なるほど！", "Uh-huh", "I see.", "ええ、そうですね"]
)
def test_what_listeners_say_in_passing_interrupts_nothing(heard: str) -> None:
    """interfaces.md, barge-in: 相槌 go on."""
    assert is_backchannel(heard)


@pytest.mark.parametrize(
    "heard", ["", "はい、では月額は？", "違います", "No", "待ってください", "okay but why"]
)
def test_anything_else_does(heard: str) -> None:
    """interfaces.md, barge-in."""
    assert not is_backchannel(heard)


def _model(caller: SpokenNavigation) -> TimedModel:
    assert isinstance(caller.model, TimedModel)
    return caller.model


def _history(caller: SpokenNavigation) -> list[str]:
    """The words of the newest request that were there before its question."""
    request = _model(caller).requests[-1]
    parts = (part for sent in request.messages for part in sent.parts)
    return [part.text for part in parts if isinstance(part, Text)][:-1]
