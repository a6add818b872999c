"""What is sent to chat completions, and how servers that only look like OpenAI are got along with."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.adapters.llm.failures import Failure
from corpus2skill.adapters.llm.openai_effort import effort_ladder
from corpus2skill.adapters.llm.openai_quirks import OpenAIQuirks
from corpus2skill.adapters.llm.openai_wire import extra_part, message_params, strict_schema
from corpus2skill.adapters.llm.spoken_thoughts import SpokenThoughts, without_thoughts
from corpus2skill.domain.message import (
    MADE_UP_CALL,
    ModelMessage,
    ProgramMessage,
    Reply,
    Text,
    TextDelta,
    ToolCall,
    ToolResult,
)
from corpus2skill.errors import ModelUnavailable, ModelUnusable
from tests.fakes.opened_models import SCHEMA, opened, round_of, text_call
from tests.fakes.providers import ProviderServer, Quirks, Script, openai_server
from tests.fakes.providers.behaviour import Behaviour, RawAnswer, answers, says
from tests.fakes.providers.quirks import GEMINI_LIKE, LM_STUDIO_LIKE, OLLAMA_LIKE, VLLM_LIKE

pytestmark = pytest.mark.anyio

QUIRKS = OpenAIQuirks(max_tokens_field="max_tokens", efforts=("none", "low"))


def bodies(server: ProviderServer) -> list[dict[str, object]]:
    return [json.loads(call.body) for call in server.calls]


@pytest.mark.parametrize("quirks", [OLLAMA_LIKE, VLLM_LIKE, LM_STUDIO_LIKE, GEMINI_LIKE])
async def test_a_whole_line_of_servers_answers_calls_and_rounds(quirks: Quirks) -> None:
    """field report 32: any OpenAI-compatible endpoint; a key only where one is wanted."""
    key = None if not quirks.needs_key else "sk-fake-0123456789abcdefghijklmnop"
    async with openai_server(quirks=quirks) as server, opened(server, "qwen3:8b", key=key) as model:
        assert json.loads((await model.complete(text_call())).text)["title"]
        *_, reply = [event async for event in model.reply(round_of())]
    assert isinstance(reply, Reply)
    assert [call.name for call in reply.tool_calls] == ["get_document"]
    assert json.loads(reply.tool_calls[0].arguments) == {"path": "SKILL.md"}


async def test_a_quirk_is_learned_once_for_an_endpoint(fake_openai: ProviderServer) -> None:
    """design.md, section 7: a quirk record per endpoint. Newer models want another field for the limit."""
    async with opened(fake_openai) as model, opened(fake_openai) as another:
        await model.complete(text_call())
        await another.complete(text_call())
    fields = [sorted({"max_tokens", "max_completion_tokens"} & body.keys()) for body in bodies(fake_openai)]
    assert fields == [["max_tokens"], ["max_completion_tokens"], ["max_completion_tokens"]]


async def test_many_calls_at_a_time_learn_a_quirk_from_one_refusal(fake_openai: ProviderServer) -> None:
    """Issue 4: 64 calls at a time are not 64 requests that a foreign endpoint cannot read."""
    async with opened(fake_openai) as model:
        await asyncio.gather(
            *(model.complete(text_call(words=f"解約の条件 {number}")) for number in range(8))
        )
    assert [call.state for call in fake_openai.calls].count("failed") == 1
    assert len(fake_openai.calls.answered) == 8


async def test_openai_itself_is_asked_as_it_wants_at_once(fake_openai: ProviderServer) -> None:
    """Issue 4: native structured output, the lowest effort, no parameter that is refused."""
    async with opened(fake_openai, is_official=True) as model:
        await model.complete(text_call())
        async for _ in model.reply(round_of()):
            pass
    call, round_ = bodies(fake_openai)
    assert (call["max_completion_tokens"], call["reasoning_effort"]) == (300, "none")
    assert isinstance(call["response_format"], dict)
    assert call["response_format"]["json_schema"]["strict"] is True
    assert isinstance(round_["prompt_cache_key"], str)
    assert round_["stream_options"] == {"include_usage": True}


async def test_a_server_without_structured_output_is_asked_without() -> None:
    """Issue 4: JSON by the provider's structured output where there is one."""
    quirks = Quirks(is_lax=True, response_format="json_object")
    async with openai_server(quirks=quirks) as server, opened(server, "qwen3:8b") as model:
        await model.complete(text_call())
        await model.complete(text_call())
        assert [body.get("response_format", {}) for body in bodies(server)][1:] == [
            {"type": "json_object"}
        ] * 2


