"""No key is shown: in replies, errors, their chains, or logs."""

from __future__ import annotations

import itertools
import logging
import traceback
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.adapters.llm.redaction import HIDDEN, Redactor, StreamRedactor
from corpus2skill.domain.message import Reply, Text, TextDelta, Thinking, ToolCall
from corpus2skill.domain.provider_key import ProviderKey
from corpus2skill.errors import ModelError
from corpus2skill.messages import error_message
from tests.fakes.opened_models import opened, round_of, text_call
from tests.fakes.providers import KEY, ProviderServer, Script, anthropic_server, openai_server
from tests.fakes.providers.behaviour import Behaviour, RawAnswer, answers, fails, says
from tests.fakes.providers.http_server import Exchange, HttpRequest, HttpServer

pytestmark = pytest.mark.anyio

LOUD = ("anthropic", "openai", "httpx2", "httpcore2")


@pytest.fixture(params=[anthropic_server, openai_server], ids=["anthropic", "openai"])
def server(request: pytest.FixtureRequest) -> ProviderServer:
    return request.param()


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    for name in LOUD:
        caplog.set_level(logging.DEBUG, logger=name)
    return caplog


def everything_of(error: BaseException | None) -> str:
    """The error with all that hangs on it, as a traceback and as a log would show it."""
    text = ""
    while error is not None:
        text += "".join(traceback.format_exception(error)) + repr(error) + repr(vars(error))
        error = error.__cause__ or error.__context__
    return text


@pytest.mark.parametrize("kind", ["authentication", "rate_limit", "server_error", "quota"])
async def test_an_error_that_repeats_the_key_does_not_show_it(
    server: ProviderServer, logged: pytest.LogCaptureFixture, kind: str
) -> None:
    """field report 29: keys never printed, with a provider that echoes it."""
    server.script = Script().always(fails(kind, echoes_key=True))  # pyright: ignore[reportArgumentType]
    async with server, opened(server) as model:
        for ask in (model.complete(text_call()), _drained(model.reply(round_of()))):
            with pytest.raises(ModelError) as caught:
                await ask
            assert HIDDEN in str(caught.value.values)
            assert KEY not in everything_of(caught.value)
            assert KEY not in error_message("ja", caught.value) + error_message("en", caught.value)
    assert KEY not in logged.text


async def test_a_page_that_repeats_the_key_does_not_show_it(server: ProviderServer) -> None:
    """A gateway may show the request's headers on its error page."""
    page = RawAnswer(
        status=400, body=f"<html>authorization: Bearer {KEY}</html>".encode(), content_type="text/html"
    )
    server.script = Script().always(Behaviour(fault=page))
    async with server, opened(server) as model:
        with pytest.raises(ModelError) as caught:
            await model.complete(text_call())
        server.script = Script().always(Behaviour(fault=replace(page, status=200)))
        with pytest.raises(ModelError) as again:
            await model.complete(text_call())
    assert KEY not in everything_of(caught.value) + everything_of(again.value)


async def test_a_reply_that_repeats_the_key_does_not_show_it(
    server: ProviderServer, logged: pytest.LogCaptureFixture
) -> None:
    """field report 29; the port: every text that leaves the model is free of the key."""
    call = ToolCall(call_id="toolu_1", name="get_document", arguments=f'{{"path": "{KEY}"}}')
    async with server, opened(server) as model:
        server.script = Script().always(says(f'{{"title": "{KEY}"}}'))
        assert (await model.complete(text_call())).text == f'{{"title": "{HIDDEN}"}}'
        server.script = Script().always(answers(Text(f"鍵は{KEY}です。"), call))
        events = [event async for event in model.reply(round_of())]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == f"鍵は{HIDDEN}です。"
    assert isinstance(events[-1], Reply)
    assert KEY not in repr(events)
    assert events[-1].tool_calls[0].arguments == f'{{"path": "{HIDDEN}"}}'
    assert KEY not in logged.text


async def test_headers_that_repeat_the_key_are_not_logged(logged: pytest.LogCaptureFixture) -> None:
    """The HTTP library logs the headers of answers at DEBUG."""

    async def echo(request: HttpRequest, exchange: Exchange) -> None:
        exchange.respond(500, {"x-echo": request.headers.get("authorization", "")}, b"{}")

    server = anthropic_server()
    http = HttpServer(echo)
    await http.start()
    server._http = http
    async with opened(server) as model:
        with pytest.raises(ModelError):
            await model.complete(text_call())
    await http.stop()
    assert "x-echo" in logged.text
    assert KEY not in logged.text


@given(before=st.text(), after=st.text(), cuts=st.lists(st.integers(0, 60), max_size=6))
@example(before="鍵は", after="です", cuts=[3, 5, 20])
@example(before="sk-fake-", after="sk-fake-0123", cuts=[4, 9])
def test_a_key_cut_between_two_pieces_is_found(before: str, after: str, cuts: list[int]) -> None:
    """A stream may deliver the key letter by letter."""
    text = before + KEY + after
    redactor = Redactor([KEY])
    stream = StreamRedactor(redactor)
    bounds = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    shown = "".join(stream.feed(text[start:end]) for start, end in itertools.pairwise(bounds))
    shown += stream.rest()
    assert KEY not in shown
    assert shown == redactor.clean(text)


def test_a_key_is_found_however_it_is_written() -> None:
    """Errors show requests as JSON, as URLs and as Python."""
    secret = 'sk-"quoted"/and+percent%'
    redactor = Redactor([secret])
    for written in (
        secret,
        secret.upper(),
        'sk-\\"quoted\\"/and+percent%',
        "sk-%22quoted%22%2Fand%2Bpercent%25",
    ):
        assert redactor.clean(f"Bearer {written}!") == f"Bearer {HIDDEN}!"


def test_the_made_up_keys_of_local_servers_do_not_spoil_replies() -> None:
    """`ollama` is a word that documents use."""
    assert Redactor(["ollama", "none", ""]).clean("ollama は none を返す") == "ollama は none を返す"


def test_a_key_does_not_show_itself() -> None:
    """Issue 4: never in a log, error, record, tree or trace."""
    key = ProviderKey(secret=KEY, source="ANTHROPIC_API_KEY")
    assert KEY not in f"{key} {key!r}"
    assert "ANTHROPIC_API_KEY" in repr(key)


def test_thinking_is_cleaned_as_well() -> None:
    """A thinking block is text that leaves the adapter."""
    part = Redactor([KEY]).clean_part(Thinking(text=KEY, signature="s"))
    assert part == Thinking(text=HIDDEN, signature="s")


async def _drained(events: object) -> None:
    async for _ in events:  # pyright: ignore[reportGeneralTypeIssues]
        pass
