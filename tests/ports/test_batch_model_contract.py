"""What every `BatchModel` promises, asked of both adapters over the fake providers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from corpus2skill.adapters.llm.connection import Connection
from corpus2skill.adapters.llm.models import open_batches
from corpus2skill.domain.message import ProgramMessage, Text
from corpus2skill.domain.model_call import TextCall, TextReply
from corpus2skill.domain.model_name import ModelName
from corpus2skill.domain.provider_key import ProviderKey
from corpus2skill.errors import ModelError, ModelUnavailable, ModelUnusable
from corpus2skill.ports.batch_model import BatchModel, BatchResult
from tests.fakes.opened_models import text_call
from tests.fakes.providers import KEY, BatchPlan, ProviderServer, Script, anthropic_server, openai_server
from tests.fakes.providers.behaviour import fails, rate_limited, says

pytestmark = pytest.mark.anyio

CALLS = {
    f"call-{number}": text_call(ProgramMessage((Text(f"第{number}条をまとめてください。"),)))
    for number in range(5)
}
Batching = Callable[..., AbstractAsyncContextManager[tuple[BatchModel, ProviderServer]]]


@asynccontextmanager
async def _anthropic(
    plan: BatchPlan | None = None, script: Script | None = None
) -> AsyncIterator[tuple[BatchModel, ProviderServer]]:
    async with anthropic_server(batch_plan=plan, script=script) as server:
        batches = _opened(server, "anthropic", "claude-haiku-5-5")
        yield batches, server
        await batches.close()


@asynccontextmanager
async def _openai(
    plan: BatchPlan | None = None, script: Script | None = None
) -> AsyncIterator[tuple[BatchModel, ProviderServer]]:
    async with openai_server(batch_plan=plan, script=script) as server:
        batches = _opened(server, "openai", "gpt-4.1-mini")
        yield batches, server
        await batches.close()


def _opened(server: ProviderServer, provider: str, model: str) -> BatchModel:
    connection = Connection(key=ProviderKey(secret=KEY, source="the test"), base_url=server.base_url)
    return open_batches(ModelName(provider, model), connection, {})


@pytest.fixture(params=[_anthropic, _openai], ids=["anthropic", "openai"])
def batching(request: pytest.FixtureRequest) -> Batching:
    return request.param


async def ended(batches: BatchModel, calls: dict[str, TextCall] = CALLS) -> dict[str, BatchResult]:
    """Hand in, look until it has ended, and return the results by id."""
    batch_id = await batches.submit(calls, "token-1")
    while (await batches.status(batch_id)).state == "working":
        pass
    return {result.call_id: result async for result in batches.results(batch_id)}


async def test_every_call_of_a_batch_gets_its_reply(batching: Batching) -> None:
    """Issue 4, batch mode: summaries at half the price. Results come in any order."""
    async with batching(BatchPlan(polls=2)) as (batches, _):
        results = await ended(batches)
    assert results.keys() == CALLS.keys()
    for number, call_id in enumerate(CALLS):
        reply = results[call_id].outcome
        assert isinstance(reply, TextReply)
        assert f"第{number}条" in json.loads(reply.text)["title"]
        assert reply.usage.input_tokens > 0


async def test_a_batch_says_how_far_it_is(batching: Batching) -> None:
    """Issue 4, batch mode: the batch id is kept and looked at again."""
    async with batching(BatchPlan(polls=1)) as (batches, _):
        batch_id = await batches.submit(CALLS, "token-1")
        first = await batches.status(batch_id)
        while (status := await batches.status(batch_id)).state == "working":
            pass
    assert first.state == "working"
    assert (status.batch_id, status.calls, status.answered, status.failed) == (batch_id, 5, 5, 0)


async def test_calls_that_ran_out_of_time_are_not_done(batching: Batching) -> None:
    """Issue 4, batch mode: they were not paid for and are sent again."""
    async with batching(BatchPlan(expires=lambda call_id: call_id == "call-3")) as (batches, _):
        results = await ended(batches)
    assert results["call-3"].outcome is None
    assert isinstance(results["call-2"].outcome, TextReply)


async def test_a_call_that_failed_says_why_and_the_others_stand(batching: Batching) -> None:
    """Results are told apart call by call."""
    script = Script().when(lambda prompt: "第1条" in prompt.question, fails("server_error"))
    async with batching(script=script) as (batches, _):
        results = await ended(batches)
    assert isinstance(results["call-1"].outcome, ModelUnavailable)
    assert isinstance(results["call-0"].outcome, TextReply)


async def test_a_batch_whose_id_was_lost_is_found_again(batching: Batching) -> None:
    """Issue 4, batch mode: a restart picks the batch up again, also where the answer never came."""
    async with batching(BatchPlan(polls=3)) as (batches, _):
        assert await batches.find("token-1", CALLS) is None
        batch_id = await batches.submit(CALLS, "token-1")
        assert await batches.find("token-1", CALLS) == batch_id
        assert await batches.find("token-2", {"call-9": CALLS["call-1"]}) is None


async def test_a_cancelled_batch_ends_with_its_calls_not_done(batching: Batching) -> None:
    """The port: what was not answered was not paid for."""
    async with batching(BatchPlan(polls=5)) as (batches, _):
        batch_id = await batches.submit(CALLS, "token-1")
        await batches.cancel(batch_id)
        while (await batches.status(batch_id)).state == "working":
            pass
        outcomes = [result.outcome async for result in batches.results(batch_id)]
        assert await batches.find("token-1", CALLS) is None
    assert set(outcomes) <= {None}


async def test_a_key_in_a_batch_s_replies_is_not_shown(batching: Batching) -> None:
    """field report 29: keys never printed."""
    async with batching(script=Script().always(says(f'{{"title": "{KEY}"}}'))) as (batches, _):
        results = await ended(batches)
    assert KEY not in repr(results)


async def test_an_unknown_batch_is_an_error_of_the_product(batching: Batching) -> None:
    """The port: as `LanguageModel.complete`."""
    async with batching() as (batches, _):
        with pytest.raises(ModelError):
            await batches.status("batch-of-nobody")
        assert ":" in batches.name
        assert batches.name in batches.identity
        assert batches.most_calls >= 1_000


async def test_a_batch_that_fails_as_a_whole_says_why() -> None:
    """OpenAI looks at a batch's file only after it was taken."""
    async with _openai(BatchPlan(fails=True)) as (batches, _):
        with pytest.raises(ModelUnusable) as caught:
            await ended(batches)
    assert caught.value.code == "batch_refused"


async def test_a_rate_limit_in_a_batch_is_transient(batching: Batching) -> None:
    """Issue 4, rates."""
    async with batching(script=Script().always(rate_limited())) as (batches, _):
        results = await ended(batches)
    assert all(isinstance(result.outcome, ModelUnavailable) for result in results.values())