async def test_a_model_without_tools_is_said_to_be_one() -> None:
    """Issue 4, bad input: a model without tools. Its calls for a compile still work."""
    async with (
        openai_server(quirks=Quirks(is_lax=True, tools="refused")) as server,
        opened(server, "qwen3:8b") as model,
    ):
        with pytest.raises(ModelUnusable) as caught:
            async for _ in model.reply(round_of()):
                pass
        assert (await model.complete(text_call())).stop == "end"
    assert caught.value.code == "model_without_tools"


async def test_a_server_that_drops_tool_calls_from_streams_is_found_out_once() -> None:
    """design.md, section 7: tools in a stream."""
    async with openai_server(quirks=OLLAMA_LIKE) as server, opened(server, "qwen3:8b") as model:
        for _ in range(3):
            *_, reply = [event async for event in model.reply(round_of())]
            assert isinstance(reply, Reply)
            assert reply.tool_calls
        assert [body.get("stream", False) for body in bodies(server)] == [True, False, False, False]


async def test_a_stream_of_openai_s_without_a_finish_reason_was_cut() -> None:
    """field-reports.md, the rule: a cut stream is a transport failure, however politely it ended."""
    async with openai_server(quirks=Quirks(has_finish_reason=False)) as server:
        async with opened(server, is_official=True) as model:
            with pytest.raises(ModelUnavailable):
                async for _ in model.reply(round_of()):
                    pass
        async with opened(server) as lenient:
            *_, reply = [event async for event in lenient.reply(round_of())]
    assert isinstance(reply, Reply)


async def test_an_error_that_hides_behind_status_200_is_an_error(fake_openai: ProviderServer) -> None:
    """Gateways report the failure of the provider behind them that way."""
    hidden = b'{"error": {"code": 429, "message": "Provider returned error"}}'
    fake_openai.script = Script().always(Behaviour(fault=RawAnswer(status=200, body=hidden)))
    async with opened(fake_openai) as model:
        with pytest.raises(ModelUnavailable) as caught:
            await model.complete(text_call())
    assert caught.value.code == "rate_limited"


async def test_reasoning_that_used_up_a_reply_gets_room_the_next_time() -> None:
    """field report 32: thinking off for JSON steps, and where it stays on it must not eat the reply."""
    async with openai_server(quirks=Quirks(is_lax=True, tokens_field="max_tokens")) as server:
        server.script = Script().on_call(1, says("<think>まず、", stop="max_tokens"))
        async with opened(server, "qwen3:8b") as model:
            assert (await model.complete(text_call())).text == ""
            await model.complete(text_call())
        assert [body["max_tokens"] for body in bodies(server)] == [300, 4396]


async def test_thoughts_spoken_aloud_are_not_shown() -> None:
    """design.md, section 4: thinking is never shown as a reason."""
    async with openai_server(quirks=Quirks(is_lax=True)) as server:
        server.script = Script().always(says("<think>\n根から見る。</think>\n\n解約を見ます。"))
        async with opened(server, "qwen3:8b") as model:
            events = [event async for event in model.reply(round_of(tools=()))]
            whole = await model.complete(text_call())
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "解約を見ます。"
    assert whole.text == "解約を見ます。"


async def test_calls_without_arguments_are_an_empty_object(fake_openai: ProviderServer) -> None:
    """What goes back must be JSON."""
    call = ToolCall(call_id="call_1", name="get_document", arguments="")
    fake_openai.script = Script().always(answers(call))
    async with opened(fake_openai) as model:
        *_, reply = [event async for event in model.reply(round_of())]
    assert isinstance(reply, Reply)
    assert reply.tool_calls[0].arguments == "{}"


def test_neighbours_are_joined_and_results_follow_their_calls() -> None:
    """Many templates want the roles to take turns; a result must follow its call."""
    history = (
        ProgramMessage((Text("質問"),)),
        ProgramMessage((Text("続き"),)),
        ModelMessage((Text("見ます。"), ToolCall(call_id="c", name="get_document", arguments="{}"))),
        ProgramMessage((Text("次"), ToolResult(call_id="c", content="{}"))),
    )
    params = message_params("S", history, QUIRKS)
    assert [(param["role"], param.get("content")) for param in params] == [
        ("system", "S"),
        ("user", "質問\n\n続き"),
        ("assistant", "見ます。"),
        ("tool", "{}"),
        ("user", "次"),
    ]


def test_what_a_server_wants_back_beside_its_calls_goes_back() -> None:
    """Gemini refuses a history whose calls have lost their thought signatures."""
    extra = {"google": {"thought_signature": "zz"}}
    call = ToolCall(call_id="c", name="get_document", arguments="{}")
    (param,) = message_params("", [ModelMessage((extra_part({0: extra}), call))], QUIRKS)
    assert json.loads(json.dumps(param))["tool_calls"][0]["extra_content"] == extra


