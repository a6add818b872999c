"""The navigation loop over the real adapters: what it sends is taken, what comes back is understood."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from corpus2skill.domain.message import MADE_UP_CALL, Text, Thinking, ToolCall
from corpus2skill.navigator import fetch
from tests.fakes.navigation import Navigation
from tests.fakes.opened_models import opened
from tests.fakes.providers import ProviderServer, Script, anthropic_server, openai_server
from tests.fakes.providers.behaviour import Behaviour, RawAnswer, answers, cut_stream, rate_limited, says
from tests.fakes.providers.quirks import GEMINI_LIKE, OLLAMA_LIKE, VLLM_LIKE

pytestmark = pytest.mark.anyio

Make = Callable[[], ProviderServer]
LOCAL = "qwen3:8b"
SERVERS: dict[str, tuple[Make, str]] = {
    "anthropic": (anthropic_server, "claude-haiku-5-5"),
    "anthropic always thinking": (partial(anthropic_server, omits_thoughts=True), "claude-opus-5-5"),
    "openai": (openai_server, "gpt-6-luna"),
    "ollama": (partial(openai_server, quirks=OLLAMA_LIKE), LOCAL),
    "vllm": (partial(openai_server, quirks=VLLM_LIKE), LOCAL),
    "gemini": (partial(openai_server, quirks=GEMINI_LIKE), LOCAL),
}
BOTH = [SERVERS["anthropic"], (openai_server, "gpt-4.1-mini")]


@pytest.mark.parametrize("name", SERVERS)
async def test_a_question_is_walked_to_its_answer(name: str) -> None:
    """The article, Part 2, with a provider that refuses what the real one refuses."""
    make, model_name = SERVERS[name]
    navigation = Navigation()
    async with make() as server, opened(server, model_name) as model:
        record = await navigation.ask(model)
        asked = [call for call in server.calls if call.is_model_call]
    assert record.outcome == "answered"
    assert len(record.visits) >= 2
    assert all(call.status == 200 for call in asked[1:])


@pytest.mark.parametrize(("make", "model_name"), BOTH)
async def test_two_calls_a_thought_and_a_wrong_path_go_back_as_they_came(make: Make, model_name: str) -> None:
    """field report 20: replay-safe turns, whole ones."""
    calls = [
        ToolCall(call_id=f"toolu_{n}", name="get_document", arguments=f'{{"path": "nowhere-{n}"}}')
        for n in range(2)
    ]
    server = make()
    server.script = Script().on_call(
        1,
        answers(Thinking(text="まず根を見た。"), Text("二つ見ます。"), *calls),
        says("該当する記載は見つかりません。"),
    )
    navigation = Navigation()
    async with (
        server,
        opened(server, model_name) as model,
    ):
        record = await navigation.ask(model)
    assert [visit.status for visit in record.visits].count("not_found") == 2
    assert record.outcome in {"answered", "not_found"}


@pytest.mark.parametrize(("make", "model_name"), BOTH)
async def test_a_cut_stream_costs_one_more_round_and_no_answer(make: Make, model_name: str) -> None:
    """design.md, section 4: what was streamed before is dropped."""
    server = make()
    server.script = Script().on_call(1, cut_stream(2)).on_call(3, rate_limited())
    navigation = Navigation()
    async with (
        server,
        opened(server, model_name) as model,
    ):
        record = await navigation.ask(model)
    assert record.outcome == "answered"


def test_the_program_s_own_call_has_the_id_that_adapters_know() -> None:
    """design.md, section 4: the fallback for models that refuse the prefetch's made-up call."""
    assert fetch._PREFETCH.call_id == MADE_UP_CALL


@pytest.mark.parametrize(("make", "model_name"), BOTH)
async def test_a_body_that_cannot_be_unpacked_is_a_broken_connection(make: Make, model_name: str) -> None:
    """Issue 5: severed streams; a proxy that packs badly is one of their causes."""
    server = make()
    packed = RawAnswer(status=200, body=b"not packed", content_type="text/event-stream", encoding="gzip")
    server.script = Script().on_call(1, Behaviour(fault=packed))
    navigation = Navigation()
    async with server, opened(server, model_name) as model:
        record = await navigation.ask(model)
    assert record.outcome == "answered"
