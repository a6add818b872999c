"""The fake providers speak as the real ones do: the real SDKs read them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import anthropic
import httpx2
import openai
import pytest

from corpus2skill.domain.message import Text, Thinking, ToolCall, Usage
from tests.fakes.providers import (
    KEY,
    ModelCard,
    ProviderServer,
    Quirks,
    Script,
    anthropic_server,
    openai_server,
)
from tests.fakes.providers.behaviour import (
    answers,
    edited,
    says,
)
from tests.fakes.providers.hosting import spawned
from tests.fakes.providers.models import cards
from tests.fakes.providers.quirks import GEMINI_LIKE, LM_STUDIO_LIKE, OLLAMA_LIKE, VLLM_LIKE
from tests.fakes.providers.rubbish import SPOILED
from tests.fakes.providers.sdk_clients import (
    CLAUDE,
    GPT,
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
SUMMARY = {"title": "年額プラン", "summary": "年額プラン 解約は契約管理画面の「解約申請」から行う。"}
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


class TestWholeReplies:
    async def test_anthropic_answers_in_the_wanted_form(self, claude: anthropic.AsyncAnthropic) -> None:
        """Issue 4: fakes speak the Messages API."""
        reply = await ask_claude(claude, system="見出しと要約", output_config=claude_format(SCHEMA))
        assert json.loads(reply.content[0].text) == SUMMARY
        assert (reply.stop_reason, reply.model, reply.role) == ("end_turn", CLAUDE, "assistant")
        assert min(reply.usage.input_tokens, reply.usage.output_tokens) > 10

    async def test_openai_answers_in_the_wanted_form(self, gpt: openai.AsyncOpenAI) -> None:
        """Issue 4: fakes speak chat completions."""
        reply = await ask_gpt(gpt, response_format=gpt_format(SCHEMA), max_completion_tokens=500)
        assert json.loads(reply.choices[0].message.content) == SUMMARY
        assert reply.choices[0].finish_reason == "stop"
        assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens

    async def test_a_reply_ends_at_its_limit(
        self, claude: anthropic.AsyncAnthropic, gpt: openai.AsyncOpenAI
    ) -> None:
        """Field report 21: truncation is seen by the stop reason."""
        ours = await ask_claude(claude, max_tokens=10, output_config=claude_format(SCHEMA))
        theirs = await ask_gpt(gpt, max_completion_tokens=10, response_format=gpt_format(SCHEMA))
        assert (ours.stop_reason, ours.usage.output_tokens) == ("max_tokens", 10)
        assert (theirs.choices[0].finish_reason, theirs.usage.completion_tokens) == ("length", 10)

    async def test_a_scripted_reply_says_what_the_test_says(
        self, claude: anthropic.AsyncAnthropic, fake_anthropic: ProviderServer
    ) -> None:
        """Issue 4: scriptable replies; the usage has the cache in it."""
        usage = Usage(input_tokens=100, output_tokens=7, cached_tokens=60, cache_written_tokens=30)
        fake_anthropic.script = Script().always(answers(Text("調べます。"), FETCH, usage=usage))
        reply = await ask_claude(claude, tools=[CLAUDE_TOOL])
        assert [block.type for block in reply.content] == ["text", "tool_use"]
        assert reply.content[1].input == {"path": "解約/SKILL.md"}
        assert reply.stop_reason == "tool_use"
        told = reply.usage
        assert (told.input_tokens, told.cache_read_input_tokens, told.cache_creation_input_tokens) == (
            10,
            60,
            30,
        )

    async def test_refusals_come_in_the_providers_own_form(self) -> None:
        """Issue 4: refusing replies."""
        script = Script().on_call(1, edited(SPOILED["refusing"]), edited(SPOILED["filtered"]))
        async with anthropic_server(script=script) as server, claude_for(server) as client:
            refused = await ask_claude(client)
            assert (refused.stop_reason, refused.stop_details.type) == ("refusal", "refusal")
        async with openai_server(script=script) as server, gpt_for(server) as client:
            refused = await ask_gpt(client)
            assert (refused.choices[0].message.content, refused.choices[0].finish_reason) == (None, "stop")
            assert refused.choices[0].message.refusal == "申し訳ありませんが、お手伝いできません。"
            filtered = await ask_gpt(client)
            assert filtered.choices[0].finish_reason == "content_filter"


class TestStreams:
    async def test_anthropic_streams_every_kind_of_block(
        self, claude: anthropic.AsyncAnthropic, fake_anthropic: ProviderServer
    ) -> None:
        """Issue 4: streaming events with thinking, text and tool input."""
        fake_anthropic.script = Script().always(
            answers(Thinking(text="年額か。"), Text("枝を選びます。"), FETCH)
        )
        wanted = {"model": CLAUDE, "max_tokens": 2048, "messages": [{"role": "user", "content": "解約は?"}]}
        async with claude.messages.stream(
            **wanted, tools=[CLAUDE_TOOL], thinking={"type": "adaptive"}
        ) as stream:
            message = await stream.get_final_message()
        thought, words, call = message.content
        assert (thought.thinking, bool(thought.signature), words.text) == ("年額か。", True, "枝を選びます。")
        assert (call.input, message.stop_reason) == ({"path": "解約/SKILL.md"}, "tool_use")
        assert message.usage.output_tokens > 5

    async def test_the_events_of_a_stream_come_in_order(self, fake_anthropic: ProviderServer) -> None:
        """Issue 4: message_start, ping, blocks, message_delta, message_stop, as the API documents them."""
        fake_anthropic.script = Script().always(says("はい。"))
        body = {
            "model": CLAUDE,
            "max_tokens": 9,
            "messages": [{"role": "user", "content": "?"}],
            "stream": True,
        }
        headers = {"x-api-key": KEY, "anthropic-version": "2026-10-21"}
        async with httpx2.AsyncClient() as client:
            reply = await client.post(f"{fake_anthropic.origin}/v1/messages", json=body, headers=headers)
        names = [line.removeprefix("event: ") for line in reply.text.splitlines() if line.startswith("event")]
        assert names == [
            "message_start",
            "ping",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]

    async def test_openai_streams_tool_calls_and_usage(
        self, gpt: openai.AsyncOpenAI, fake_openai: ProviderServer
    ) -> None:
        """Issue 4: chunks with tools, a finish reason, and the usage where it was asked for."""
        fake_openai.script = Script().always(answers(Text("枝を選びます。"), FETCH))
        stream = await ask_gpt(gpt, tools=[GPT_TOOL], stream=True, stream_options={"include_usage": True})
        chunks = [chunk async for chunk in stream]
        deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
        calls = [call for delta in deltas for call in delta.tool_calls or []]
        assert "".join(delta.content or "" for delta in deltas) == "枝を選びます。"
        assert "".join(call.function.arguments for call in calls) == '{"path":"解約/SKILL.md"}'
        assert [call.id for call in calls if call.id] == ["call_1"]
        assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "tool_calls"
        assert (chunks[-1].choices, chunks[-1].usage.completion_tokens > 5) == ([], True)

    async def test_usage_comes_only_where_it_was_asked_for(self, gpt: openai.AsyncOpenAI) -> None:
        """Issue 4: stream_options.include_usage."""
        assert [chunk.usage async for chunk in await ask_gpt(gpt, stream=True) if chunk.usage] == []

    async def test_thinking_that_is_omitted_still_has_its_signature(self) -> None:
        """Design 7: empty thinking that is signed must go back unchanged, and is then taken."""
        async with anthropic_server(omits_thoughts=True) as server, claude_for(server) as client:
            first = await ask_claude(client, thinking={"type": "adaptive"})
            thought = first.content[0]
            assert (thought.thinking, bool(thought.signature)) == ("", True)
            history = [
                {"role": "user", "content": TEXT},
                {
                    "role": "assistant",
                    "content": [block.model_dump(exclude_none=True) for block in first.content],
                },
                {"role": "user", "content": "続けて"},
            ]
            assert (await ask_claude(client, messages=history)).stop_reason == "end_turn"


class TestOtherRoutes:
    async def test_anthropic_counts_tokens_and_tells_of_models(
        self, claude: anthropic.AsyncAnthropic
    ) -> None:
        """Issue 4: token-count routes; the window is known from the model."""
        counted = await claude.messages.count_tokens(
            model=CLAUDE, messages=[{"role": "user", "content": TEXT}]
        )
        assert 40 < counted.input_tokens < 80
        model = await claude.models.retrieve(CLAUDE)
        assert (model.id, model.max_input_tokens, model.lifecycle) == (CLAUDE, 200_000, "active")
        assert CLAUDE in [model.id async for model in claude.models.list()]
        with pytest.raises(anthropic.NotFoundError):
            await claude.models.retrieve("claude-none")

    async def test_openai_tells_of_models(self, gpt: openai.AsyncOpenAI) -> None:
        """Issue 4: `/v1/models`."""
        assert GPT in [model.id async for model in gpt.models.list()]
        assert (await gpt.models.retrieve(GPT)).object == "model"
        with pytest.raises(openai.NotFoundError):
            await gpt.models.retrieve("gpt-none")

    async def test_windows_can_be_small(self) -> None:
        """Issue 4: a window too small for one chunk."""
        models = cards(ModelCard(name="tiny", window=30))
        async with openai_server(models=models) as server, gpt_for(server) as client:
            with pytest.raises(openai.BadRequestError) as refusal:
                await ask_gpt(client, model="tiny")
        assert refusal.value.code == "context_length_exceeded"


class TestQuirks:
    async def test_an_ollama_like_server_leaves_things_out(self, fake_ollama: ProviderServer) -> None:
        """Design 7: OpenAI-compatible servers differ."""
        async with gpt_for(fake_ollama, "ollama") as client:
            asked = {"model": "llama3.2", "tools": [GPT_TOOL], "stream_options": {"include_usage": True}}
            chunks = [chunk async for chunk in await ask_gpt(client, stream=True, **asked)]
            assert {chunk.choices[0].finish_reason for chunk in chunks} == {None}
            assert not any(chunk.choices[0].delta.tool_calls or chunk.usage for chunk in chunks)
            whole = await ask_gpt(client, model="llama3.2", tools=[GPT_TOOL], max_completion_tokens=1)
            assert whole.choices[0].message.tool_calls[0].function.name == "get_document"
            prose = await ask_gpt(client, model="llama3.2", response_format=gpt_format(SCHEMA))
            assert not prose.choices[0].message.content.startswith("{")
            with pytest.raises(openai.NotFoundError):
                await client.batches.list()

    async def test_long_prompts_lose_their_beginning_in_silence(self) -> None:
        """Design 4: every prompt is checked against the window before it is sent, since nobody may tell."""
        models = cards(ModelCard(name="tiny", window=100))
        async with openai_server(quirks=OLLAMA_LIKE, models=models) as server, gpt_for(server) as client:
            question = "はじめ" + "年額\n" * 200
            reply = await ask_gpt(client, model="tiny", messages=[{"role": "user", "content": question}])
        assert reply.usage.prompt_tokens == 100
        assert "はじめ" not in reply.choices[0].message.content

    @pytest.mark.parametrize("quirks", [VLLM_LIKE, LM_STUDIO_LIKE, GEMINI_LIKE, OLLAMA_LIKE])
    async def test_every_manner_can_be_read(self, quirks: Quirks) -> None:
        """Field report 32: any OpenAI-compatible endpoint."""
        parts = (Thinking(text="考え"), Text("枝を選びます。"), FETCH)
        async with openai_server(quirks=quirks) as server, gpt_for(server) as client:
            server.script = Script().always(answers(*parts))
            whole = await ask_gpt(client, model="gemma3", tools=[GPT_TOOL])
            assert whole.choices[0].message.content.endswith("枝を選びます。")
            chunks = [c async for c in await ask_gpt(client, model="gemma3", tools=[GPT_TOOL], stream=True)]
            assert "".join(c.choices[0].delta.content or "" for c in chunks).endswith("枝を選びます。")


class TestHosting:
    def test_a_server_in_a_thread_serves_code_without_a_loop(
        self, threaded_anthropic: ProviderServer
    ) -> None:
        """Issue 4: a fixture."""
        with anthropic.Anthropic(api_key=KEY, base_url=threaded_anthropic.base_url) as client:
            reply = client.messages.create(
                model=CLAUDE, max_tokens=99, messages=[{"role": "user", "content": "解約"}]
            )
        assert reply.content[0].to_dict()["text"] == "解約"
        assert len(threaded_anthropic.calls.answered) == 1

    def test_servers_run_as_a_process(self) -> None:
        """Issue 4: `python -m` for by-hand use."""
        with spawned(["--latency", "0.01"]) as providers:
            with openai.OpenAI(api_key=KEY, base_url=providers.openai_url) as client:
                reply = client.chat.completions.create(
                    model=GPT, messages=[{"role": "user", "content": "解約"}]
                )
            assert reply.choices[0].message.content == "解約"
            assert providers.summary(providers.openai_port)["model_calls"] == 1
            assert providers.calls(providers.openai_port)[0]["state"] == "answered"
            providers.clear(providers.openai_port)
            assert providers.summary(providers.openai_port)["model_calls"] == 0
