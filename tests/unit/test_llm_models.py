"""Opening models: clouds, gateways, proxies and certificates, up to the request that goes out."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from corpus2skill.adapters.llm.connection import Connection, base_url_in_force, without_secrets
from corpus2skill.adapters.llm.models import open_batches, open_model
from corpus2skill.adapters.llm.timeouts import Timeouts
from corpus2skill.domain.model_name import ModelName
from corpus2skill.domain.provider_key import ProviderKey
from corpus2skill.errors import ModelUnavailable, ModelUnusable, UnusableSettings
from corpus2skill.messages import error_message
from tests.fakes.opened_models import text_call
from tests.fakes.providers.http_server import Exchange, HttpRequest, HttpServer

pytestmark = pytest.mark.anyio

KEY = ProviderKey(secret="key-0123456789abcdef", source="the test")
CLAUDE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "はい"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
CHAT = {"choices": [{"message": {"role": "assistant", "content": "はい"}, "finish_reason": "stop"}]}


class Recorder:
    """A server that notes requests and answers all alike."""

    def __init__(self, answer: object, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self.requests: list[HttpRequest] = []
        self._answer = json.dumps(answer, ensure_ascii=False).encode()
        self._status = status
        self._headers = {"content-type": "application/json", **(headers or {})}
        self.server = HttpServer(self._handle)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    async def _handle(self, request: HttpRequest, exchange: Exchange) -> None:
        self.requests.append(request)
        exchange.respond(self._status, self._headers, self._answer)


@asynccontextmanager
async def recording(
    answer: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> AsyncIterator[Recorder]:
    recorder = Recorder(answer, status, headers)
    await recorder.server.start()
    try:
        yield recorder
    finally:
        await recorder.server.stop()


async def ask(name: ModelName, connection: Connection, environment: Mapping[str, str]) -> str:
    model = open_model(name, connection, environment)
    try:
        return (await model.complete(text_call())).text
    finally:
        await model.close()


async def test_azure_is_asked_for_its_deployment() -> None:
    """Issue 4: Azure's client set-up is tested up to the request."""
    async with recording(CHAT) as azure:
        environment = {"AZURE_OPENAI_ENDPOINT": azure.address, "OPENAI_API_VERSION": "2026-01-01"}
        text = await ask(ModelName("azure", "our-luna"), Connection(key=KEY), environment)
    (request,) = azure.requests
    assert text == "はい"
    assert request.path == "/openai/deployments/our-luna/chat/completions"
    assert request.query == {"api-version": "2026-01-01"}
    assert request.headers["api-key"] == KEY.secret
    assert "max_completion_tokens" in json.loads(request.body)


async def test_azure_takes_a_token_of_the_directory_in_place_of_a_key() -> None:
    """Issue 4: Azure through the SDK's own client."""
    async with recording(CHAT) as azure:
        environment = {"AZURE_OPENAI_ENDPOINT": azure.address, "AZURE_OPENAI_AD_TOKEN": "token-0123456789"}
        await ask(ModelName("azure", "our-luna"), Connection(), environment)
    assert azure.requests[0].headers["authorization"] == "Bearer token-0123456789"


async def test_bedrock_is_asked_for_its_model() -> None:
    """Issue 4: Bedrock's client set-up is tested up to the request."""
    async with recording(CLAUDE) as bedrock:
        connection = Connection(key=KEY, base_url=bedrock.address)
        name = ModelName("bedrock", "anthropic.claude-haiku-5-5")
        await ask(name, connection, {"AWS_REGION": "ap-northeast-1"})
    (request,) = bedrock.requests
    assert request.path == "/model/anthropic.claude-haiku-5-5/invoke"
    assert request.headers["authorization"] == f"Bearer {KEY.secret}"
    assert json.loads(request.body)["thinking"] == {"type": "disabled"}


