"""The navigation loop over the real adapters: what it sends is taken, what comes back is understood."""

from __future__ import annotations

import pytest

from corpus2skill.domain.message import MADE_UP_CALL, Text, Thinking, ToolCall
from corpus2skill.navigator import fetch
from tests.fakes.navigation import Navigation
from tests.fakes.opened_models import opened
from tests.fakes.providers import ProviderServer, Script, anthropic_server, openai_server
from tests.fakes.providers.behaviour import answers, cut_stream, rate_limited, says
from tests.fakes.providers.quirks import GEMINI_LIKE, OLLAMA_LIKE, VLLM_LIKE

pytestmark = pytest.mark.anyio

SERVERS = {
    "anthropic": lambda: anthropic_server(),
    "openai": lambda: openai_server(),
    "ollama": lambda: openai_server(quirks=OLLAMA_LIKE),
    "vllm": lambda: openai_server(quirks=VLLM_LIKE),
    "gemini": lambda: openai_server(quirks=GEMINI_LIKE),
}


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest) -> ProviderServer:
    return SERVERS[request.param]()


async def test_a_question_is_walked_to_its_answer(server: ProviderServer) -> None:
    """The article, Part 2, with a provider that refuses what the real one refuses."""
    navigation = Navigation()
    async with server, opened(server) as model:
        record = await navigation.ask(model)
    assert record.outcome == "answered"
    assert len(record.visits) >= 2
    assert all(call.status == 200 for call in list(server.calls)[1:] if call.is_model_call)


@pytest.mark.parametrize("make", [anthropic_server, openai_server])
async def test_two_calls_a_thought_and_a_wrong_path_go_back_as_they_came(make: object) -> None:
    """field report 20: replay-safe turns, whole ones."""
    calls = [
        ToolCall(call_id=f"toolu_{n}", name="get_document", arguments=f'{{"path": "nowhere-{n}"}}')
        for n in range(2)
    ]
    server = make()  # pyright: ignore[reportCallIssue]
    server.script = Script().on_call(
        1,
        answers(Thinking(text="", signature="c2ln"), Text("二つ見ます。"), *calls),
        says("該当する記載は見つかりません。"),
    )
    navigation = Navigation()
    async with (
        server,
        opened(server, "claude-opus-5-5" if make is anthropic_server else "gpt-4.1-mini") as model,
    ):
        record = await navigation.ask(model)
    assert [visit.status for visit in record.visits].count("not_found") == 2
    assert record.outcome in {"answered", "not_found"}


@pytest.mark.parametrize("make", [anthropic_server, openai_server])
async def test_a_cut_stream_costs_one_more_round_and_no_answer(make: object) -> None:
    """design.md, section 4: what was streamed before is dropped."""
    server = make()  # pyright: ignore[reportCallIssue]
    server.script = Script().on_call(1, cut_stream(2)).on_call(3, rate_limited())
    navigation = Navigation()
    async with (
        server,
        opened(server, "claude-haiku-5-5" if make is anthropic_server else "gpt-4.1-mini") as model,
    ):
        record = await navigation.ask(model)
    assert record.outcome == "answered"


def test_the_program_s_own_call_has_the_id_that_adapters_know() -> None:
    """design.md, section 4: the fallback for models that refuse the prefetch's made-up call."""
    assert fetch._PREFETCH.call_id == MADE_UP_CALL
