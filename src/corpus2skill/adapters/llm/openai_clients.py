"""Clients for chat completions: at OpenAI, on Azure, or at any server that speaks as OpenAI does."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

import openai

from corpus2skill.adapters.llm.connection import Connection
from corpus2skill.adapters.llm.endpoint import Endpoint
from corpus2skill.adapters.llm.http_options import endpoint_of, http_options
from corpus2skill.adapters.llm.keys import VARIABLES
from corpus2skill.adapters.llm.openai_model import OpenAIModel
from corpus2skill.domain.model_name import ModelName
from corpus2skill.errors import ModelUnusable

AZURE_API_VERSION = "2025-04-01-preview"
"""Taken where OPENAI_API_VERSION names none: the oldest that has all that is sent."""
_NO_KEY = "none"
"""What a server that wants no key is given for one."""
_OFFICIAL_HOSTS = (".openai.com", ".azure.com", ".azure-api.net")


def open_openai(
    name: ModelName, connection: Connection, base_url: str | None, window: int, environment: Mapping[str, str]
) -> OpenAIModel:
    """Open a model behind chat completions."""
    if name.provider == "azure":
        return _on_azure(name, connection, base_url, window, environment)
    if connection.key is None and base_url is None:
        raise ModelUnusable("key_missing", model=str(name), variable=VARIABLES["openai"][0])
    address = base_url or "https://api.openai.com/v1"
    endpoint = endpoint_of(name, connection, address, window, environment)
    client = openai.AsyncOpenAI(
        api_key=_NO_KEY if connection.key is None else connection.key.secret,
        base_url=address,
        max_retries=0,
        http_client=_http_client(endpoint, environment),
    )
    return _model(client, name, endpoint)


def _on_azure(
    name: ModelName, connection: Connection, base_url: str | None, window: int, environment: Mapping[str, str]
) -> OpenAIModel:
    """The model's name is the deployment's. With a key, else with the token in AZURE_OPENAI_AD_TOKEN."""
    if base_url is None:
        raise ModelUnusable("cloud_setting_missing", model=str(name), variable="AZURE_OPENAI_ENDPOINT")
    token = environment.get("AZURE_OPENAI_AD_TOKEN") or None
    if connection.key is None and token is None:
        raise ModelUnusable("key_missing", model=str(name), variable=VARIABLES["azure"][0])
    endpoint = endpoint_of(name, connection, base_url, window, environment)
    client = openai.AsyncAzureOpenAI(
        azure_endpoint=base_url,
        azure_deployment=name.model,
        api_version=environment.get("OPENAI_API_VERSION") or AZURE_API_VERSION,
        api_key=None if connection.key is None else connection.key.secret,
        azure_ad_token=token if connection.key is None else None,
        max_retries=0,
        http_client=_http_client(endpoint, environment),
    )
    return _model(client, name, endpoint, is_official=True)


def _model(
    client: openai.AsyncOpenAI, name: ModelName, endpoint: Endpoint, *, is_official: bool | None = None
) -> OpenAIModel:
    endpoint.redactor.guard_logs()
    if is_official is None:
        is_official = f".{urlsplit(endpoint.target.endpoint).hostname}".endswith(_OFFICIAL_HOSTS)
    return OpenAIModel(client, name, endpoint, is_official=is_official)


def _http_client(endpoint: Endpoint, environment: Mapping[str, str]) -> openai.DefaultAsyncHttpxClient:
    try:
        return openai.DefaultAsyncHttpxClient(**http_options(endpoint, environment))
    except (
        ValueError,
        ImportError,
    ) as error:  # what HTTPS_PROXY says is no proxy, or a kind that needs a library
        reason = endpoint.redactor.clean(f"{type(error).__name__}: {error}")
    raise ModelUnusable("proxy_unusable", model=endpoint.target.model, reason=reason)
