"""The fake providers fail, spoil their answers and keep records as a test's script says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from corpus2skill.domain.message import ToolCall
from tests.fakes.providers import (
    KEY,
    ProviderServer,
    Script,
    anthropic_server,
    openai_server,
)
from tests.fakes.providers.behaviour import (
    Behaviour,
    cut_before,
    cut_stream,
    cut_within,
    edited,
    error_event,
    fails,
    gateway_page,
    malformed_body,
    overloaded,
    rate_limited,
    says,
    slow,
    stalled,
)
from tests.fakes.providers.rubbish import SPOILED, echoes, every_kind, spoiled_ids
from tests.fakes.providers.sdk_clients import (
    CLAUDE,
    ask_claude,
    ask_gpt,
    claude_for,
    claude_format,
    gpt_for,
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


async def read_into(got: list[Any], asking: Any) -> None:
    async for event in await asking:
        got.append(event)  # noqa: PERF401 - what came before an error is to stay


async def name_of_error(asking: Any) -> str:
    try:
        await asking
    except Exception as error:  # noqa: BLE001 - the test is about which one
        status = getattr(error, "status_code", "")
        return f"{type(error).__name__} {status}".strip()
    return "none"


async def until_ended(server: ProviderServer) -> None:
    """The server learns of a client that went away a moment later."""
    while any(call.state == "running" for call in server.calls):  # noqa: ASYNC110 - there is no event for it
        await asyncio.sleep(0)


class TestFaults:
    @pytest.mark.parametrize(
        ("behaviour", "claude_error", "gpt_error"),
        [
            (rate_limited(3), "RateLimitError 429", "RateLimitError 429"),
            (overloaded(), "OverloadedError 529", "InternalServerError 503"),
            (fails("server_error"), "InternalServerError 500", "InternalServerError 500"),
            (fails("bad_gateway"), "InternalServerError 502", "InternalServerError 502"),
            (fails("unavailable"), "ServiceUnavailableError 503", "InternalServerError 503"),
            (fails("quota"), "EnforcedSpendLimitReachedError 429", "RateLimitError 429"),
            (fails("billing"), "BadRequestError 400", "RateLimitError 429"),
            (fails("payment"), "PaymentRequiredError 402", "APIStatusError 402"),
            (fails("permission"), "PermissionDeniedError 403", "PermissionDeniedError 403"),
            (gateway_page(), "InternalServerError 502", "InternalServerError 502"),
            (cut_before(), "APIConnectionError", "APIConnectionError"),
            (cut_within(), "APIConnectionError", "APIConnectionError"),
            (malformed_body(), "JSONDecodeError", "JSONDecodeError"),
        ],
    )
    async def test_faults_reach_the_sdks_as_what_they_are(
        self, behaviour: Behaviour, claude_error: str, gpt_error: str
    ) -> None:
        """Issue 4: scriptable faults."""
        async with (
            anthropic_server(script=Script().always(behaviour)) as server,
            claude_for(server) as client,
        ):
            assert await name_of_error(ask_claude(client)) == claude_error
        async with openai_server(script=Script().always(behaviour)) as server, gpt_for(server) as client:
            assert await name_of_error(ask_gpt(client)) == gpt_error

    async def test_waits_are_told_in_headers(
        self, claude: anthropic.AsyncAnthropic, fake_anthropic: ProviderServer
    ) -> None:
        """Field report 5: Retry-After; its milliseconds too."""
        fake_anthropic.script = Script().on_call(1, rate_limited(3), rate_limited(retry_after_ms=1500))
        told: list[tuple[str | None, str | None]] = []
        for _ in range(2):
            with pytest.raises(anthropic.RateLimitError) as error:
                await ask_claude(claude)
            headers = error.value.response.headers
            told.append((headers.get("retry-after"), headers.get("retry-after-ms")))
        assert told == [("3", None), (None, "1500")]

    async def test_a_stream_is_cut_after_so_many_events(
        self,
        claude: anthropic.AsyncAnthropic,
        gpt: openai.AsyncOpenAI,
        fake_anthropic: ProviderServer,
        fake_openai: ProviderServer,
    ) -> None:
        """Design 7: the SDKs let the severed stream's own error out."""
        fake_anthropic.script = fake_openai.script = Script().always(cut_stream(3))
        got: list[Any] = []
        with pytest.raises((anthropic.APIConnectionError, httpx2.TransportError)):
            await read_into(got, ask_claude(claude, stream=True))
        with pytest.raises((openai.APIConnectionError, httpx2.TransportError)):
            await read_into(got, ask_gpt(gpt, stream=True))
        assert len(got) == 2 + 3  # the SDK keeps the ping to itself
        assert [call.state for call in (*fake_anthropic.calls, *fake_openai.calls)] == ["cut", "cut"]

    async def test_a_stream_tells_of_an_error_on_its_way(
        self,
        claude: anthropic.AsyncAnthropic,
        gpt: openai.AsyncOpenAI,
        fake_anthropic: ProviderServer,
        fake_openai: ProviderServer,
    ) -> None:
        """Issue 4: the error event."""
        fake_anthropic.script = fake_openai.script = Script().always(error_event("overloaded", 4))
        with pytest.raises(anthropic.APIStatusError, match="overloaded_error"):
            [event async for event in await ask_claude(claude, stream=True)]
        with pytest.raises(openai.APIError, match="overloaded"):
            [chunk async for chunk in await ask_gpt(gpt, stream=True)]

    async def test_a_stalled_call_lasts_until_the_client_gives_up(
        self, fake_anthropic: ProviderServer
    ) -> None:
        """Issue 4: stalled streams; the record shows who gave up."""
        fake_anthropic.script = Script().on_call(1, stalled(), stalled(after_events=2))
        async with claude_for(fake_anthropic, timeout=0.05) as client:
            assert await name_of_error(ask_claude(client)) == "APITimeoutError"
            with pytest.raises((anthropic.APITimeoutError, httpx2.TimeoutException)):
                [event async for event in await ask_claude(client, stream=True)]
        await until_ended(fake_anthropic)
        assert [call.state for call in fake_anthropic.calls] == ["abandoned", "abandoned"]

    async def test_the_key_comes_back_where_a_test_wants_it(
        self,
        claude: anthropic.AsyncAnthropic,
        gpt: openai.AsyncOpenAI,
        fake_anthropic: ProviderServer,
        fake_openai: ProviderServer,
    ) -> None:
        """Field report 29: a provider that echoes the key, in an error and in a reply."""
        script = Script().on_call(1, fails("server_error", echoes_key=True), edited(echoes(KEY)))
        fake_anthropic.script = fake_openai.script = script
        with pytest.raises(anthropic.InternalServerError, match=KEY):
            await ask_claude(claude)
        assert KEY in (await ask_claude(claude)).content[0].text
        with pytest.raises(openai.InternalServerError, match=KEY):
            await ask_gpt(gpt)
        assert KEY in (await ask_gpt(gpt)).choices[0].message.content


