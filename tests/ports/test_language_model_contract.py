"""What every `LanguageModel` promises, asked of the fake and of both adapters over the fake providers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import pytest

from corpus2skill.domain.message import (
    MADE_UP_CALL,
    ModelEvent,
    ModelMessage,
    ProgramMessage,
    Reply,
    Text,
    TextDelta,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from corpus2skill.domain.model_call import TextReply
from corpus2skill.errors import BadReply, ModelUnavailable, ModelUnusable
from corpus2skill.ports.language_model import LanguageModel
from tests.fakes.language_model import FakeLanguageModel
from tests.fakes.opened_models import opened, round_of, text_call
from tests.fakes.providers import Script, anthropic_server, openai_server
from tests.fakes.providers.behaviour import (
    Behaviour,
    answers,
    cut_stream,
    cut_within,
    fails,
    malformed_body,
    rate_limited,
    says,
)

pytestmark = pytest.mark.anyio

PREFETCH = (
    ProgramMessage((Text("年額プランは解約できますか"),)),
    ModelMessage((ToolCall(call_id=MADE_UP_CALL, name="get_document", arguments='{"path": "SKILL.md"}'),)),
    ProgramMessage((ToolResult(call_id=MADE_UP_CALL, content='{"path": "SKILL.md", "children": ["解約"]}'),)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One thing that a model does, as the fake is told of it and as a provider's server is."""

    fake: object
    server: Behaviour


Opening = Callable[[Scene], AbstractAsyncContextManager[LanguageModel]]


@asynccontextmanager
async def _fake(scene: Scene) -> AsyncIterator[LanguageModel]:
    said = scene.fake
    if isinstance(said, Reply):
        yield FakeLanguageModel(rounds=(said,))
    else:
        assert isinstance(said, str | TextReply | BaseException)
        rounds = (said,) if isinstance(said, str | BaseException) else ()
        yield FakeLanguageModel(said, rounds=rounds)


@asynccontextmanager
async def _anthropic(scene: Scene) -> AsyncIterator[LanguageModel]:
    async with anthropic_server(script=Script().always(scene.server)) as server, opened(server) as model:
        yield model


@asynccontextmanager
async def _openai(scene: Scene) -> AsyncIterator[LanguageModel]:
    async with openai_server(script=Script().always(scene.server)) as server, opened(server) as model:
        yield model


@pytest.fixture(params=[_fake, _anthropic, _openai], ids=["fake", "anthropic", "openai"])
def model_in(request: pytest.FixtureRequest) -> Opening:
    return request.param


async def events_of(model: LanguageModel, *messages: ProgramMessage | ModelMessage) -> list[ModelEvent]:
    return [event async for event in model.reply(round_of(*messages))]


async def test_a_call_gets_the_whole_text_with_its_stop_and_usage(model_in: Opening) -> None:
    """Issue 4, ports and adapters: plain text replies. Input is all input, whatever it cost."""
    usage = Usage(input_tokens=1_000, output_tokens=50, cached_tokens=600)
    text = '{"title": "解約手続き", "summary": "年額は期末まで。"}'
    scene = Scene(fake=TextReply(text=text, stop="end", usage=usage), server=says(text, usage=usage))
    async with model_in(scene) as model:
        assert await model.complete(text_call()) == TextReply(text=text, stop="end", usage=usage)


async def test_a_cut_text_says_so(model_in: Opening) -> None:
    """design.md, section 4: cut output is seen."""
    scene = Scene(
        fake=TextReply(text='{"title": "解', stop="max_tokens"),
        server=says('{"title": "解', stop="max_tokens"),
    )
    async with model_in(scene) as model:
        assert (await model.complete(text_call())).stop == "max_tokens"


async def test_a_refusal_of_the_model_is_a_reply_that_was_paid_for(model_in: Opening) -> None:
    """design.md, section 4: refused by the provider."""
    scene = Scene(fake=TextReply(text="", stop="refusal"), server=says("できません。", stop="refusal"))
    async with model_in(scene) as model:
        assert (await model.complete(text_call())).stop == "refusal"


async def test_a_round_streams_its_words_and_ends_with_one_reply(model_in: Opening) -> None:
    """The promise of `NavigatorModel`."""
    words = "解約は契約管理画面から行います [doc_chunk_7]。"
    async with model_in(Scene(fake=words, server=says(words))) as model:
        *deltas, reply = await events_of(model)
    assert isinstance(reply, Reply)
    assert "".join(event.text for event in deltas if isinstance(event, TextDelta)) == words == reply.text
    assert (reply.stop, reply.tool_calls) == ("end", ())
    assert reply.usage.input_tokens > 0


