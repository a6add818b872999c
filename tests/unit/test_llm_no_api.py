"""Endpoints that answer 200 and are no model API, and bodies without an end."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from corpus2skill.adapters.llm.capped_body import MOST_REPLY_BYTES
from corpus2skill.adapters.llm.connection import Connection
from corpus2skill.adapters.llm.models import open_model
from corpus2skill.domain.model_name import ModelName
from corpus2skill.domain.provider_key import ProviderKey
from corpus2skill.errors import BadReply, ModelError, ModelUnavailable, ModelUnusable
from corpus2skill.messages import error_message
from corpus2skill.ports.language_model import LanguageModel
from tests.fakes.opened_models import MODELS, opened, round_of, text_call
from tests.fakes.providers import KEY, Script, anthropic_server, openai_server
from tests.fakes.providers.behaviour import Behaviour, RawAnswer
from tests.fakes.providers.http_server import Exchange, HttpRequest, HttpServer

pytestmark = pytest.mark.anyio

Opening = Callable[[Behaviour], AbstractAsyncContextManager[LanguageModel]]
_FIELDS = {"anthropic": "content", "openai": "choices"}
_PIECE = 256 * 1024
NO_API = [
    b"",
    b" \n",
    b"[]",
    b"null",
    b"true",
    b"{}",
    b'"ok"',
    b'{"status": "up", "message": "content choices"}',
    b'[{"content": [], "choices": []}]',
    b"Ollama is running",
    b"<!doctype html><html><body>login</body></html>",
]


@asynccontextmanager
async def _anthropic(behaviour: Behaviour) -> AsyncGenerator[LanguageModel]:
    async with anthropic_server(script=Script().always(behaviour)) as server, opened(server) as model:
        yield model


@asynccontextmanager
async def _openai(behaviour: Behaviour) -> AsyncGenerator[LanguageModel]:
    async with openai_server(script=Script().always(behaviour)) as server, opened(server) as model:
        yield model


@pytest.fixture(params=[_anthropic, _openai], ids=["anthropic", "openai"])
def model_at(request: pytest.FixtureRequest) -> Opening:
    return request.param


def sends(body: bytes, content_type: str = "application/json", encoding: str = "identity") -> Behaviour:
    return Behaviour(fault=RawAnswer(status=200, body=body, content_type=content_type, encoding=encoding))


async def failure_of(model: LanguageModel, *, is_streamed: bool) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await (_rounded(model) if is_streamed else model.complete(text_call()))
    return caught.value


async def _rounded(model: LanguageModel) -> None:
    async for _ in model.reply(round_of()):
        pass


@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("body", NO_API)
async def test_what_is_no_reply_of_an_api_stops_at_once(
    model_at: Opening, body: bytes, *, is_streamed: bool
) -> None:
    """Issue 4, bad input: a wrong base_url is a clear error, and never a tree of stand-ins."""
    async with model_at(sends(body)) as model:
        error = await failure_of(model, is_streamed=is_streamed)
    assert isinstance(error, ModelUnusable)
    assert error.code == "endpoint_not_api"
    assert "http://127.0.0.1:" in error_message("ja", error)
    assert "Check the base URL" in error_message("en", error)


@pytest.mark.parametrize("body", [b"data: {}\n\n", b"data: []\n\ndata: null\n\n", b"data: hello\n\n"])
async def test_a_stream_of_something_else_is_no_model_api(body: bytes) -> None:
    """Issue 4, bad input: other services stream events too."""
    async with _openai(sends(body, "text/event-stream")) as model:
        error = await failure_of(model, is_streamed=True)
    assert error.code == "endpoint_not_api"


async def test_a_stream_that_was_cut_at_its_head_is_transient(model_at: Opening) -> None:
    """field-reports.md, the rule: a cut stream is a transport failure."""
    for answer in (sends(b"", "text/event-stream"), sends(b'{"id": "half", "cont')):
        async with model_at(answer) as model:
            error = await failure_of(model, is_streamed=True)
        assert isinstance(error, ModelUnavailable)


@pytest.mark.parametrize("field", [b"null", b"[]", b'"words"', b'[{"no": 1}]'])
async def test_a_reply_whose_field_says_nothing_is_asked_for_again(field: bytes) -> None:
    """Issue 4: one reply that went wrong says nothing of the endpoint."""
    for provider, model_of in (("anthropic", _anthropic), ("openai", _openai)):
        if provider == "anthropic" and field == b"[]":
            continue  # an empty reply, and a reply all the same
        body = b'{"id": "m", "%s": %s}' % (_FIELDS[provider].encode(), field)
        async with model_of(sends(body)) as model:
            error = await failure_of(model, is_streamed=False)
        assert isinstance(error, BadReply)


async def test_an_error_with_status_200_is_what_it_says(model_at: Opening) -> None:
    """Gateways report the failure of the provider behind them that way: it may pass."""
    body = b'{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}'
    async with model_at(sends(body)) as model:
        error = await failure_of(model, is_streamed=False)
    assert isinstance(error, ModelUnavailable)
    assert error.code == "model_overloaded"


@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
async def test_what_is_no_api_does_not_show_the_key(model_at: Opening, *, is_streamed: bool) -> None:
    """Issue 4: keys never in an error, tested with a provider that echoes the key."""
    answers = (sends(f'{{"you sent": "{KEY}"}}'.encode()), sends(b"{}", f"text/plain; key={KEY}"))
    answers = (*answers, sends(f"data: {KEY}\n\n".encode(), "text/event-stream"))
    for answer in (*answers, sends(f"<html>{KEY}</html>".encode(), "text/html")):
        async with model_at(answer) as model:
            error = await failure_of(model, is_streamed=is_streamed)
        assert error.code in {"endpoint_not_api", "connection_broken"}  # a stream may only have been cut
        assert KEY not in error_message("ja", error) + repr(error) + repr(error.__context__)


class Fountain:
    """A server whose bodies have no end."""

    def __init__(self, status: int, piece: bytes, content_type: str) -> None:
        self.sent = 0
        self._status = status
        self._piece = piece
        self._content_type = content_type
        self.server = HttpServer(self._handle)

    async def _handle(self, request: HttpRequest, exchange: Exchange) -> None:
        del request
        exchange.start(self._status, {"content-type": self._content_type})
        while True:
            exchange.write(self._piece)
            self.sent += len(self._piece)
            await asyncio.sleep(0)


@asynccontextmanager
async def at_fountain(provider: str, fountain: Fountain) -> AsyncGenerator[LanguageModel]:
    await fountain.server.start()
    path = "/v1" if provider == "openai" else ""
    key = ProviderKey(secret=KEY, source="the test")
    connection = Connection(
        key=key, base_url=f"http://127.0.0.1:{fountain.server.port}{path}", window=100_000
    )
    model = open_model(ModelName(provider, MODELS[provider]), connection, {})
    try:
        yield model
    finally:
        await model.close()
        await fountain.server.stop()


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
@pytest.mark.parametrize(
    ("status", "content_type", "is_streamed"),
    [
        (200, "application/json", False),
        (200, "text/event-stream", True),
        (400, "application/json", False),
        (400, "application/json", True),
    ],
)
async def test_a_body_without_an_end_is_broken_off(
    provider: str, status: int, content_type: str, *, is_streamed: bool
) -> None:
    """Field-reports.md: clear errors; the memory of a process is not at an endpoint's mercy."""
    fountain = Fountain(status, b" " * _PIECE, content_type)
    async with at_fountain(provider, fountain) as model:
        error = await failure_of(model, is_streamed=is_streamed)
    assert isinstance(error, ModelUnusable)
    assert error.code == "reply_too_large"
    assert "127.0.0.1" in error_message("ja", error)
    assert fountain.sent < 20 * MOST_REPLY_BYTES