class TestScripts:
    async def test_a_storm_by_the_servers_clock_ends_by_it(self) -> None:
        """Issue 4: a 60 s storm of 429 and 529."""
        now = [0.0]
        server = anthropic_server(
            script=Script().for_seconds(60, rate_limited(1), overloaded()), clock=lambda: now[0]
        )
        async with server, claude_for(server) as client:
            seen = [await name_of_error(ask_claude(client)) for _ in range(2)]
            now[0] = 60.0
            seen.append(await name_of_error(ask_claude(client)))
        assert sorted(seen) == ["OverloadedError 529", "RateLimitError 429", "none"]

    async def test_rules_are_taken_in_their_order(self) -> None:
        """Issue 4: behaviours by number, by predicate, by try and by seeded share."""
        script = (
            Script()
            .on_call(2, says("second"))
            .when(lambda prompt: "月額" in prompt.text, says("monthly"), times=1)
            .on_tries(says("first try"))
            .always(says("always"))
        )
        async with anthropic_server(script=script) as server, claude_for(server) as client:
            asked = ("年額", "年額", "年額", "月額", "月額")
            replies = [
                await ask_claude(client, messages=[{"role": "user", "content": each}]) for each in asked
            ]
        assert [reply.content[0].text for reply in replies] == [
            "first try",
            "second",
            "always",
            "monthly",
            "always",
        ]

    async def test_rates_and_crowds_are_limited(self) -> None:
        """Issue 4: requests per minute and concurrency."""
        now = [0.0]
        script = Script().crowded(2, overloaded()).limited(2, 60, rate_limited(1)).always(slow(0.02))
        server = anthropic_server(script=script, clock=lambda: now[0])
        async with server, claude_for(server) as client:
            seen = await asyncio.gather(*(name_of_error(ask_claude(client)) for _ in range(3)))
            seen.append(await name_of_error(ask_claude(client)))
            now[0] = 60.0
            seen.append(await name_of_error(ask_claude(client)))
        assert seen == ["none", "none", "OverloadedError 529", "RateLimitError 429", "none"]

    async def test_a_seeded_share_falls_on_the_same_calls_whatever_their_order(self) -> None:
        """Issue 4: rubbish for 20% of calls, drawn the same in every run."""

        async def spoiled(names: list[str]) -> set[str]:
            script = Script().share(0.3, says("rubbish"), seed=4)
            async with anthropic_server(script=script) as server, claude_for(server) as client:
                for name in names:
                    await ask_claude(client, messages=[{"role": "user", "content": name}])
                return {
                    call.json["messages"][0]["content"]  # pyright: ignore[reportIndexIssue]
                    for call in server.calls
                    if call.output_text == "rubbish"
                }

        names = [f"文書{number}" for number in range(20)]
        assert await spoiled(names) == await spoiled(names[::-1]) != set()

    @pytest.mark.parametrize("name", sorted(SPOILED))
    async def test_every_kind_of_rubbish_differs_from_the_good_answer(
        self, name: str, claude: anthropic.AsyncAnthropic, fake_anthropic: ProviderServer
    ) -> None:
        """Issue 4: malformed, fenced, wordy, truncated, refusing and wrong-key replies, and more."""
        fake_anthropic.script = Script().on_call(2, edited(SPOILED[name]))
        asked = {"output_config": claude_format(SCHEMA)}
        good, bad = await ask_claude(claude, **asked), await ask_claude(claude, **asked)
        assert good.content[0].text != "".join(block.text for block in bad.content)
        assert len(every_kind()) == len(SPOILED)

    async def test_ids_are_dropped_doubled_and_invented(self) -> None:
        """Issue 4: a model that loses, doubles and invents ids."""
        lines = "\n".join(f"chunk_{number} | 見出し{number} | 要約" for number in range(1, 41))
        question = f"次の40件を、3〜6個のグループに分けてください。ひとつのグループは12件までです。\n\n<items>\n{lines}\n</items>"
        schema = {"type": "object", "properties": {"groups": {"type": "array", "items": SCHEMA}}}
        schema |= {"required": ["groups"], "additionalProperties": False}
        spoil = edited(spoiled_ids(dropped=0.2, doubled=0.2, invented=0.2, seed=1))
        async with (
            anthropic_server(script=Script().on_call(2, spoil)) as server,
            claude_for(server) as client,
        ):
            asked = {
                "messages": [{"role": "user", "content": question}],
                "output_config": claude_format(schema),
            }
            replies = [await ask_claude(client, **asked) for _ in range(2)]
        good, bad = (
            [m for g in json.loads(r.content[0].text)["groups"] for m in g["memberIds"]] for r in replies
        )
        known = {f"chunk_{number}" for number in range(1, 41)}
        assert good == sorted(known, key=lambda name: int(name[6:]))
        assert known - set(bad)
        assert set(bad) - known
        assert len(bad) > len(set(bad))