async def test_vertex_is_asked_for_its_model() -> None:
    """Issue 4: Vertex's client set-up is tested up to the request."""
    async with recording(CLAUDE) as vertex:
        connection = Connection(key=KEY, base_url=vertex.address)
        environment = {"ANTHROPIC_VERTEX_PROJECT_ID": "our-project", "CLOUD_ML_REGION": "asia-northeast1"}
        await ask(ModelName("vertex", "claude-sonnet-5-5"), connection, environment)
    (request,) = vertex.requests
    assert request.path == (
        "/projects/our-project/locations/asia-northeast1/publishers/anthropic/models/claude-sonnet-5-5:rawPredict"
    )
    assert request.headers["authorization"] == f"Bearer {KEY.secret}"


@pytest.mark.parametrize(
    ("name", "connection", "environment", "code"),
    [
        ("anthropic", Connection(), {}, "key_missing"),
        ("openai", Connection(), {}, "key_missing"),
        ("azure", Connection(key=KEY), {}, "cloud_setting_missing"),
        ("azure", Connection(base_url="http://127.0.0.1:9"), {}, "key_missing"),
        ("bedrock", Connection(key=KEY), {}, "cloud_setting_missing"),
        ("vertex", Connection(key=KEY), {}, "cloud_setting_missing"),
    ],
)
def test_what_is_missing_is_named(
    name: str, connection: Connection, environment: Mapping[str, str], code: str
) -> None:
    """Issue 4, bad input: no key."""
    with pytest.raises(ModelUnusable) as caught:
        open_model(ModelName(name, "m"), connection, environment)
    assert caught.value.code == code
    assert "_" in error_message("ja", caught.value)


@pytest.mark.parametrize(
    "base_url",
    [
        "localhost:11434",
        "ftp://x/v1",
        "http://",
        "http://[bad",
        "http://x:99999999",
        "http://日本..例/v1",
        "http://\u200b/v1",
    ],
)
def test_a_base_url_that_is_none_is_refused_at_once(base_url: str) -> None:
    """Issue 4, bad input: wrong base_url."""
    with pytest.raises(UnusableSettings) as caught:
        open_model(ModelName("openai", "m"), Connection(base_url=base_url), {})
    assert caught.value.code == "base_url_unusable"


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
async def test_an_address_where_nobody_answers_is_unreachable(provider: str) -> None:
    """Issue 4, bad input: no network. It looks like an outage as well as a wrong address."""
    async with recording({}) as gone:
        address = gone.address
    with pytest.raises(ModelUnavailable) as caught:
        await ask(ModelName(provider, "m"), Connection(key=KEY, base_url=address), {})
    assert caught.value.code == "network_unreachable"
    assert caught.value.is_unreachable
    assert address in error_message("en", caught.value)


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
async def test_a_redirect_does_not_carry_the_key_elsewhere(provider: str) -> None:
    """A redirected key is a lost key."""
    async with recording(CLAUDE) as elsewhere, recording({}, 307, {"location": elsewhere.address}) as server:
        with pytest.raises(ModelUnusable) as caught:
            await ask(ModelName(provider, "m"), Connection(key=KEY, base_url=server.address), {})
    assert caught.value.code == "endpoint_not_api"
    assert elsewhere.requests == []


def test_the_provider_s_own_address_is_no_other_one() -> None:
    """Prices are looked up by it."""
    name = ModelName("openai", "m")
    assert base_url_in_force(name, None, {}) is None
    assert base_url_in_force(name, "https://api.openai.com/v1/", {}) is None
    assert base_url_in_force(name, None, {"OPENAI_BASE_URL": "http://gw/v1"}) == "http://gw/v1"
    assert base_url_in_force(name, "http://a/v1", {"OPENAI_BASE_URL": "http://b/v1"}) == "http://a/v1"