def test_made_up_calls_become_text_for_who_refuses_them() -> None:
    """design.md, section 4: the prefetch's made-up call has a fallback."""
    history = (
        ProgramMessage((Text("質問"),)),
        ModelMessage((ToolCall(call_id=MADE_UP_CALL, name="get_document", arguments="{}"),)),
        ProgramMessage((ToolResult(call_id=MADE_UP_CALL, content="ROOT"),)),
    )
    params = message_params("", history, replace(QUIRKS, takes_made_up_calls=False))
    assert params == [{"role": "user", "content": "質問\n\nROOT"}]


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        (
            "Unsupported parameter: 'max_tokens'",
            {"max_tokens_field": "max_completion_tokens", "was_field_changed": True},
        ),
        ("Unsupported value: 'reasoning_effort' does not support 'none'", {"efforts": ("low",)}),
        ("json_schema is not supported", {"reply_format": "json_object"}),
        ("Unrecognized request argument supplied: stream_options", {"has_usage_chunk": False}),
        ("Function call is missing a thought_signature", {"takes_made_up_calls": False}),
        ("System role not supported", {"has_system_role": False}),
        ("streaming is not supported together with tools", {"has_streamed_tools": False}),
        ("registry.ollama.ai/library/x does not support tools", {"has_tools": False}),
    ],
)
def test_a_refused_feature_is_done_without(words: str, changed: dict[str, object]) -> None:
    """Issue 4: a quirk is learned from the endpoint's 400."""
    assert QUIRKS.without(Failure(status=400, words=words)) == replace(QUIRKS, **changed)


def test_giving_up_features_comes_to_an_end() -> None:
    """A server that refuses everything is asked a few times, not for ever."""
    words = "max_tokens reasoning response_format stream_options thought_signature system role stream tool"
    quirks: OpenAIQuirks | None = replace(QUIRKS, has_cache_key=True)
    steps = 0
    while quirks is not None:
        quirks, steps = quirks.without(Failure(status=400, words=words)), steps + 1
    assert steps <= 14


@pytest.mark.parametrize(
    ("model", "ladder"),
    [
        ("gpt-4.1-mini", ()),
        ("gpt-5-mini", ("minimal", "low")),
        ("gpt-5.6-luna", ("none", "low")),
        ("gpt-6.1-terra", ("none", "low")),
        ("gpt-6-astra", ("low",)),
        ("gpt-6.1-sol", ("low",)),
        ("o3", ("low",)),
        ("qwen3:8b", ("none", "low")),
    ],
)
def test_each_generation_has_its_lowest_effort(model: str, ladder: tuple[str, ...]) -> None:
    """design.md, section 4: thinking off or lowest."""
    assert effort_ladder(model) == ladder


def test_a_schema_becomes_strict_without_losing_a_key() -> None:
    """OpenAI's strict mode: every key required, nothing else allowed, no limits of length."""
    schema = '{"type": "object", "properties": {"maxLength": {"type": "string", "maxLength": 3}}}'
    assert strict_schema(schema) == (
        {
            "type": "object",
            "properties": {"maxLength": {"type": "string"}},
            "required": ["maxLength"],
            "additionalProperties": False,
        },
        True,
    )
    assert strict_schema('{"type": "object", "additionalProperties": {"type": "string"}}')[1] is False
    assert strict_schema(SCHEMA)[1] is True


@given(thought=st.text(), text=st.text(), cuts=st.lists(st.integers(0, 40), max_size=5))
@example(thought="根を見る", text="解約を見ます。", cuts=[1, 3, 9])
@example(thought="根を見る", text="\n\n解約を見ます。", cuts=[19, 20])
def test_a_spoken_thought_is_found_however_it_is_cut(thought: str, text: str, cuts: list[int]) -> None:
    """Deltas have no respect for tags."""
    said = f"<think>{thought.replace('<', '')}</think>{text}"
    assert _in_pieces(said, cuts) == text.lstrip() == without_thoughts(said)


@given(
    text=st.text().filter(lambda text: not text.lstrip().startswith("<think>")),
    cuts=st.lists(st.integers(0, 40)),
)
@example(text="<thin 解約", cuts=[2])
def test_a_text_without_thoughts_passes_unchanged(text: str, cuts: list[int]) -> None:
    """Only a block at the head is a thought."""
    assert _in_pieces(text, cuts) == text


def _in_pieces(text: str, cuts: list[int]) -> str:
    thoughts = SpokenThoughts()
    bounds = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    shown = "".join(thoughts.feed(text[start:end]) for start, end in pairwise(bounds))
    return shown + thoughts.rest()
