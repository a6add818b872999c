"""Names, defaults, windows and prices of models."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ModelInfo, Provider
from genai_prices.types import Usage as ListedUsage

from corpus2skill.adapters.llm.catalogue import (
    PROVIDERS,
    UNKNOWN_WINDOW,
    context_window,
    parse_model,
)
from corpus2skill.adapters.llm.prices import price_of
from corpus2skill.adapters.llm.summed_price import summed
from corpus2skill.domain.message import Usage
from corpus2skill.domain.model_name import ModelName, Role
from corpus2skill.domain.money import unknown_price
from corpus2skill.errors import UnusableSettings
from corpus2skill.messages import error_message

ROLES: tuple[Role, ...] = ("summarize", "group", "navigate")
MILLION = Usage(input_tokens=1_000_000, output_tokens=1_000_000)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("anthropic:claude-opus-5-5", ModelName("anthropic", "claude-opus-5-5")),
        ("openai:qwen3:8b", ModelName("openai", "qwen3:8b")),
        (
            "bedrock:us.anthropic.claude-haiku-5-5-v1:0",
            ModelName("bedrock", "us.anthropic.claude-haiku-5-5-v1:0"),
        ),
        (" azure: my-deployment ", ModelName("azure", "my-deployment")),
    ],
)
def test_a_model_is_a_provider_and_a_name(text: str, name: ModelName) -> None:
    """Issue 4: `--model anthropic:NAME`, `openai:NAME`; a name may have colons."""
    assert parse_model(text, "summarize") == name


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
@pytest.mark.parametrize("role", ROLES)
def test_a_provider_alone_means_a_model_that_is_known(provider: str, role: Role) -> None:
    """Issue 4: sensible current defaults, with a window and a price."""
    name = parse_model(provider, role)
    assert name == parse_model(f"{provider}:", role)
    assert context_window(name) >= 1_000_000
    assert price_of(name)(MILLION)


@pytest.mark.parametrize(
    "text", ["", "gpt-6-luna", "OpenAI:x", "mistral:large", "openai:\udcff", "openai:a\nb"]
)
def test_an_unknown_provider_is_answered_with_those_there_are(text: str) -> None:
    """Issue 4, bad input: unknown model."""
    with pytest.raises(UnusableSettings) as caught:
        parse_model(text, "group")
    assert caught.value.code == "unknown_model"
    assert all(provider in error_message("ja", caught.value) for provider in PROVIDERS)


@pytest.mark.parametrize("provider", ["azure", "bedrock", "vertex"])
def test_a_cloud_has_no_default_model(provider: str) -> None:
    """What is deployed there only its owner knows."""
    with pytest.raises(UnusableSettings) as caught:
        parse_model(provider, "group")
    assert caught.value.code == "model_name_wanted"


def test_prices_are_those_of_the_list_and_half_of_them_in_a_batch() -> None:
    """Issue 4: batches at half the price; cached input is cheaper, written input dearer."""
    haiku = ModelName("anthropic", "claude-haiku-4-5")
    small = Usage(input_tokens=1_000, output_tokens=1_000)
    cached = Usage(input_tokens=1_000, output_tokens=1_000, cached_tokens=1_000)
    written = Usage(input_tokens=1_000, output_tokens=1_000, cache_written_tokens=1_000)
    price, batch = price_of(haiku), price_of(haiku, is_batch=True)
    assert price(small) == pytest.approx(0.006)
    assert batch(small) == pytest.approx(0.003)
    assert (price(cached) or 0) < 0.006 < (price(written) or 0)
    assert price(Usage()) == 0


@pytest.mark.parametrize(
    ("name", "base_url"),
    [
        (ModelName("openai", "qwen3:8b"), None),
        (ModelName("azure", "our-deployment"), None),
        (ModelName("openai", "gpt-6-luna"), "http://localhost:11434/v1"),
        (ModelName("anthropic", "claude-haiku-5-5"), "https://gateway.example/anthropic"),
    ],
)
def test_what_no_list_names_has_no_price(name: ModelName, base_url: str | None) -> None:
    """design.md, section 7: unknown money is unknown, never 0."""
    assert price_of(name, base_url) is unknown_price
    assert (
        context_window(name, base_url) == UNKNOWN_WINDOW or base_url is None or name.provider == "anthropic"
    )


def test_a_gateway_to_claude_leads_to_the_same_window() -> None:
    """A window of 8,192 taken for unknown would refuse every grouping through it."""
    name = ModelName("anthropic", "claude-haiku-5-5")
    assert context_window(name, "https://gateway.example/anthropic") == context_window(name)


def test_a_known_host_behind_a_base_url_has_its_own_prices() -> None:
    """Issue 4: any base_url; the list knows more providers than we do."""
    url = "https://api.deepseek.com/v1"
    known = next(provider for provider in get_snapshot().providers if provider.id == "deepseek")
    name = ModelName("openai", known.models[-1].id)
    assert price_of(name, url) is not unknown_price


def test_nothing_paid_is_imported_before_a_model_is_opened() -> None:
    """design.md, section 7: heavy imports inside; `--version` stays quick."""
    program = (
        "import sys\n"
        "import corpus2skill\n"
        "import corpus2skill.adapters.llm.models, corpus2skill.adapters.llm.keys\n"
        "import corpus2skill.adapters.llm.catalogue, corpus2skill.entrypoints.cli.main\n"
        "heavy = {'anthropic', 'openai', 'httpx2', 'genai_prices', 'keyring', 'pydantic'}\n"
        "print(sorted(heavy & sys.modules.keys()))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_price_worked_out_once_is_that_of_the_list() -> None:
    """Issue 4: real money. The quick form says for every model, and prompts of any length, what the list says."""
    usages = (
        Usage(input_tokens=1_234, output_tokens=567),
        Usage(input_tokens=90_000, output_tokens=7, cached_tokens=80_000),
        Usage(input_tokens=500_000, output_tokens=7, cached_tokens=1, cache_written_tokens=400_000),
    )
    for provider in get_snapshot().providers:
        if provider.id in {"anthropic", "openai", "azure", "aws", "google", "deepseek"}:
            for model in provider.models:
                price = _as_listed(provider, model)
                quick = [summed(price)(usage) for usage in usages]
                assert quick == [pytest.approx(price(usage)) for usage in usages], model.id


def _as_listed(provider: Provider, model: ModelInfo) -> Callable[[Usage], float | None]:
    noon = datetime(2026, 12, 1, 12, tzinfo=UTC)

    def price(usage: Usage) -> float | None:
        listed = ListedUsage(
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cache_read_tokens=usage.cached_tokens,
            cache_write_tokens=usage.cache_written_tokens,
        )
        try:
            return float(model.calc_price(listed, provider, genai_request_timestamp=noon).total_price)
        except (LookupError, ValueError):
            return None

    return price
