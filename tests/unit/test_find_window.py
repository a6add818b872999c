"""How much a model reads: known, said by its server, or measured with prompts that grow."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from corpus2skill.adapters.llm.connection import Connection
from corpus2skill.adapters.llm.models import open_model
from corpus2skill.adapters.llm.stated_window import stated_window
from corpus2skill.application.find_window import Measuring, Window, find_window
from corpus2skill.application.wiring import Workspace, open_workspace
from corpus2skill.domain.message import Text
from corpus2skill.domain.model_name import ModelName
from corpus2skill.settings import Settings
from tests.fakes.providers import KEY, ProviderServer, Quirks, Script, openai_server
from tests.fakes.providers.behaviour import says
from tests.fakes.providers.http_server import Exchange, HttpRequest, HttpServer
from tests.fakes.providers.models import ModelCard, cards
from tests.fakes.providers.prompt import Answer, Prompt
from tests.fakes.providers.quirks import LM_STUDIO_LIKE, OLLAMA_LIKE, VLLM_LIKE

pytestmark = pytest.mark.anyio

QWEN = ModelName("openai", "qwen3:8b")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def workspace_at(path: Path, settings: Settings = Settings()) -> Workspace:
    return open_workspace(path, settings)


async def found(
    path: Path, server: ProviderServer, settings: Settings = Settings()
) -> tuple[Window, list[Measuring]]:
    told = list[Measuring]()
    window = await find_window(workspace_at(path, settings), QWEN, server.base_url, told.append)
    return window, told


async def test_what_is_set_or_listed_is_said_without_a_call(
    tmp_path: Path, fake_openai: ProviderServer
) -> None:
    """Issue 4, doctor: known where the catalogue knows it."""
    settings = Settings(context_window=5_000)
    window, told = await found(tmp_path, fake_openai, settings)
    assert (window.origin, window.tokens, window.is_used, told) == ("set", 5_000, True, [])
    haiku = ModelName("anthropic", "claude-haiku-5-5")
    listed = await find_window(workspace_at(tmp_path), haiku, None, told.append)
    assert (listed.origin, listed.is_used, told) == ("known", True, [])
    assert listed.tokens >= 200_000
    assert len(fake_openai.calls) == 0


async def test_a_server_that_says_it_is_believed_and_nothing_is_paid_for(tmp_path: Path) -> None:
    """Issue 4, doctor: without spending much."""
    async with openai_server(quirks=VLLM_LIKE, models=reading(40_960)) as server:
        window, told = await found(tmp_path, server)
        assert server.calls.model_calls == []
    assert window == Window(model=str(QWEN), origin="said", tokens=40_960, is_used=False)
    assert told == []


@pytest.mark.parametrize("quirks", [LM_STUDIO_LIKE, OLLAMA_LIKE, replace(OLLAMA_LIKE, has_usage=False)])
@pytest.mark.parametrize(
    ("size", "tokens"), [(4_096, 4_096), (8_192, 8_192), (20_000, 16_384), (65_536, 32_768)]
)
async def test_what_nobody_says_is_measured(tmp_path: Path, quirks: Quirks, size: int, tokens: int) -> None:
    """design.md, section 4: 8,192 for unknown models, `doctor` measures. A prompt cut in silence was not read."""
    async with openai_server(quirks=quirks, models=reading(size), brain=code_word) as server:
        result, told = await found(tmp_path, server)
        sent = len(server.calls.model_calls)
    assert (result.origin, result.tokens, result.is_used) == ("measured", tokens, tokens == 8_192)
    assert told == [Measuring(model=str(QWEN), calls=5, tokens=63_488, dollars=None)]
    assert sent <= 6


async def test_what_cannot_be_measured_is_said(tmp_path: Path) -> None:
    """Neither a count nor the word: nothing shows that anything was read."""
    quirks = replace(OLLAMA_LIKE, has_usage=False)
    async with openai_server(quirks=quirks, script=Script().always(says("Hello."))) as server:
        result, _ = await found(tmp_path, server)
    assert (result.origin, result.tokens) == ("failed", 0)


def reading(tokens: int) -> Mapping[str, ModelCard]:
    return cards(ModelCard(name=QWEN.model), window=tokens)


def code_word(prompt: Prompt) -> Answer:
    """What a model says that finds the word in what it was given."""
    word = re.search(r"code word is (\S+)\.", prompt.text)
    return Answer(parts=(Text("It is not there." if word is None else word[1]),))


async def test_what_measuring_may_cost_is_told_before_and_bounded(
    tmp_path: Path, fake_openai: ProviderServer
) -> None:
    """Issue 4, doctor: with its cost stated beforehand, and without spending much."""
    settings = Settings(prices="openai:qwen3:8b=5/10")
    calls_when_told = list[int]()
    told = list[Measuring]()

    def tell(measuring: Measuring) -> None:
        told.append(measuring)
        calls_when_told.append(len(fake_openai.calls.model_calls))

    await find_window(workspace_at(tmp_path, settings), QWEN, fake_openai.base_url, tell)
    (measuring,) = told
    assert calls_when_told == [0]
    assert measuring.dollars is not None
    assert 0 < measuring.dollars <= 0.10
    assert measuring.calls < 5


class Shelf:
    """A server that has an answer for some paths, and notes what it was asked."""

    def __init__(self, answers: Mapping[str, object]) -> None:
        self.requests: list[HttpRequest] = []
        self._answers = answers
        self.server = HttpServer(self._handle)

    async def _handle(self, request: HttpRequest, exchange: Exchange) -> None:
        self.requests.append(request)
        status = 200 if request.path in self._answers else 404
        body = json.dumps(self._answers.get(request.path, {"error": "not found"})).encode()
        exchange.respond(status, {"content-type": "application/json"}, body)


@pytest.mark.parametrize(
    ("answers", "tokens"),
    [
        ({"/v1/models": {"data": [{"id": "other", "context_length": 9_999}, {"id": "qwen3:8b"}]}}, None),
        ({"/v1/models": {"data": [{"id": "qwen3:8b", "context_length": 32_768}]}}, 32_768),
        ({"/v1/models": {"data": [{"id": "qwen3:8b", "max_model_len": "32768"}]}}, None),
        ({"/v1/models": {"data": [{"id": "qwen3:8b", "max_model_len": True}]}}, None),
        ({"/v1/models": {"data": "none"}}, None),
        ({"/v1/models": ["qwen3:8b"]}, None),
        (
            {
                "/api/v0/models": {
                    "data": [
                        {"id": "qwen3:8b", "max_context_length": 131_072, "loaded_context_length": 4_096}
                    ]
                }
            },
            4_096,
        ),
        (
            {
                "/api/ps": {"models": [{"name": "qwen3:8b", "context_length": 4_096}]},
                "/api/show": {"parameters": "num_ctx 40960", "model_info": {"qwen3.context_length": 40_960}},
            },
            4_096,
        ),
        ({"/api/show": {"parameters": 'stop "<|im_end|>"\nnum_ctx                        16384'}}, 16_384),
        ({"/api/show": {"model_info": {"qwen3.context_length": 40_960}}}, None),
        ({"/props": {"default_generation_settings": {"n_ctx": 8_192}}}, 8_192),
        ({"/props": {"default_generation_settings": []}}, None),
        ({}, None),
    ],
)
async def test_each_kind_of_server_is_asked_where_it_says_it(
    answers: Mapping[str, object], tokens: int | None
) -> None:
    """Issue 4, doctor: OpenRouter, vLLM, LM Studio, Ollama, llama.cpp. What a model could read with more memory
    is not what its server was started with."""
    shelf = Shelf(answers)
    await shelf.server.start()
    address = f"http://127.0.0.1:{shelf.server.port}/v1"
    model = open_model(QWEN, Connection(base_url=address, window=8_192), {})
    try:
        assert await stated_window(model, QWEN.model) == tokens
    finally:
        await model.close()
        await shelf.server.stop()
    assert all(request.headers["host"] == f"127.0.0.1:{shelf.server.port}" for request in shelf.requests)


async def test_claude_behind_a_gateway_is_looked_up_by_its_name() -> None:
    """Anthropic's own list of models says it as well."""
    shelf = Shelf({"/v1/models/new-claude": {"id": "new-claude", "max_input_tokens": 500_000}})
    await shelf.server.start()
    address = f"http://127.0.0.1:{shelf.server.port}"
    name = ModelName("anthropic", "new-claude")
    model = open_model(name, Connection(base_url=address, window=8_192), {})
    try:
        assert await stated_window(model, name.model) == 500_000
    finally:
        await model.close()
        await shelf.server.stop()
