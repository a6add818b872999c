"""Clients for Claude: at Anthropic or a gateway, on Bedrock, on Vertex."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec

import anthropic
from anthropic.lib.bedrock import AsyncAnthropicBedrock
from anthropic.lib.vertex import AsyncAnthropicVertex

from corpus2skill.adapters.llm.anthropic_model import AnthropicModel
from corpus2skill.adapters.llm.connection import Connection
from corpus2skill.adapters.llm.endpoint import Endpoint
from corpus2skill.adapters.llm.http_options import endpoint_of, http_options
from corpus2skill.adapters.llm.keys import VARIABLES
from corpus2skill.domain.model_name import ModelName
from corpus2skill.errors import ModelUnusable

_NO_KEY = "none"
"""What a gateway that wants no key is given for one."""


def open_anthropic(
    name: ModelName, connection: Connection, base_url: str | None, window: int, environment: Mapping[str, str]
) -> AnthropicModel:
    """Open a model of Claude's, at the provider that its name says."""
    match name.provider:
        case "bedrock":
            model = _on_bedrock(name, connection, base_url, window, environment)
        case "vertex":
            model = _on_vertex(name, connection, base_url, window, environment)
        case _:
            model = _at_anthropic(name, connection, base_url, window, environment)
    return model


def _at_anthropic(
    name: ModelName, connection: Connection, base_url: str | None, window: int, environment: Mapping[str, str]
) -> AnthropicModel:
    if connection.key is None and base_url is None:
        raise ModelUnusable("key_missing", model=str(name), variable=VARIABLES["anthropic"][0])
    address = base_url or "https://api.anthropic.com"
    endpoint = endpoint_of(name, connection, address, window, environment)
    client = anthropic.AsyncAnthropic(
        api_key=_NO_KEY if connection.key is None else connection.key.secret,
        base_url=address,
        max_retries=0,
        open_telemetry=False,
        http_client=_http_client(endpoint, environment),
    )
    return _model(client, name, endpoint)


def _on_bedrock(
    name: ModelName, connection: Connection, base_url: str | None, window: int, environment: Mapping[str, str]
) -> AnthropicModel:
    """With a key as bearer token, else signed with the AWS credentials that boto3 finds."""
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    if not region:
        raise ModelUnusable("cloud_setting_missing", model=str(name), variable="AWS_REGION")
    if connection.key is None:
        _require("boto3")
    address = base_url or f"https://bedrock-runtime.{region}.amazonaws.com"
    endpoint = endpoint_of(name, connection, address, window, environment)
    client = AsyncAnthropicBedrock(
        api_key=None if connection.key is None else connection.key.secret,
        aws_region=region,
        base_url=address,
        max_retries=0,
        open_telemetry=False,
        http_client=_http_client(endpoint, environment),
    )
    return _model(client, name, endpoint, (RuntimeError, ValueError, ImportError))


def _on_vertex(
    name: ModelName, connection: Connection, base_url: str | None, window: int, environment: Mapping[str, str]
) -> AnthropicModel:
    """With a key as access token, else with Google's application default credentials."""
    region = environment.get("CLOUD_ML_REGION") or "global"
    project = environment.get("ANTHROPIC_VERTEX_PROJECT_ID") or environment.get("GOOGLE_CLOUD_PROJECT")
    if connection.key is None:
        _require("google.auth")
    if not project:
        raise ModelUnusable("cloud_setting_missing", model=str(name), variable="ANTHROPIC_VERTEX_PROJECT_ID")
    address = base_url or _vertex_address(region)
    endpoint = endpoint_of(name, connection, address, window, environment)
    client = AsyncAnthropicVertex(
        region=region,
        project_id=project,
        access_token=None if connection.key is None else connection.key.secret,
        base_url=address,
        max_retries=0,
        open_telemetry=False,
        http_client=_http_client(endpoint, environment),
    )
    return _model(client, name, endpoint, (*_google_errors(), RuntimeError, ValueError, ImportError))


def _model(
    client: anthropic.AsyncAnthropic | AsyncAnthropicBedrock | AsyncAnthropicVertex,
    name: ModelName,
    endpoint: Endpoint,
    credential_errors: tuple[type[Exception], ...] = (),
) -> AnthropicModel:
    endpoint.redactor.guard_logs()
    return AnthropicModel(client, name, endpoint, credential_errors)


def _http_client(endpoint: Endpoint, environment: Mapping[str, str]) -> anthropic.DefaultAsyncHttpxClient:
    try:
        return anthropic.DefaultAsyncHttpxClient(**http_options(endpoint, environment))
    except (
        ValueError,
        ImportError,
    ) as error:  # what HTTPS_PROXY says is no proxy, or a kind that needs a library
        reason = endpoint.redactor.clean(f"{type(error).__name__}: {error}")
    raise ModelUnusable("proxy_unusable", model=endpoint.target.model, reason=reason)


def _vertex_address(region: str) -> str:
    if region == "global":
        return "https://aiplatform.googleapis.com/v1"
    if region in {"us", "eu"}:
        return f"https://aiplatform.{region}.rep.googleapis.com/v1"
    return f"https://{region}-aiplatform.googleapis.com/v1"


def _require(library: str) -> None:
    """The SDK would say only at the first call that it is missing."""
    try:
        is_there = find_spec(library) is not None
    except ModuleNotFoundError:  # not even its parent is
        is_there = False
    if not is_there:
        raise ImportError(library, name=library)


def _google_errors() -> tuple[type[Exception], ...]:
    """Return what is raised where there are no default credentials."""
    try:
        errors = import_module("google.auth.exceptions")
    except ImportError:
        return ()
    return (errors.GoogleAuthError,)