@pytest.mark.parametrize(
    ("provider", "pasted", "meant"),
    [
        ("openai", "http://gw/v1/chat/completions", "http://gw/v1"),
        ("openai", "http://gw/v1", "http://gw/v1"),
        ("anthropic", "http://gw/v1/messages", "http://gw"),
        ("anthropic", "http://gw/v1/", "http://gw"),
        ("anthropic", "http://gw/anthropic", "http://gw/anthropic"),
    ],
)
def test_what_the_sdk_adds_to_an_address_is_not_added_twice(provider: str, pasted: str, meant: str) -> None:
    """Issue 4, bad input: wrong base_url. People paste what the provider's page shows."""
    assert base_url_in_force(ModelName(provider, "m"), pasted, {}) == meant


def test_an_address_is_shown_without_its_secrets() -> None:
    """Issue 4: never in a log, error, record, tree or trace."""
    assert without_secrets("https://user:pass@gw.example:8443/v1/?key=abc") == "https://gw.example:8443/v1"
    model = open_model(
        ModelName("openai", "m"), Connection(base_url="https://u:pw@gw.example/v1?key=abc"), {}
    )
    assert "pw" not in model.identity
    assert "abc" not in model.identity


def test_the_window_is_the_one_given_else_that_of_the_model() -> None:
    """design.md, section 4: `--context-window`; 8,192 for unknown models."""
    local = "http://127.0.0.1:9/v1"
    assert open_model(ModelName("openai", "m"), Connection(base_url=local), {}).window == 8_192
    assert (
        open_model(ModelName("openai", "m"), Connection(base_url=local, window=32_000), {}).window == 32_000
    )
    assert open_model(ModelName("openai", "gpt-6-luna"), Connection(key=KEY), {}).window == 1_050_000


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
async def test_a_proxy_of_the_environment_is_used(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 4: proxies by the usual environment variables."""
    async with recording(CLAUDE if provider == "anthropic" else CHAT) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.address)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        connection = Connection(key=KEY, base_url="http://model.invalid/v1")
        assert await ask(ModelName(provider, "m"), connection, {}) == "はい"
    assert proxy.requests[0].headers["host"] == "model.invalid"


async def test_a_server_on_this_machine_is_reached_without_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A local model behind a company's proxy is the usual case, and NO_PROXY the usual thing forgotten."""
    async with recording(CHAT) as local:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        assert await ask(ModelName("openai", "m"), Connection(base_url=local.address), {}) == "はい"


def test_a_proxy_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 4, bad input: each a clear error."""
    monkeypatch.setenv("HTTPS_PROXY", "socks9://nowhere")
    with pytest.raises(ModelUnusable) as caught:
        open_model(ModelName("openai", "m"), Connection(key=KEY), {})
    assert caught.value.code == "proxy_unusable"


def test_a_bundle_of_certificates_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Issue 4: CA bundles by the usual environment variables."""
    bundle = tmp_path / "ca.pem"
    bundle.write_text("no certificate", encoding="utf-8")
    for variable, file in (("REQUESTS_CA_BUNDLE", bundle), ("SSL_CERT_FILE", tmp_path / "missing.pem")):
        with pytest.raises(UnusableSettings) as caught:
            open_model(ModelName("openai", "m"), Connection(key=KEY), {variable: str(file)})
        assert caught.value.code == "ca_bundle_unusable"
        assert str(file) in error_message("ja", caught.value)


def test_a_cloud_has_no_batches_here() -> None:
    """Issue 4: Anthropic's and OpenAI's batch interfaces."""
    with pytest.raises(ModelUnusable) as caught:
        open_batches(ModelName("azure", "m"), Connection(key=KEY), {})
    assert caught.value.code == "no_batches"


async def test_a_slow_reply_is_given_up_after_its_time() -> None:
    """field report 32: per-role timeouts."""

    async def never(_request: HttpRequest, _exchange: Exchange) -> None:
        return None

    server = HttpServer(never)
    await server.start()
    connection = Connection(
        key=KEY, base_url=f"http://127.0.0.1:{server.port}", timeouts=Timeouts(reply=0.05)
    )
    with pytest.raises(ModelUnavailable):
        await ask(ModelName("openai", "m"), connection, {})
    await server.stop()
