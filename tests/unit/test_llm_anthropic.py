"""What is sent to Anthropic's Messages API, and what is learned from its refusals."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from corpus2skill.adapters.llm.anthropic_quirks import AnthropicQuirks
from corpus2skill.adapters.llm.anthropic_thinking import least_thinking
from corpus2skill.adapters.llm.anthropic_wire import message_params, redacted_thinking
from corpus2skill.adapters.llm.failures import Failure
from corpus2skill.adapters.llm.timeouts import Timeouts
from corpus2skill.domain.message import (
    MADE_UP_CALL,
    ModelMessage,
    ProgramMessage,
    Reply,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from corpus2skill.errors import ModelUnavailable, ModelUnusable
from tests.fakes.opened_models import opened, round_of, text_call
from tests.fakes.providers import ProviderServer, Script
from tests.fakes.providers.behaviour import answers, error_event, gateway_page, says, stalled

pytestmark = pytest.mark.anyio

QUIRKS = AnthropicQuirks(thinking="disabled")
HISTORY = (
    ProgramMessage((Text("質問"),)),
    ModelMessage((ToolCall(call_id=MADE_UP_CALL, name="get_document", arguments='{"path": "SKILL.md"}'),)),
    ProgramMessage((ToolResult(call_id=MADE_UP_CALL, content="{}"),)),
    ModelMessage((Text("見ます。"), ToolCall(call_id="toolu_1", name="get_document", arguments="not json"))),
    ProgramMessage((Text("次"), ToolResult(call_id="toolu_1", content="{}", is_error=True))),
)


def body_of(server: ProviderServer, number: int = -1) -> dict[str, object]:
    return json.loads(list(server.calls)[number].body)


@pytest.mark.parametrize(
    ("model", "thinking", "effort"),
    [
        ("claude-haiku-5-5", {"type": "disabled"}, None),
        ("claude-sonnet-5", {"type": "disabled"}, None),
        ("claude-sonnet-5-5", {"type": "between_tools"}, None),
        ("claude-opus-5-5", None, "low"),
        ("claude-fable-5-2", None, "low"),
        ("claude-haiku-4-5", None, None),
        ("claude-sonnet-4-6", None, None),
    ],
)
async def test_each_generation_is_asked_for_its_least_thinking(
    fake_anthropic: ProviderServer, model: str, thinking: object, effort: str | None
) -> None:
    """design.md, section 4: thinking off or lowest; a model that thinks all the same gets room for it."""
    is_thinking = effort is not None or thinking == {"type": "between_tools"}
    async with opened(fake_anthropic, model) as claude:
        assert claude.thinking_tokens == (4096 if is_thinking else 0)
        await claude.complete(text_call(limit=300))
        async for _ in claude.reply(round_of()):
            pass
    for number, limit in ((0, 300), (1, 400)):
        body = body_of(fake_anthropic, number)
        assert body.get("thinking") == thinking
        output = body.get("output_config", {})
        assert isinstance(output, dict)
        assert output.get("effort") == effort
        assert body["max_tokens"] == limit + (4096 if is_thinking else 0)
        assert "temperature" not in body


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("us.anthropic.claude-haiku-5-5-v1:0", "disabled"),
        ("claude-sonnet-5-5@20260928", "between_tools"),
        ("anthropic.claude-opus-5-5", "low_effort"),
        ("claude-3-5-haiku-latest", "unsaid"),
        ("claude-opus-5", "disabled"),
        ("claude-something-new", "disabled"),
    ],
)
def test_the_names_of_other_clouds_are_understood(name: str, mode: str) -> None:
    """Issue 4: Bedrock and Vertex through the SDK's own clients."""
    assert least_thinking(name) == mode


async def test_the_growing_prefix_is_cached_with_at_most_four_marks(fake_anthropic: ProviderServer) -> None:
    """Issue 4: prompt caching; the API takes four breakpoints."""
    fake_anthropic.script = Script().always(says("はい。"))
    async with opened(fake_anthropic) as claude:
        async for _ in claude.reply(round_of(*HISTORY)):
            pass
    body = body_of(fake_anthropic)
    assert json.dumps(body).count('"cache_control"') == 3
    messages = body["messages"]
    assert isinstance(messages, list)
    assert "cache_control" in messages[-1]["content"][-1]
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant", "user"]
    assert messages[-1]["content"][0]["type"] == "tool_result"


async def test_a_last_word_without_tools_still_names_the_tools_of_the_history(
    fake_anthropic: ProviderServer,
) -> None:
    """design.md, section 4: the setting `answer` gives the model one last word without tools."""
    fake_anthropic.script = Script().always(says("はい。"))
    async with opened(fake_anthropic) as claude:
        async for _ in claude.reply(round_of(*HISTORY, tools=())):
            pass
    body = body_of(fake_anthropic)
    assert body["tool_choice"] == {"type": "none"}
    assert body["tools"] == [{"name": "get_document", "input_schema": {"type": "object"}}]


async def test_signed_thinking_goes_back_untouched_even_when_it_is_empty(
    fake_anthropic: ProviderServer,
) -> None:
    """field report 20: replay-safe turns."""
    call = ToolCall(call_id="toolu_1", name="get_document", arguments='{"path": "解約"}')
    fake_anthropic.script = Script().always(
        answers(Thinking(text="", signature="s1g="), Text("見ます。"), call)
    )
    async with opened(fake_anthropic) as claude:
        *_, reply = [event async for event in claude.reply(round_of())]
    assert isinstance(reply, Reply)
    thought = reply.parts[0]
    assert isinstance(thought, Thinking)
    assert (thought.text, bool(thought.signature)) == ("", True)
    params = message_params([ModelMessage(reply.parts)], QUIRKS)
    assert params[0]["content"] == [
        {"type": "thinking", "thinking": "", "signature": thought.signature},
        {"type": "text", "text": "見ます。"},
        {"type": "tool_use", "id": "toolu_1", "name": "get_document", "input": {"path": "解約"}},
    ]