async def test_a_round_after_the_prefetched_root_asks_for_a_tool(model_in: Opening) -> None:
    """design.md, section 4: the history begins with a call that the model never made."""
    call = ToolCall(call_id="toolu_7", name="get_document", arguments='{"path": "解約/SKILL.md"}')
    reply = Reply(parts=(Text("解約の枝を見ます。"), call), stop="tool_use")
    scene = Scene(fake=reply, server=answers(*reply.parts))
    async with model_in(scene) as model:
        *_, last = await events_of(model, *PREFETCH)
    assert isinstance(last, Reply)
    assert (last.text, last.stop) == (reply.text, "tool_use")
    assert [(made.name, made.arguments) for made in last.tool_calls] == [(call.name, call.arguments)]


async def test_several_calls_in_one_reply_keep_their_order_and_their_ids_apart(model_in: Opening) -> None:
    """design.md, section 4: several calls in one reply are served in order."""
    calls = tuple(
        ToolCall(call_id=f"toolu_{n}", name="get_document", arguments=f'{{"path": "枝{n}"}}')
        for n in range(3)
    )
    async with model_in(Scene(fake=Reply(parts=calls, stop="tool_use"), server=answers(*calls))) as model:
        *_, last = await events_of(model)
    assert isinstance(last, Reply)
    assert [call.arguments for call in last.tool_calls] == [call.arguments for call in calls]
    assert len({call.call_id for call in last.tool_calls}) == 3


async def test_a_round_goes_back_with_everything_the_model_said(model_in: Opening) -> None:
    """design.md, section 4: what a reply holds is taken back by the provider, results first."""
    call = ToolCall(call_id="toolu_7", name="get_document", arguments='{"path": "解約"}')
    history = (
        *PREFETCH,
        ModelMessage((Thinking(text="unsigned"), Text("解約を見ます。"), call, Text("  "))),
        ProgramMessage((ToolResult(call_id="toolu_7", content='{"error": "no"}', is_error=True),)),
        ProgramMessage((Text("続けてください。"),)),
    )
    async with model_in(Scene(fake="はい。", server=says("はい。"))) as model:
        *_, last = await events_of(model, *history)
    assert isinstance(last, Reply)
    assert last.text == "はい。"


async def test_a_rate_limit_is_transient_and_says_how_long_to_wait(model_in: Opening) -> None:
    """field report 5: Retry-After is obeyed."""
    scene = Scene(fake=ModelUnavailable("rate_limited", retry_after=7.0), server=rate_limited(7.0))
    async with model_in(scene) as model:
        with pytest.raises(ModelUnavailable) as caught:
            await model.complete(text_call())
        with pytest.raises(ModelUnavailable):
            await events_of(model)
    assert (caught.value.retry_after, caught.value.is_unreachable) == (7.0, False)


@pytest.mark.parametrize("kind", ["quota", "billing"])
async def test_a_used_up_quota_is_not_transient(model_in: Opening, kind: str) -> None:
    """field report 5: quota-exhausted fails fast."""
    scene = Scene(
        fake=ModelUnusable("quota_used_up"), server=fails("billing" if kind == "billing" else "quota")
    )
    async with model_in(scene) as model:
        with pytest.raises(ModelUnusable) as caught:
            await model.complete(text_call())
    assert caught.value.code == "quota_used_up"


async def test_a_refused_key_is_not_transient(model_in: Opening) -> None:
    """Issue 4, bad input: wrong key."""
    scene = Scene(fake=ModelUnusable("key_refused"), server=fails("authentication"))
    async with model_in(scene) as model:
        with pytest.raises(ModelUnusable) as caught:
            await model.complete(text_call())
    assert caught.value.code == "key_refused"


async def test_a_cut_body_is_transient(model_in: Opening) -> None:
    """field-reports.md, the rule: a transport failure is retried."""
    scene = Scene(fake=ModelUnavailable("connection_broken"), server=cut_within(60))
    async with model_in(scene) as model:
        with pytest.raises(ModelUnavailable):
            await model.complete(text_call())


@pytest.mark.parametrize("after_events", [0, 1, 3])
async def test_a_cut_stream_is_transient(model_in: Opening, after_events: int) -> None:
    """design.md, section 7: raw transport errors of a severed stream are caught."""
    scene = Scene(fake=ModelUnavailable("connection_broken"), server=cut_stream(after_events))
    async with model_in(scene) as model:
        with pytest.raises(ModelUnavailable):
            await events_of(model)


async def test_half_a_body_is_a_bad_reply(model_in: Opening) -> None:
    """The port: what came is no reply at all."""
    scene = Scene(fake=BadReply("unreadable_reply"), server=malformed_body())
    async with model_in(scene) as model:
        with pytest.raises(BadReply):
            await model.complete(text_call())


async def test_it_says_what_it_is(model_in: Opening) -> None:
    """The port: name, identity and window."""
    async with model_in(Scene(fake="はい。", server=says("はい。"))) as model:
        assert ":" in model.name
        assert model.name in model.identity
        assert model.window == 100_000
