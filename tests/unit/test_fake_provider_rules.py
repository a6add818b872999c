"""The fake providers refuse what the real ones refuse, in their words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from inline_snapshot import snapshot

from corpus2skill.domain.message import Thinking, ToolCall
from tests.fakes.providers import (
    ProviderServer,
    Script,
)
from tests.fakes.providers.behaviour import (
    answers,
)
from tests.fakes.providers.sdk_clients import (
    OLD_GPT,
    TEXT,
    ask_claude,
    ask_gpt,
    claude_for,
    claude_format,
    gpt_for,
    gpt_format,
)

pytestmark = pytest.mark.anyio


SCHEMA = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "summary": {"type": "string"}},
    "required": ["title", "summary"],
    "additionalProperties": False,
}
CLAUDE_TOOL = {
    "name": "get_document",
    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
}
GPT_TOOL = {
    "type": "function",
    "function": {"name": "get_document", "parameters": CLAUDE_TOOL["input_schema"]},
}
FETCH = ToolCall(call_id="call_1", name="get_document", arguments='{"path":"解約/SKILL.md"}')


@pytest.fixture
async def claude(fake_anthropic: ProviderServer) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with claude_for(fake_anthropic) as client:
        yield client


@pytest.fixture
async def gpt(fake_openai: ProviderServer) -> AsyncIterator[openai.AsyncOpenAI]:
    async with gpt_for(fake_openai) as client:
        yield client


def blocks(role: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(content)}


USER = {"role": "user", "content": "解約は?"}
CACHED = {"type": "ephemeral"}
USE = {"type": "tool_use", "id": "toolu_1", "name": "get_document", "input": {"path": "SKILL.md"}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "{}"}


class TestAnthropicRefusals:
    @pytest.mark.parametrize(
        ("more", "told"),
        [
            ({"model": "claude-none"}, "model: claude-none"),
            ({"extra_body": {"temperature": 0}}, "temperature: Extra inputs are not permitted"),
            ({"extra_body": {"top_p": 0.5}}, "top_p: Extra inputs are not permitted"),
            ({"extra_body": {"max_tokens": None}}, "max_tokens: Field required"),
            ({"extra_body": {"max_tokens": 10**6}}, "max_tokens: 1000000 > 64000"),
            ({"extra_body": {"seed": 1}}, "seed: Extra inputs are not permitted"),
            ({"messages": []}, "at least one message is required"),
            ({"messages": [{"role": "system", "content": "x"}]}, 'Unexpected role "system"'),
            ({"messages": [blocks("user", {"type": "text", "text": ""})]}, "must be non-empty"),
            (
                {"messages": [blocks("user", {"type": "text", "text": " \n"})]},
                "must contain non-whitespace text",
            ),
            ({"messages": [USER, blocks("assistant")]}, "assistant messages must have non-empty content"),
            (
                {"messages": [USER, {"role": "assistant", "content": "{"}]},
                "does not support assistant message prefill",
            ),
            (
                {"messages": [USER, blocks("assistant", USE), USER]},
                "`tool_use` ids were found without `tool_result`",
            ),
            (
                {"messages": [blocks("user", RESULT)]},
                "unexpected `tool_use_id` found in `tool_result` blocks",
            ),
            (
                {"messages": [USER, blocks("assistant", USE), blocks("user", RESULT, RESULT)]},
                "must have a single result",
            ),
            (
                {
                    "messages": [
                        USER,
                        blocks("assistant", USE),
                        blocks("user", {"type": "text", "text": "a"}, RESULT),
                    ]
                },
                "without `tool_result` blocks immediately after",
            ),
            (
                {"messages": [USER, blocks("assistant", {"type": "thinking", "thinking": "a"}), USER]},
                "signature: Field required",
            ),
            (
                {
                    "messages": [
                        USER,
                        blocks("assistant", {"type": "thinking", "thinking": "a", "signature": "b"}),
                        USER,
                    ]
                },
                "Invalid `signature` in `thinking` block",
            ),
            (
                {"thinking": {"type": "enabled", "budget_tokens": 4096}},
                "`max_tokens` must be greater than `thinking.budget_tokens`",
            ),
            (
                {"output_config": claude_format({"type": "object", "properties": {}})},
                "'additionalProperties' must be explicitly set to false",
            ),
            (
                {
                    "output_config": claude_format(
                        SCHEMA | {"properties": {"title": {"type": "string", "maxLength": 40}}}
                    )
                },
                "property 'maxLength' is not supported",
            ),
            ({"messages": [{"role": "user", "content": "長" * 200_001}]}, "prompt is too long"),
            (
                {"messages": [blocks("user", *[{"type": "text", "text": "a", "cache_control": CACHED}] * 5)]},
                "A maximum of 4 blocks with cache_control may be provided. Found 5",
            ),
            (
                {"messages": [blocks("user", {"type": "text", "text": "a", "id": 1})]},
                "messages.0.content.0.text.id: Extra inputs are not permitted",
            ),
        ],
    )
    async def test_what_the_api_refuses_is_refused(
        self, claude: anthropic.AsyncAnthropic, more: dict[str, Any], told: str
    ) -> None:
        """Issue 4: strict about what the real ones refuse."""
        with pytest.raises(anthropic.APIStatusError) as refusal:
            await ask_claude(claude, **more)
        assert told in str(refusal.value)
        assert refusal.value.status_code == (404 if "model" in more else 400)

    async def test_keys_are_looked_at(self, fake_anthropic: ProviderServer) -> None:
        """Issue 4: wrong key."""
        async with claude_for(fake_anthropic, "sk-wrong") as client:
            with pytest.raises(anthropic.AuthenticationError, match="invalid x-api-key"):
                await ask_claude(client)

    async def test_the_older_version_takes_a_temperature(self, claude: anthropic.AsyncAnthropic) -> None:
        """Design 7: it is API version 2026-10-21 that refuses it."""
        older = {"anthropic-version": "2023-06-01"}
        reply = await ask_claude(claude, extra_body={"temperature": 0}, extra_headers=older)
        assert reply.stop_reason == "end_turn"

    async def test_its_own_history_is_taken_back(
        self, claude: anthropic.AsyncAnthropic, fake_anthropic: ProviderServer
    ) -> None:
        """Field report 20: signed thinking kept, every tool use with its result."""
        fake_anthropic.script = Script().on_call(1, answers(Thinking(text="年額か。"), FETCH))
        first = await ask_claude(claude, tools=[CLAUDE_TOOL])
        history = [
            {"role": "user", "content": TEXT},
            {
                "role": "assistant",
                "content": [block.model_dump(exclude_none=True) for block in first.content],
            },
            blocks("user", {"type": "tool_result", "tool_use_id": "call_1", "content": "{}"}),
        ]
        assert (await ask_claude(claude, messages=history, tools=[CLAUDE_TOOL])).content
        history[1]["content"][0]["thinking"] += "。"
        with pytest.raises(anthropic.BadRequestError, match="Invalid `signature`"):
            await ask_claude(claude, messages=history, tools=[CLAUDE_TOOL])

    async def test_an_error_has_the_real_body(self, fake_anthropic: ProviderServer) -> None:
        """Issue 4: real error bodies and codes."""
        async with httpx2.AsyncClient() as client:
            reply = await client.post(f"{fake_anthropic.origin}/v1/messages", content=b"{")
            assert (reply.status_code, reply.json()) == snapshot(
                (
                    401,
                    {
                        "type": "error",
                        "error": {"type": "authentication_error", "message": "x-api-key header is required"},
                        "request_id": "req_fake",
                    },
                )
            )


class TestOpenAIRefusals:
    @pytest.mark.parametrize(
        ("more", "code", "told"),
        [
            ({"model": "gpt-none"}, "model_not_found", "does not exist"),
            ({"max_tokens": 10}, "unsupported_parameter", "Use 'max_completion_tokens' instead"),
            ({"temperature": 0}, "unsupported_value", "Only the default (1) value is supported"),
            ({"model": OLD_GPT, "reasoning_effort": "low"}, None, "reasoning_effort"),
            ({"extra_body": {"top_k": 4}}, "unknown_parameter", "Unknown parameter: 'top_k'"),
            ({"messages": []}, "empty_array", "empty array"),
            ({"messages": [{"role": "user", "content": None}]}, None, "expected a string, got null"),
            ({"messages": [{"role": "nobody", "content": "x"}]}, "invalid_value", "Supported values are"),
            (
                {"messages": [USER, {"role": "tool", "tool_call_id": "a", "content": "x"}]},
                None,
                "must be a response to a preceeding message with 'tool_calls'",
            ),
            (
                {
                    "messages": [
                        USER,
                        {
                            "role": "assistant",
                            "tool_calls": [
                                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                            ],
                        },
                        USER,
                    ]
                },
                None,
                "did not have response messages: a",
            ),
            (
                {"response_format": gpt_format(SCHEMA | {"additionalProperties": True})},
                None,
                "'additionalProperties' is required to be supplied and to be false",
            ),
            ({"response_format": gpt_format(SCHEMA | {"required": ["title"]})}, None, "Missing 'summary'"),
            ({"response_format": {"type": "json_object"}}, None, "must contain the word 'json'"),
            ({"stream_options": {"include_usage": True}}, None, "only allowed when 'stream' is enabled"),
            ({"parallel_tool_calls": False}, None, "only allowed when 'tools' are specified"),
            (
                {"model": OLD_GPT, "messages": [{"role": "user", "content": "長" * 128_001}]},
                "context_length_exceeded",
                "maximum context length is 128000 tokens",
            ),
            (
                {
                    "model": OLD_GPT,
                    "messages": [{"role": "user", "content": "長" * 127_000}],
                    "max_tokens": 9000,
                },
                "context_length_exceeded",
                "9000 in the completion",
            ),
        ],
    )
    async def test_what_the_api_refuses_is_refused(
        self, gpt: openai.AsyncOpenAI, more: dict[str, Any], code: str | None, told: str
    ) -> None:
        """Issue 4: strict about what the real ones refuse."""
        with pytest.raises(openai.APIStatusError) as refusal:
            await ask_gpt(gpt, **more)
        assert told in refusal.value.message
        assert refusal.value.code == code
        assert refusal.value.status_code == (404 if code == "model_not_found" else 400)

    async def test_keys_are_looked_at(self, fake_openai: ProviderServer) -> None:
        """Issue 4: wrong key."""
        async with gpt_for(fake_openai, "sk-wrong") as client:
            with pytest.raises(openai.AuthenticationError) as refusal:
                await ask_gpt(client)
        assert refusal.value.code == "invalid_api_key"

    async def test_older_models_take_max_tokens_and_a_temperature(self, gpt: openai.AsyncOpenAI) -> None:
        """Issue 4: `max_tokens` and `max_completion_tokens`."""
        assert (await ask_gpt(gpt, model=OLD_GPT, max_tokens=100, temperature=0)).choices
