"""Opening a language model by its name. The provider's SDK is imported here and not before."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from corpus2skill.adapters.llm.catalogue import context_window
from corpus2skill.adapters.llm.failures import Target
from corpus2skill.adapters.llm.keys import VARIABLES
from corpus2skill.adapters.llm.redaction import Redactor, redact_logs
from corpus2skill.adapters.llm.timeouts import Timeouts
from corpus2skill.domain.model_name import ModelName
from corpus2skill.domain.provider_key import ProviderKey
from corpus2skill.errors import ModelUnusable, UnusableSettings
from corpus2skill.ports.language_model import LanguageModel

if TYPE_CHECKING:
    from corpus2skill.adapters.llm.anthropic_model import AnthropicModel
    from corpus2skill.adapters.llm.endpoint import Endpoint
    from corpus2skill.adapters.llm.openai_model import OpenAIModel

AZURE_API_VERSION = "2025-04-01-preview"
"""Taken where OPENAI_API_VERSION names none: the oldest that has all that is sent."""
NO_KEY = "none"
"""What local servers get for a key."""
_ADDRESSES = {
    "anthropic": ("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
    "openai": ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
    "bedrock": ("ANTHROPIC_BEDROCK_BASE_URL", ""),
    "vertex": ("ANTHROPIC_VERTEX_BASE_URL", ""),
    "azure": ("AZURE_OPENAI_ENDPOINT", ""),
}
_OTHER_SECRETS = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_OPENAI_AD_TOKEN")
_OPENAI_HOSTS = (".openai.com", ".azure.com", ".azure-api.net")


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How a model is reached, where that is not left to the defaults."""

    key: ProviderKey | None = None
    base_url: str | None = None
    """Wins over the provider's variable, such as OPENAI_BASE_URL."""
    window: int | None = None
    """Tokens."""
    timeouts: Timeouts = Timeouts()


def base_url_of(name: ModelName, base_url: str | None, environment: Mapping[str, str]) -> str | None:
    """Return the address in force where it is not the provider's own: prices and windows depend on it."""
    variable, official = _ADDRESSES[name.provider]
    chosen = base_url or environment.get(variable) or None
    return None if chosen is None or chosen.rstrip("/") == official else chosen


def open_model(
    name: ModelName, connection: Connection = Connection(), environment: Mapping[str, str] | None = None
) -> LanguageModel:
    """Open the model `name`. Nothing is sent before it is asked something.

    Raises:
        UnusableSettings: the address or the CA bundle cannot be used.
        ModelUnusable: no key, no SDK, or a setting of the cloud is missing.
    """
    model, _ = _open(name, connection, os.environ if environment is None else environment)
    return model


def open_batches(name: ModelName, connection: Connection, environment: Mapping[str, str] | None = None) -> None:
    raise NotImplementedError
