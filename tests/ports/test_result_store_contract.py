"""What every `ResultStore` promises, asked of the real one and of the one in memory."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from corpus2skill.adapters.store.results import SqlResultStore, results_url
from corpus2skill.domain.message import Usage
from corpus2skill.domain.model_call import TextReply
from corpus2skill.domain.usage import SpentCall, UsageLine
from corpus2skill.ports.result_store import PastUsage, ResultStore
from tests.fakes.clock import START
from tests.fakes.result_store import FakeResultStore
from tests.ports.results import key_of, reply, result

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["sqlite", "postgres", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ResultStore]:
    if request.param == "memory":
        yield FakeResultStore()
        return
    url = str(request.getfixturevalue("postgres_url")) if request.param == "postgres" else None
    real = SqlResultStore(url or results_url(tmp_path / "workspace"))
    yield real
    real.close()


async def test_a_new_store_knows_nothing(store: ResultStore) -> None:
    """Promised by the port: zeros where there are no results."""
    nothing = PastUsage(calls=0, prompt_characters=0, input_tokens=0, output_tokens=0)
    assert await store.find(key_of("a")) is None
    assert store.past_usage("fake:model", "summarize") == nothing
    assert store.forget("terms", ["chunk"]) == 0


async def test_what_was_kept_is_found_whole(store: ResultStore) -> None:
    """design.md, section 6: the same call is answered from the store."""
    kept = result("a")
    await store.keep(kept)
    assert await store.find(kept.key) == kept.reply
    assert await store.find(key_of("b")) is None


async def test_the_first_result_of_a_key_stays(store: ResultStore) -> None:
    """Promised by the port."""
    await store.keep(result("a", text="一度目"))
    await store.keep(result("a", text="二度目"))
    assert await store.find(key_of("a")) == reply("一度目")


async def test_many_kept_and_sought_at_once_are_all_there(store: ResultStore) -> None:
    """Whatever is committed together, each call has its own answer; one key kept twice is one result."""
    names = [f"{number % 300}" for number in range(700)]
    await asyncio.gather(*(store.keep(result(name, text=f"返答 {name}")) for name in names))
    found = await asyncio.gather(*(store.find(key_of(name)) for name in [*names, "none"]))
    assert found == [*(reply(f"返答 {name}") for name in names), None]
    assert store.past_usage("fake:model", "summarize").calls == 300


async def test_past_usage_is_summed_for_each_model_and_purpose(store: ResultStore) -> None:
    """Promised by the port; field report 4."""
    for number in range(3):
        await store.keep(result(f"{number}"))
    await store.keep(result("grouping", purpose="group"))
    await store.keep(result("other", model="other:model"))
    assert store.past_usage("fake:model", "summarize") == PastUsage(
        calls=3, prompt_characters=3_600, input_tokens=2_700, output_tokens=180
    )
    assert store.past_usage("other:model", "group").calls == 0


async def test_forgetting_takes_a_chunk_s_results_and_those_about_many(store: ResultStore) -> None:
    """design.md, section 5: deleting a document takes its text out of the result store."""
    await store.keep(result("gone", subject="one"))
    await store.keep(result("many", subject="", purpose="group"))
    await store.keep(result("kept", subject="two"))
    await store.keep(result("other corpus", subject="one", corpus="other"))
    assert store.forget("terms", ["one", "never seen"]) == 2
    found = [await store.find(key_of(name)) for name in ("gone", "many", "kept", "other corpus")]
    assert [one is not None for one in found] == [False, False, True, True]
    assert store.forget("terms", ["one"]) == 0
    await store.keep(result("gone", subject="one"))
    assert await store.find(key_of("gone")) is not None


async def test_forgetting_takes_as_many_chunks_as_there_are(store: ResultStore) -> None:
    """Databases bound how many values a statement may name; a document has as many chunks as it has."""
    await asyncio.gather(*(store.keep(result(f"{n}", subject=f"{n}")) for n in range(600)))
    assert store.forget("terms", [f"{n}" for n in range(40_000)]) == 600


async def test_money_may_be_unknown(store: ResultStore) -> None:
    """design.md: money is unknown, never 0."""
    await store.keep(result("a", dollars=None))
    assert await store.find(key_of("a")) == reply()


async def test_a_closed_store_may_be_used_again(store: ResultStore) -> None:
    await store.keep(result("a"))
    store.close()
    assert await store.find(key_of("a")) == reply()
    await store.keep(result("b"))
    assert await store.find(key_of("b")) == reply()


@pytest.mark.requirement("S-105")
async def test_what_was_paid_is_summed_up_and_stays_when_results_are_forgotten(store: ResultStore) -> None:
    """Promised by the port: a result that is there already was not paid for again; unknown money is counted."""
    day = START.date().isoformat()
    assert store.usage("2000-01-01", "2100-01-01") == ()
    for name, dollars in (("a", 0.25), ("b", 0.5), ("a", 0.25), ("c", None)):
        await store.keep(result(name, dollars=dollars))
    await store.keep(result("d", corpus="faq", purpose="group", dollars=0.0))
    lost = SpentCall(
        corpus="terms", model="fake:model", purpose="summarize", usage=Usage(), dollars=1.0, paid_at=START
    )
    await store.note(lost)
    grouping = UsageLine(
        day=day,
        corpus="faq",
        model="fake:model",
        purpose="group",
        calls=1,
        input_tokens=900,
        output_tokens=60,
    )
    summaries = replace(
        grouping,
        corpus="terms",
        purpose="summarize",
        calls=4,
        input_tokens=2_700,
        output_tokens=180,
        dollars=1.75,
        unpriced=1,
    )
    assert store.usage(day, "2100-01-01") == (grouping, summaries)
    assert store.forget("terms", ["chunk"]) == 3
    assert store.usage(day, "2100-01-01") == (grouping, summaries)
    assert store.usage("2000-01-01", day) == ()
    assert (store.spent(day), store.spent("2100-01-01")) == (1.75, 0.0)


@pytest.mark.parametrize("kind", ["sqlite", "memory"])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(exclude_categories=[]), max_size=200), subject=st.text(max_size=20))
@example(text='{"title":"年額プランの解約条件"}', subject="解約")
@example(text="\ud83d half a pair, \0 and a nul", subject="\0")
async def test_any_text_comes_back_as_it_was(kind: str, text: str, subject: str) -> None:
    """A model may answer anything; it was paid for."""
    with tempfile.TemporaryDirectory() as folder:
        store: ResultStore = (
            FakeResultStore() if kind == "memory" else SqlResultStore(results_url(Path(folder)))
        )
        kept = replace(result("a"), subject=subject, reply=TextReply(text=text, stop="max_tokens"))
        await store.keep(kept)
        assert await store.find(kept.key) == kept.reply
        assert store.forget("terms", [subject]) == 1
        store.close()