async def test_a_stream_of_proper_chunks_without_an_end_is_broken_off() -> None:
    """A model in a loop behind a server without limits."""
    chunk = b'data: {"choices": [{"index": 0, "delta": {"content": "%s"}}]}\n\n' % (b"a" * _PIECE)
    async with at_fountain("openai", Fountain(200, chunk, "text/event-stream")) as model:
        error = await failure_of(model, is_streamed=True)
    assert error.code == "reply_too_large"


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_what_unpacks_without_an_end_is_broken_off(model_at: Opening, encoding: str) -> None:
    """A packed body is counted as it unpacks: 100 KB become 100 MB."""
    packed = gzip.compress(b"0" * (12 * MOST_REPLY_BYTES), 6)
    async with model_at(sends(packed, encoding=encoding)) as model:
        error = await failure_of(model, is_streamed=False)
    assert error.code == "reply_too_large"


async def test_a_packed_reply_is_read(model_at: Opening) -> None:
    """Gateways pack what they pass on."""
    body = b'{"content": [{"type": "text", "text": "yes"}], "choices": [{"message": {"content": "yes"}}]}'
    async with model_at(sends(gzip.compress(body), encoding="gzip")) as model:
        assert (await model.complete(text_call())).text == "yes"


async def test_a_body_that_is_not_packed_as_it_says_is_transient(model_at: Opening) -> None:
    """field-reports.md, the rule: a transport failure is retried."""
    async with model_at(sends(b"not packed at all", encoding="gzip")) as model:
        error = await failure_of(model, is_streamed=False)
    assert isinstance(error, ModelUnavailable)