class TestRecords:
    async def test_calls_are_kept_with_their_order_and_overlap(
        self, claude: anthropic.AsyncAnthropic, fake_anthropic: ProviderServer
    ) -> None:
        """Issue 4: tests count calls and prove that none was repeated that had succeeded."""
        fake_anthropic.script = Script().for_calls(1, 3, slow(0.02)).on_call(4, overloaded())
        await asyncio.gather(*(ask_claude(claude, metadata={"user_id": str(n)}) for n in range(3)))
        await name_of_error(ask_claude(claude))
        await ask_claude(claude)
        assert fake_anthropic.calls.paid_twice == []
        await ask_claude(claude)
        calls = fake_anthropic.calls
        assert [call.number for call in calls] == [1, 2, 3, 4, 5, 6]
        assert [call.state for call in calls] == ["answered"] * 3 + ["failed"] + ["answered"] * 2
        assert [call.tries_before for call in calls] == [0, 0, 0, 0, 1, 2]
        assert [call.number for call in calls.paid_twice] == [6]
        assert fake_anthropic.max_in_flight == 3
        assert calls.calls[0].json["model"] == CLAUDE

    async def test_long_runs_keep_fingerprints_only(self) -> None:
        """Issue 4: 100,000 calls."""
        async with anthropic_server(keeps_bodies=False) as server, claude_for(server) as client:
            await ask_claude(client)
            await ask_claude(client)
            assert [(call.body, call.headers) for call in server.calls] == [(b"", {}), (b"", {})]
            assert len(server.calls.paid_twice) == 1
