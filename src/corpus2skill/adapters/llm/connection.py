"""How a model is reached, where that is not left to the defaults. No library is imported here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from corpus2skill.adapters.llm.timeouts import Timeouts
from corpus2skill.domain.model_name import ModelName
from corpus2skill.domain.provider_key import ProviderKey
from corpus2skill.errors import UnusableSettings

_ADDRESSES = {
    "anthropic": ("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
    "openai": ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
    "azure": ("AZURE_OPENAI_ENDPOINT", ""),
    "bedrock": ("ANTHROPIC_BEDROCK_BASE_URL", ""),
    "vertex": ("ANTHROPIC_VERTEX_BASE_URL", ""),
}

_ROUTES = {"anthropic": ("/messages", "/v1"), "openai": ("/chat/completions",)}
"""What people paste with an address and the SDK adds by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """What `open_model` needs beside the model's name."""

    key: ProviderKey | None = None
    base_url: str | None = None
    """Wins over the provider's variable, such as OPENAI_BASE_URL."""
    window: int | None = None
    """Tokens; None: looked up."""
    timeouts: Timeouts = Timeouts()


def base_url_in_force(name: ModelName, base_url: str | None, environment: Mapping[str, str]) -> str | None:
    """Return the address where it is not the provider's own: price and window are looked up by it.

    Raises:
        UnusableSettings: it is no address.
    """
    variable, official = _ADDRESSES[name.provider]
    chosen = base_url or environment.get(variable) or official
    if not chosen or chosen.rstrip("/") == official:
        return None
    if not _is_address(chosen):
        raise UnusableSettings("base_url_unusable", base_url=without_secrets(chosen))
    return _trimmed(chosen, _ROUTES.get(name.provider, ()))


def without_secrets(url: str) -> str:
    """Return the address without name, password and query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.partition("?")[0].rpartition("@")[2]
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))


def secrets_of(url: str | None) -> tuple[str, ...]:
    """Return what of the address is secret."""
    if url is None:
        return ()
    parts = urlsplit(url)
    values = [piece.partition("=")[2] for piece in parts.query.split("&")]
    return tuple(secret for secret in (parts.password or "", *values) if secret)


def _trimmed(url: str, routes: Sequence[str]) -> str:
    for route in routes:
        if url.rstrip("/").endswith(route):
            url = url.rstrip("/").removesuffix(route)
    return url


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna")
        return parts.scheme in {"http", "https"} and bool(host) and parts.port != 0
    except ValueError:
        return False