def test_encrypted_thinking_goes_back_in_its_own_form() -> None:
    """field report 20: replay-safe turns."""
    params = message_params([ModelMessage((redacted_thinking("zz"), Text("はい")))], QUIRKS)
    assert params[0]["content"] == [
        {"type": "redacted_thinking", "data": "zz"},
        {"type": "text", "text": "はい"},
    ]


def test_a_model_that_refuses_made_up_calls_reads_the_root_as_text() -> None:
    """design.md, section 4: the prefetch's made-up call has a fallback."""
    params = message_params(HISTORY[:3], replace(QUIRKS, takes_made_up_calls=False, has_caching=False))
    assert params == [
        {"role": "user", "content": [{"type": "text", "text": "質問"}, {"type": "text", "text": "{}"}]}
    ]


@pytest.mark.parametrize("takes_made_up_calls", [True, False])
def test_the_root_read_ahead_is_marked_for_the_cache(takes_made_up_calls: bool) -> None:
    """Issue 5: later runs on the same version are served from the provider's cache."""
    params = message_params(HISTORY[:3], replace(QUIRKS, takes_made_up_calls=takes_made_up_calls))
    assert json.dumps(params).endswith('"cache_control": {"type": "ephemeral"}}]}]')


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ('"thinking.type.disabled" is not supported for this model.', {"thinking": "between_tools"}),
        ("output_config.format: Extra inputs are not permitted", {"has_schema": False}),
        ("messages.0.content.0.text.cache_control: not supported", {"has_caching": False}),
        ("messages.1: tool_use was not made by the model", {"takes_made_up_calls": False}),
    ],
)
def test_a_refused_feature_is_done_without(words: str, changed: dict[str, object]) -> None:
    """Issue 4: never a parameter that the model refuses; learned by 400 where unknown."""
    learned = QUIRKS.without(Failure(status=400, words=words))
    assert learned == replace(QUIRKS, **changed)


def test_giving_up_features_comes_to_an_end() -> None:
    """A server that refuses everything is asked a few times, not for ever."""
    quirks: AnthropicQuirks | None = QUIRKS
    steps = 0
    while quirks is not None:
        quirks, steps = (
            quirks.without(Failure(status=400, words="thinking effort schema cache_control tool_use")),
            steps + 1,
        )
    assert steps <= 10


async def test_cache_writes_are_told_apart(fake_anthropic: ProviderServer) -> None:
    """`Usage`: providers charge more for what is written into the cache."""
    usage = Usage(input_tokens=900, output_tokens=5, cached_tokens=300, cache_written_tokens=500)
    fake_anthropic.script = Script().always(says("はい。", usage=usage))
    async with opened(fake_anthropic) as claude:
        assert (await claude.complete(text_call())).usage == usage
        *_, reply = [event async for event in claude.reply(round_of())]
    assert isinstance(reply, Reply)
    assert reply.usage == usage


async def test_an_error_within_a_stream_is_what_it_says_it_is(fake_anthropic: ProviderServer) -> None:
    """The head of such a stream has the status 200."""
    fake_anthropic.script = Script().always(error_event("overloaded"))
    async with opened(fake_anthropic) as claude:
        with pytest.raises(ModelUnavailable) as caught:
            async for _ in claude.reply(round_of()):
                pass
    assert caught.value.code == "model_overloaded"


async def test_silence_ends_in_a_timeout(fake_anthropic: ProviderServer) -> None:
    """field report 32: per-role timeouts, streaming against idle gateways."""
    fake_anthropic.script = Script().always(stalled())
    timeouts = Timeouts(reply=0.05, silence=0.05)
    async with opened(fake_anthropic, timeouts=timeouts) as claude:
        with pytest.raises(ModelUnavailable) as caught:
            await claude.complete(text_call())
        assert caught.value.code == "model_timed_out"
        with pytest.raises(ModelUnavailable) as caught:
            async for _ in claude.reply(round_of()):
                pass
    assert caught.value.code == "model_timed_out"


@pytest.mark.parametrize(
    ("status", "kind"), [(502, ModelUnavailable), (200, ModelUnusable), (404, ModelUnusable)]
)
async def test_a_gateway_s_page_is_no_reply(
    fake_anthropic: ProviderServer, status: int, kind: type[Exception]
) -> None:
    """Issue 4, bad input: wrong base_url."""
    fake_anthropic.script = Script().always(gateway_page(status))
    async with opened(fake_anthropic) as claude:
        with pytest.raises(kind):
            await claude.complete(text_call())


async def test_a_reply_left_half_way_gives_its_connection_back(fake_anthropic: ProviderServer) -> None:
    """design.md, section 4: a caller who hangs up cancels."""
    async with opened(fake_anthropic) as claude:
        events = claude.reply(round_of())
        async for _ in events:
            break
        await events.aclose()  # pyright: ignore[reportAttributeAccessIssue]
        assert (await claude.complete(text_call())).stop == "end"


def test_half_a_character_in_a_tool_call_s_arguments_goes_back_as_a_question_mark() -> None:
    """field report 20: replay-safe turns. No request can carry a lone surrogate, which JSON can spell."""
    call = ToolCall(call_id="toolu_1", name="get_document", arguments='{"path": "解約\\ud800"}')
    params = message_params([ModelMessage((call,))], QUIRKS)
    assert params[0]["content"] == [
        {"type": "tool_use", "id": "toolu_1", "name": "get_document", "input": {"path": "解約?"}},
    ]
