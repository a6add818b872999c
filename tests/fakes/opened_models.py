"""Real adapters over the fake providers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from corpus2skill.adapters.llm.anthropic_model import AnthropicModel
from corpus2skill.adapters.llm.connection import Connection
from corpus2skill.adapters.llm.models import open_model
from corpus2skill.adapters.llm.openai_model import OpenAIModel
from corpus2skill.adapters.llm.timeouts import Timeouts
from corpus2skill.domain.message import Message, ProgramMessage, Text
from corpus2skill.domain.model_call import TextCall
from corpus2skill.domain.model_name import ModelName
from corpus2skill.domain.provider_key import ProviderKey
from corpus2skill.ports.language_model import LanguageModel
from corpus2skill.ports.navigator_model import NavigatorRequest, ToolSpec
from tests.fakes.providers import KEY, ProviderServer

SCHEMA = (
    '{"type": "object", "properties": {"title": {"type": "string", "maxLength": 40}, '
    '"summary": {"type": "string", "maxLength": 160}}, "required": ["title", "summary"], '
    '"additionalProperties": false}'
)
GET_DOCUMENT = ToolSpec(
    name="get_document",
    description="ノードを1つ読む。",
    schema='{"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"], '
    '"additionalProperties": false}',
)
MODELS = {"anthropic": "claude-haiku-5-5", "openai": "gpt-6-luna"}


@asynccontextmanager
async def opened(
    server: ProviderServer,
    model: str | None = None,
    *,
    key: str | None = KEY,
    timeouts: Timeouts = Timeouts(),
    is_official: bool = False,
) -> AsyncIterator[LanguageModel]:
    """A model of the server's provider; `is_official` treats the server as OpenAI itself."""
    provider = server.dialect.provider
    connection = Connection(
        key=None if key is None else ProviderKey(secret=key, source="the test"),
        base_url=server.base_url,
        window=100_000,
        timeouts=timeouts,
    )
    name = ModelName(provider, model or MODELS[provider])
    opened_model = open_model(name, connection, {})
    assert isinstance(opened_model, AnthropicModel | OpenAIModel)
    if is_official:
        assert isinstance(opened_model, OpenAIModel)
        opened_model = OpenAIModel(opened_model.client, name, opened_model.endpoint, is_official=True)
    try:
        yield opened_model
    finally:
        await opened_model.close()


def text_call(
    *messages: Message, words: str = "解約の条件をまとめてください。", schema: str = SCHEMA, limit: int = 300
) -> TextCall:
    return TextCall(
        purpose="summarize",
        prompt_version="test-1",
        system='Answer with a JSON object: {"title": "...", "summary": "..."}',
        messages=messages or (ProgramMessage((Text(words),)),),
        schema=schema,
        max_output_tokens=limit,
    )


def round_of(*messages: Message, tools: tuple[ToolSpec, ...] = (GET_DOCUMENT,)) -> NavigatorRequest:
    return NavigatorRequest(
        system="あなたはナビゲータです。",
        messages=messages or (ProgramMessage((Text("解約できますか"),)),),
        tools=tools,
        max_output_tokens=400,
        language="ja",
        channel="text",
    )
